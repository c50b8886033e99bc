import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Contestant, startChild } from "./child";
import { compare, type Measurement } from "./load";
import type { Row } from "./table";

const PATH = "/api/v1/market/quotes/latest?tickers=EURUSD,XAUUSD";
const ROUNDS_COUNT = 3;

/** The service with a key whose plan never limits; `through` picks the way a request takes. */
export function startSpotwire(
  through: "direct" | "next",
  env: Record<string, string> = {},
): Promise<Contestant & { key?: string }> {
  const dataDir = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  return startChild("server/bench/spotwire.ts", { PORT: "0", HOST: "127.0.0.1", DATA_DIR: dataDir, LOG_LEVEL: "error", ...env }, [
    through,
  ]);
}

function row(what: string, { requestsPerSecond, requestsPerCpuSecond, p99Ms }: Measurement): Row {
  return {
    what,
    value: `${Math.round(requestsPerSecond)} req/s, ${Math.round(requestsPerCpuSecond)} req/CPU-s, p99 ${p99Ms} ms`,
  };
}

/** quotes/latest with all guards against bare Fastify sending the same bytes, and against the same route through Next. */
export async function benchQuotes(seconds: number): Promise<Row[]> {
  const direct = await startSpotwire("direct");
  const next = await startSpotwire("next");
  const headers = { authorization: `Bearer ${BENCH_KEY}` };
  const body = await (await fetch(direct.url + PATH, { headers })).text();
  const file = path.join(mkdtempSync(path.join(tmpdir(), "spotwire-bench-")), "body.json");
  writeFileSync(file, body);
  const fastify = await startChild("server/bench/fastify.ts", {}, ["--body", file]);
  try {
    const result = await compare(
      {
        fastify: { server: fastify, path: PATH, headers },
        direct: { server: direct, path: PATH, headers },
        next: { server: next, path: PATH, headers },
      },
      ROUNDS_COUNT,
      seconds,
    );
    const { fastify: anchor, direct: own, next: slow } = result;
    if (!anchor || !own || !slow) throw new Error("a contestant is missing");
    return [
      row("quotes/latest, bare Fastify, same bytes", anchor),
      row("quotes/latest, through Next", slow),
      {
        ...row("quotes/latest, Spotwire, all guards", own),
        ratio: { value: own.requestsPerCpuSecond / anchor.requestsPerCpuSecond, target: 0.6, against: "Fastify" },
      },
      {
        what: "",
        value: "",
        ratio: { value: own.requestsPerCpuSecond / slow.requestsPerCpuSecond, target: 10, against: "Next" },
      },
    ];
  } finally {
    await Promise.all([direct.stop(), next.stop(), fastify.stop()]);
  }
}
