import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "#lib/clock";
import { readEnv } from "#lib/env";
import { createLog } from "#lib/log";
import { createKlineStore } from "#lib/market/kline-store";
import { acquireDatabase } from "#server/database/database";
import { startChild } from "./child";
import { history } from "./history";
import { compare } from "./load";
import { measured, startSpotwire } from "./quotes";
import type { Row } from "./table";

const ROWS_COUNT = 50_000;
const ROUNDS_COUNT = 3;
const PATH = "/api/v1/market/klines?ticker=XAUUSD&timeframe=M1&limit=1000";

/** Measures klines?limit=1000 of stored history, warm, against Fastify + pg + JSON.stringify on the same database. */
export async function benchKlines(seconds: number): Promise<Row[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  const env = readEnv({ DATA_DIR: folder, LOG_LEVEL: "error" });
  const { db, release } = await acquireDatabase(env, createLog("error"), systemClock);
  const url = String(db.pool.options.connectionString);
  const store = createKlineStore(db.pool, "live");
  for await (const page of history(ROWS_COUNT)) await store.copyKlines(page);
  await db.pool.query("ANALYZE kline");
  // With DATABASE_URL the secret must come from the environment.
  const spotwire = await startSpotwire("counted", { DATABASE_URL: url, NEXTAUTH_SECRET: randomBytes(32).toString("hex") });
  const fastify = await startChild("server/bench/fastify.ts", {}, ["--database", url]);
  try {
    const own = { server: spotwire, path: PATH, headers: { authorization: `Bearer ${spotwire.liveKey}` } };
    const anchor = { server: fastify, path: PATH, headers: { authorization: "Bearer bench" } };
    const result = await compare({ anchor, own }, ROUNDS_COUNT, seconds);
    if (!result.anchor || !result.own) throw new Error("a contestant is missing");
    return [
      measured("klines?limit=1000, Fastify + pg + JSON.stringify", result.anchor),
      {
        ...measured("klines?limit=1000, Spotwire, warm, all guards", result.own),
        ratio: {
          value: result.own.requestsPerCpuSecond / result.anchor.requestsPerCpuSecond,
          target: 5,
          against: "the plain server",
        },
      },
    ];
  } finally {
    await Promise.all([spotwire.stop(), fastify.stop()]);
    await release();
    rmSync(folder, { recursive: true, force: true });
  }
}
