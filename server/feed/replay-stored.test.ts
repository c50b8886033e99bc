import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "#lib/clock";
import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import type { Tick } from "#lib/domain/tick";
import { TAKEN } from "#lib/domain/tick-columns";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#lib/units";
import { exportCommand } from "#server/export/index";
import { addTick, sealTicks, type TickChunk } from "#server/store/history/tick-tail";
import { createKlineStore } from "#server/store/klines/kline-store";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { commandOutcome } from "#server/testing/terminal";
import { replayFeed } from "./replay";
import { replayCommand } from "./replay-command";
import { storedSources } from "./replay-stored";

/** A Tuesday evening: the ticks go on after midnight. */
const START_MS = Date.UTC(2026, 0, 6, 22);
const COUNT = 600;

interface Kept {
  readonly tick: Tick;
  readonly receivedMs: number;
  readonly outcome: string;
}

/** Ticks of a ticker, every half minute; a spike was held back now and then, and two ticks share their time. */
const keptOf = (ticker: string, price: number, laterMs: number): Kept[] =>
  Array.from({ length: COUNT }, (_, at) => {
    const isSpike = at % 97 === 96;
    const bid = Number((isSpike ? price * 1.2 : price + (at % 9) / 1e5).toFixed(5));
    const time_msc = START_MS + laterMs + (at - Number(at % 50 === 1)) * 30_000;
    const volume = at % 3 === 0 ? { volume: at / 2 } : {};
    const tick = { ticker, time_msc, bid, ask: Number((bid + 0.0001).toFixed(5)), ...volume };
    return { tick, receivedMs: time_msc + 40 + (at % 2), outcome: isSpike ? "spike" : TAKEN };
  });
const KEPT = { EURUSD: keptOf("EURUSD", 1.1, 0), GBPUSD: keptOf("GBPUSD", 1.3, 10_000) };
const FROM = START_MS + 5 * MINUTE_MS;
const TO = START_MS + 5 * HOUR_MS - 5 * MINUTE_MS;

let db: TestDatabase;
let folder: string;
beforeAll(async () => {
  db = await testDatabase();
  folder = mkdtempSync(path.join(tmpdir(), "replay-stored-"));
  const chunks = Object.entries(KEPT).map(([ticker, kept]): TickChunk => {
    const chunk: TickChunk = { id: randomUUID(), ticker, source: "push", numbers: [], outcomes: [] };
    for (const { tick, receivedMs, outcome } of kept) addTick(chunk, tick, receivedMs, outcome);
    return chunk;
  });
  const [first, second] = chunks as [TickChunk, TickChunk];
  // Those of one ticker are in their days, those of the other are rows.
  await createKlineStore(db).writeBatch([], [], [first]);
  expect(await sealTicks(db, START_MS + DAY_MS)).toBe(1);
  await createKlineStore(db).writeBatch([], [], [second]);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await db.close();
});

async function replayed(tickers: readonly string[], range = { from: FROM, to: TO }): Promise<Tick[]> {
  const sources = storedSources({ db, tickers, listings: () => LIVE_LISTINGS, ...range });
  const open = replayFeed({ sources, pace: 1, shift: "none", clock: systemClock });
  const feed = open({ originMs: 0, skipped: () => undefined, connected: () => undefined });
  const ticks: Tick[] = [];
  for await (const batch of feed(new AbortController().signal)) ticks.push(...batch);
  return ticks;
}

const taken = (kept: readonly Kept[], range = { from: FROM, to: TO }) =>
  kept
    .filter(({ tick, outcome }) => outcome === TAKEN && tick.time_msc >= range.from && tick.time_msc < range.to)
    .map(({ tick }) => tick);

test("stored ticks of a range that were taken are replayed by time over all tickers, those of one time in their order", async () => {
  const all = await replayed([]);
  const [euro, pound] = [taken(KEPT.EURUSD), taken(KEPT.GBPUSD)];
  expect(all.filter(({ ticker }) => ticker === "EURUSD")).toEqual(euro);
  expect(all.filter(({ ticker }) => ticker === "GBPUSD")).toEqual(pound);
  expect(all.length).toBe(euro.length + pound.length);
  expect(all.every(({ time_msc }, at) => time_msc >= (all[at - 1]?.time_msc ?? 0))).toBe(true);
});

test("one ticker is replayed alone, an empty range has no ticks, and a ticker that is not listed is named", async () => {
  expect(await replayed(["GBPUSD"])).toEqual(taken(KEPT.GBPUSD));
  expect(await replayed([], { from: START_MS - DAY_MS, to: START_MS })).toEqual([]);
  await expect(replayed(["NOSUCH"])).rejects.toThrow("REPLAY_TICKERS: NOSUCH is not listed");
});

test("the filters are tried on stored ticks as on the files that they are exported to", async () => {
  const [from, to] = [new Date(START_MS).toISOString(), new Date(START_MS + DAY_MS).toISOString()];
  const out = `${folder}/`;
  const exported = await commandOutcome(exportCommand, ["--ticks", "--ticker", "all", "--out", out], { db });
  expect(exported.output).toContain("EURUSD_ticks_2026-01-07.csv");
  const files = await commandOutcome(replayCommand, ["--filters", "--off", "", out], { db });
  const range = ["--filters", "--off", "", "--from", from, "--to", to];
  const stored = await commandOutcome(replayCommand, range, { db });
  expect(stored).toMatchObject({ exitCode: 0, errors: "" });
  const [first, ...lines] = stored.output.split("\n");
  expect(first).toMatch(/^1,200 ticks of 2 tickers/);
  expect(lines).toEqual(files.output.split("\n").slice(1));
  expect(stored.output).toMatch(/EURUSD {2}spike +6 /);
  const one = await commandOutcome(replayCommand, [...range, "--ticker", "gbpusd"], { db });
  expect(one.output).toMatch(/^600 ticks of 1 ticker/);
  const part = ["--filters", "--from", new Date(FROM).toISOString(), "--to", new Date(TO).toISOString()];
  const came = Object.values(KEPT).flatMap((kept) => kept.filter(({ receivedMs }) => receivedMs >= FROM && receivedMs < TO));
  expect((await commandOutcome(replayCommand, part, { db })).output).toMatch(
    new RegExp(`^${came.length.toLocaleString("en-US")} ticks`),
  );
  const unknown = await commandOutcome(replayCommand, [...range, "--ticker", "NOSUCH"], { db });
  expect(unknown).toMatchObject({ exitCode: 2 });
  expect(unknown.errors).toContain("--ticker NOSUCH: is not an instrument of this installation.");
});
