import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Contestant, startChild } from "./child";
import { compare, type Measurement } from "./load";
import type { Row } from "./table";

const PATH = "/api/v1/market/quotes/latest?tickers=EURUSD,XAUUSD";
const ROUNDS_COUNT = 3;

/** Starts the service without pages, with keys without effective limits; `usage` says whether it counts the use of keys. */
export async function startSpotwire(
  usage: "counted" | "uncounted",
  env: Record<string, string> = {},
): Promise<Contestant & { liveKey: string; liveKeys: readonly string[]; testKey: string }> {
  const dataDir = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  const settings = { PORT: "0", HOST: "127.0.0.1", DATA_DIR: dataDir, LOG_LEVEL: "error", PORTAL: "off", ...env };
  const child = await startChild("server/bench/spotwire.ts", settings, [usage]);
  const keys = (venue: string) => child.output.match(new RegExp(`sw_${venue}_\\w+`, "g")) ?? [];
  const [liveKeys, [testKey = ""]] = [keys("live"), keys("test")];
  return { ...child, liveKey: liveKeys[0] ?? "", liveKeys, testKey };
}

/** A measurement as a row of the table. */
export function measured(what: string, { requestsPerSecond, requestsPerCpuSecond, p99Ms }: Measurement): Row {
  const rates = `${Math.round(requestsPerSecond)} req/s, ${Math.round(requestsPerCpuSecond)} req/CPU-s`;
  return { what, value: `${rates}, p99 ${p99Ms} ms` };
}

/** Measures quotes/latest with all guards against bare Fastify with the same bytes. */
export async function benchQuotes(seconds: number): Promise<Row[]> {
  const spotwire = await startSpotwire("counted");
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const body = await (await fetch(spotwire.url + PATH, { headers: bearer(spotwire.testKey) })).text();
  const file = path.join(mkdtempSync(path.join(tmpdir(), "spotwire-bench-")), "body.json");
  writeFileSync(file, body);
  const fastify = await startChild("server/bench/fastify.ts", {}, ["--body", file]);
  try {
    const result = await compare(
      {
        anchor: { server: fastify, path: PATH, headers: bearer(spotwire.testKey) },
        own: { server: spotwire, path: PATH, headers: bearer(spotwire.testKey) },
      },
      ROUNDS_COUNT,
      seconds,
    );
    if (!result.anchor || !result.own) throw new Error("a contestant is missing");
    const own = result.own.requestsPerCpuSecond;
    return [
      measured("quotes/latest, bare Fastify, same bytes", result.anchor),
      {
        ...measured("quotes/latest, Spotwire, all guards", result.own),
        ratio: { value: own / result.anchor.requestsPerCpuSecond, target: 0.6, against: "Fastify" },
      },
    ];
  } finally {
    await Promise.all([spotwire.stop(), fastify.stop()]);
  }
}
