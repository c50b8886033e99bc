import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { manualClock } from "#lib/clock";
import type { Tick } from "#lib/domain/tick";
import { createLog } from "#lib/log";
import { createMetrics } from "#lib/metrics";
import { memoryFiles } from "#lib/testing/memory-files";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { DAY_MS, DAY_S, SECOND_MS } from "#lib/units";
import { startMarket } from "#server/market/market";
import { leadAlone } from "#server/market/turn";
import { sealTails } from "#server/store/history/tail";
import { sealTicks } from "#server/store/history/tick-tail";
import { createKlineStore, type KlineTable } from "#server/store/klines/kline-store";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { type JournalFolder, takeJournals } from "./journal";

/** A Wednesday. */
const START_MS = Date.UTC(2026, 0, 7, 12);
const WINDOW = { ticker: "EURUSD", limit: 1_000, end: "oldest" } as const;
const log = createLog("silent");

let db: TestDatabase;
let table: KlineTable;
let folder: string;
beforeAll(async () => {
  db = await testDatabase();
  table = createKlineStore(db);
});
afterAll(() => db.close());
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "spotwire-kept-"));
  await db.pool.query("TRUNCATE kline_tail, history_layer, history_visible, history_derived, tick_tail, tick_segment CASCADE");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A process that takes pushed ticks; once killed, its clock stands still. */
async function start(nowMs: number) {
  const clock = manualClock(nowMs);
  let journals: JournalFolder | undefined;
  const { calendar, find, list } = createSandboxCatalogue();
  const listings = list().filter(({ ticker }) => ticker === "EURUSD");
  const market = await startMarket({
    files: memoryFiles(),
    venue: "live",
    catalogue: { calendar, find, list: () => listings, instrument: () => undefined },
    store: table,
    writer: table,
    acceptsPush: true,
    provider: "push",
    sourceOf: () => "push",
    clock,
    log,
    metrics: createMetrics(),
    leadership: leadAlone(clock, async () => {
      journals = await takeJournals({ folder, clock, log });
      return journals;
    }),
  });
  return { clock, market, kill: async () => journals?.release() };
}

/** Ticks of which two have the same time, with asks that move on their own. */
const ticksAt = (fromMs: number, count: number): Tick[] =>
  Array.from({ length: count }, (_, at) => ({
    ticker: "EURUSD",
    time_msc: fromMs + Math.floor(at / 2),
    bid: Number((1.1 + (at % 7) / 1e4).toFixed(5)),
    ask: Number((1.101 + (at % 5) / 1e5).toFixed(5)),
  }));

async function storedTicks(): Promise<Tick[]> {
  const { time, bid, ask } = await table.readTicks({ ...WINDOW, from: START_MS, to: START_MS + DAY_MS });
  return Array.from(time, (time_msc, row) => ({ ticker: "EURUSD", time_msc, bid: bid[row] ?? 0, ask: ask[row] ?? 0 }));
}

const askMinutes = () => table.read({ ...WINDOW, timeframe: "M1", from: 0, to: START_MS, price: "ask" });

test("after kills the tick history has every acknowledged tick once and in order, and the klines of asks are made of them", async () => {
  const taken: Tick[] = [];
  async function push({ market }: Awaited<ReturnType<typeof start>>, ticks: readonly Tick[]): Promise<void> {
    expect(new Set(await market.leader.push(ticks))).toEqual(new Set([null]));
    taken.push(...ticks);
  }
  const first = await start(START_MS);
  await push(first, ticksAt(START_MS, 40));
  await first.clock.advance(500);
  const volume = "SELECT coalesce(sum(tick_volume), 0)::int AS volume FROM kline_tail";
  const storedVolume = async () => (await db.pool.query<{ volume: number }>(volume)).rows[0]?.volume;
  await vi.waitUntil(async () => (await storedVolume()) === 40, { timeout: 60_000, interval: 20 });
  // Klines are written every half a second, ticks every four.
  expect(await storedTicks()).toEqual([]);
  await push(first, ticksAt(START_MS + 500, 10));
  await first.kill();

  const second = await start(START_MS + SECOND_MS);
  expect(await storedTicks()).toEqual(taken);
  await push(second, ticksAt(START_MS + SECOND_MS, 6));
  await second.kill();
  for (const at of [2, 3]) {
    const { kill } = await start(START_MS + at * SECOND_MS);
    expect(await storedTicks()).toEqual(taken);
    await kill();
  }

  const asks = taken.map(({ ask }) => ask);
  const prices = { open: asks[0], high: Math.max(...asks), low: Math.min(...asks), close: asks.at(-1) };
  const minute = { time: START_MS / SECOND_MS, ...prices, tick_volume: taken.length };
  expect(await askMinutes()).toMatchObject([minute]);
  await sealTails(db, START_MS / SECOND_MS + DAY_S);
  await sealTicks(db, START_MS + DAY_MS);
  await db.pool.query("TRUNCATE tick_segment");
  expect(await askMinutes()).toMatchObject([minute]);
});
