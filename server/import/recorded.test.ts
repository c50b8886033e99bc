import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compileCalendar } from "#lib/domain/calendar";
import { createLog } from "#lib/log";
import { createMetrics } from "#lib/metrics";
import { memoryFiles } from "#lib/testing/memory-files";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { watchedClock } from "#lib/testing/watched-clock";
import { HOUR_MS, MINUTE_MS } from "#lib/units";
import { exportCommand } from "#server/export/index";
import { createFeedFilter } from "#server/feed/filter/feed-filter";
import { replayCommand } from "#server/feed/replay-command";
import { startMarket } from "#server/market/market";
import { sealTicks } from "#server/store/history/tick-tail";
import { readTicks } from "#server/store/history/ticks";
import { createKlineStore } from "#server/store/klines/kline-store";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { importCommand, storedKlines } from "#server/testing/import-command";
import { commandOutcome } from "#server/testing/terminal";

/** A Wednesday. */
const START_MS = Date.UTC(2026, 0, 7, 11, 57);
const EVERY_TICK = { ticker: "EURUSD", from: 0, to: START_MS + HOUR_MS, limit: 10_000, end: "oldest" } as const;
const log = createLog("silent");
const rounded = (price: number) => Number(price.toFixed(5));
let db: TestDatabase;
let scratch: string;
beforeAll(async () => {
  [db, scratch] = await Promise.all([testDatabase(), mkdtemp(path.join(tmpdir(), "recorded-"))]);
});
afterAll(async () => {
  await db.close();
  await rm(scratch, { recursive: true, force: true });
});

test("exported ticks, as CSV and as Parquet, give the klines that the live venue made when they are imported, whatever was held back or refused", async () => {
  const clock = watchedClock();
  clock.set(START_MS);
  const store = createKlineStore(db);
  const metrics = createMetrics();
  const { list, find } = createSandboxCatalogue();
  const market = await startMarket({
    files: memoryFiles(),
    venue: "live",
    store,
    writer: store,
    acceptsPush: true,
    provider: "push",
    clock,
    log,
    metrics,
    catalogue: { list, find, instrument: () => undefined, calendar: () => compileCalendar({ kind: "always" }, []) },
    filter: createFeedFilter({ name: () => "push", off: [], metrics }),
    sourceOf: () => "push",
  });
  const outcomes = new Map<string | null, number>();
  for (let at = 0; at < 1_500; at += 1) {
    const {
      ms,
      bid,
      spread = 0.0001,
      volume,
    } = {
      ms: 0,
      bid: 1.1 + Math.round(20 * Math.sin(at / 9)) / 1e5,
      // A spike, a jump that is believed, an old tick, one of next week, a crossed one, and an impossible volume.
      ...(at % 97 === 0 && { bid: 1.3 }),
      ...(at > 700 && { bid: 1.2 + (at % 3) / 1e5 }),
      ...(at % 89 === 0 && { ms: -30_000 }),
      ...(at % 83 === 0 && { ms: 7 * 24 * HOUR_MS }),
      ...(at % 79 === 0 && { spread: -0.01 }),
      ...(at % 73 === 0 && { volume: 1e300 }),
      ...(at % 5 === 0 && { volume: at / 10 }),
    } as { ms: number; bid: number; spread?: number; volume?: number };
    const tick = { ticker: "EURUSD", time_msc: clock.now() + ms, bid: rounded(bid), ask: rounded(bid + spread), volume };
    for (const outcome of (await market.leader.push([tick, { ...tick, ticker: "NOSUCH" }])) ?? [])
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    await clock.advance(at % 11 === 0 ? 1_700 : 200);
  }
  await clock.advance(2 * MINUTE_MS);
  await market.stop();
  expect([...outcomes.keys()]).toEqual(
    expect.arrayContaining(["spike", "out_of_order", "in_future", "crossed_quote", "volume_out_of_range", "unknown_ticker"]),
  );
  const made = await storedKlines(db, "EURUSD", "M1");
  expect(made.length).toBeGreaterThan(5);

  const files = ["tail", "segments"].map((folder) => path.join(scratch, folder));
  for (const [at, folder] of files.entries()) {
    // Once as the ticks are written, once when they are in their days.
    if (at === 1) expect(await sealTicks(db, START_MS + HOUR_MS)).toBeGreaterThan(5);
    const { exitCode } = await commandOutcome(exportCommand, ["--ticks", "--ticker", "EURUSD", "--out", `${folder}/`], { db });
    expect(exitCode).toBe(0);
    expect(await readdir(folder)).toEqual(["EURUSD_ticks_2026-01-07.csv"]);
  }
  const [first, second] = await Promise.all(
    files.map((folder) => readFile(path.join(folder, "EURUSD_ticks_2026-01-07.csv"), "utf8")),
  );
  expect(second).toBe(first);
  const [folder = ""] = files;
  const table = path.join(scratch, "table");
  const asTable = ["--ticks", "--ticker", "EURUSD", "--format", "parquet", "--out", `${table}/`];
  expect((await commandOutcome(exportCommand, asTable, { db })).exitCode).toBe(0);
  const taken = await readTicks({ client: db.pool, segments: db.segments }, EVERY_TICK);
  for (const recording of [folder, table]) {
    await db.pool.query("TRUNCATE kline_tail, history_layer, history_visible, tick_segment");
    const { exitCode, text } = await importCommand(db, [recording]);
    expect(text).toMatch(/Spotwire recording \(recording\), EURUSD/);
    expect(text).toMatch(/\d+ rows skipped: the service did not take these ticks/);
    expect(exitCode).toBe(0);
    expect(await storedKlines(db, "EURUSD", "M1")).toEqual(made);
    const { time, bid, ask, volume, source, received } = await readTicks({ client: db.pool, segments: db.segments }, EVERY_TICK);
    expect([time, bid, ask, volume]).toEqual([taken.time, taken.bid, taken.ask, taken.volume]);
    expect([new Set(source), received.every(Number.isNaN)]).toEqual([new Set(["recording"]), true]);
    const tried = await commandOutcome(replayCommand, ["--filters", recording]);
    expect(tried.output).toMatch(/EURUSD {2}spike +\d+/);
    expect(tried.output).toMatch(/\nAll 1,\d\d\d recorded outcomes are the same now\.$/);
  }
});

test("ticks that were imported are exported, and read back the same, as CSV and as Parquet", async () => {
  const kept = await readTicks({ client: db.pool, segments: db.segments }, EVERY_TICK);
  for (const format of ["csv", "parquet"]) {
    const folder = path.join(scratch, `imported ${format}`);
    const argv = ["--ticks", "--ticker", "EURUSD", "--format", format, "--out", `${folder}/`];
    expect((await commandOutcome(exportCommand, argv, { db })).exitCode).toBe(0);
    await db.pool.query("TRUNCATE history_layer, history_visible, tick_segment");
    expect(await importCommand(db, [folder])).toMatchObject({ exitCode: 0, text: expect.stringContaining("(recording)") });
    expect(await readTicks({ client: db.pool, segments: db.segments }, EVERY_TICK)).toEqual(kept);
    expect((await commandOutcome(replayCommand, ["--filters", folder])).exitCode).toBe(0);
  }
});
