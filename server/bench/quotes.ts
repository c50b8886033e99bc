import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Contestant, startChild } from "./child";
import { compare, type Measurement } from "./load";
import type { Row } from "./table";

const PATH = "/api/v1/market/quotes/latest?tickers=EURUSD,XAUUSD";
const ROUNDS_COUNT = 3;

/** Starts the service with keys without effective limits; `through` selects the path of requests (uncounted: direct, no accounting). */
export async function startSpotwire(
  through: "direct" | "next" | "uncounted",
  env: Record<string, string> = {},
): Promise<Contestant & { liveKey: string; testKey: string }> {
  const dataDir = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  const settings = { PORT: "0", HOST: "127.0.0.1", DATA_DIR: dataDir, LOG_LEVEL: "error", ...env };
  const child = await startChild("server/bench/spotwire.ts", settings, [through]);
  const key = (venue: string) => new RegExp(`sw_${venue}_\\w+`).exec(child.output)?.[0] ?? "";
  return { ...child, liveKey: key("live"), testKey: key("test") };
}

/** A measurement as a row of the table. */
export function measured(what: string, { requestsPerSecond, requestsPerCpuSecond, p99Ms }: Measurement): Row {
  const rates = `${Math.round(requestsPerSecond)} req/s, ${Math.round(requestsPerCpuSecond)} req/CPU-s`;
  return { what, value: `${rates}, p99 ${p99Ms} ms` };
}

/** Measures quotes/latest with all guards against bare Fastify with the same bytes, and against the same route through Next. */
export async function benchQuotes(seconds: number): Promise<Row[]> {
  const direct = await startSpotwire("direct");
  const next = await startSpotwire("next");
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const body = await (await fetch(direct.url + PATH, { headers: bearer(direct.testKey) })).text();
  const file = path.join(mkdtempSync(path.join(tmpdir(), "spotwire-bench-")), "body.json");
  writeFileSync(file, body);
  const fastify = await startChild("server/bench/fastify.ts", {}, ["--body", file]);
  try {
    const result = await compare(
      {
        anchor: { server: fastify, path: PATH, headers: bearer(direct.testKey) },
        own: { server: direct, path: PATH, headers: bearer(direct.testKey) },
        next: { server: next, path: PATH, headers: bearer(next.testKey) },
      },
      ROUNDS_COUNT,
      seconds,
    );
    if (!result.anchor || !result.own || !result.next) throw new Error("a contestant is missing");
    const own = result.own.requestsPerCpuSecond;
    return [
      measured("quotes/latest, bare Fastify, same bytes", result.anchor),
      measured("quotes/latest, Spotwire through Next", result.next),
      {
        ...measured("quotes/latest, Spotwire, all guards", result.own),
        ratio: { value: own / result.anchor.requestsPerCpuSecond, target: 0.6, against: "Fastify" },
      },
      { what: "", value: "", ratio: { value: own / result.next.requestsPerCpuSecond, target: 10, against: "Next" } },
    ];
  } finally {
    await Promise.all([direct.stop(), next.stop(), fastify.stop()]);
  }
}
