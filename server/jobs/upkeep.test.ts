import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type ManualClock, manualClock } from "#lib/clock";
import type { ControlMessage } from "#lib/control";
import { FEED_LAYER } from "#lib/domain/fold";
import { TAKEN, type TickColumns } from "#lib/domain/tick-columns";
import type { Repeating } from "#lib/repeat";
import { collectingLog } from "#lib/testing/collecting-log";
import { DAY_MS, HOUR_MS } from "#lib/units";
import { storeTicks, TICK_SEGMENT_MAX_ROWS } from "#server/store/history/tick-days";
import { addTick, type TickChunk } from "#server/store/history/tick-tail";
import { inTransaction } from "#server/store/history/transaction";
import { partOf, storeColumns } from "#server/store/klines/kline-batches";
import { createKlineStore } from "#server/store/klines/kline-store";
import { beginImport } from "#server/store/market/backfills";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { BEGUN_IMPORT } from "#server/testing/imports";
import { storeFeed } from "#server/testing/layered";
import { testKline } from "#server/testing/market";
import { startUpkeep } from "./upkeep";

const NEW_YEAR_MS = Date.UTC(2040, 0);

let db: TestDatabase;
let clock: ManualClock;
let logged: Record<string, unknown>[];
const running: Repeating[] = [];

beforeEach(async () => {
  db = await testDatabase();
  clock = manualClock(NEW_YEAR_MS - 31 * DAY_MS);
  logged = [];
});
afterEach(async () => {
  await Promise.all(running.splice(0).map(({ stop }) => stop()));
  await db.close();
});

const partsOf = (years: number) => ({
  clock,
  log: collectingLog(logged, "info"),
  env: { KLINE_RETENTION_YEARS: years, TICKS_MAX_DAYS: undefined, TICKS_MAX_MB: undefined },
});
const start = (years = 0) => running.push(startUpkeep({ ...partsOf(years), db }));

/** The years of the stored minutes of EURUSD. */
async function yearsLeft(): Promise<number[]> {
  const { read } = createKlineStore(db);
  const minutes = await read({ ticker: "EURUSD", timeframe: "M1", from: 0, to: 4e9, limit: 9, end: "oldest" });
  return minutes.map(({ time }) => new Date(time * 1000).getUTCFullYear());
}

const storeYears = (...years: number[]) =>
  storeFeed(
    db,
    years.map((year) => testKline("EURUSD", "M1", Date.UTC(year, 5) / 1000)),
  );

test("what an interrupted import has stored is deleted after a week in which nobody continued it", async () => {
  const context = { db, clock };
  const { number } = await beginImport(context, "live", BEGUN_IMPORT, "a command");
  const { pool, segments } = db;
  const part = partOf([testKline("EURUSD", "M1", Date.UTC(2039, 5) / 1000)]);
  await inTransaction(pool, (client) => storeColumns(client, segments, number, part, clock.now()));
  start();
  const stored = async () => (await pool.query("SELECT FROM history_layer WHERE layer = $1", [number])).rowCount;
  const runs = async (ms: number) => {
    clock.set(clock.now() + ms);
    await clock.advance(HOUR_MS);
  };
  await runs(6 * DAY_MS);
  expect(await stored()).toBe(1);
  // The same command continues it.
  expect((await beginImport(context, "live", BEGUN_IMPORT, "a command")).number).toBe(number);
  await runs(6 * DAY_MS);
  expect(await stored()).toBe(1);
  await vi.waitFor(async () => {
    await runs(2 * DAY_MS);
    expect(await stored()).toBe(0);
  });
  expect((await beginImport(context, "live", BEGUN_IMPORT, "a command")).number).toBe(number + 1);
  expect(await db.prisma.auditEntry.findMany({ select: { actor: true, action: true, target: true } })).toEqual([
    { actor: "system", action: "history.undo", target: String(number) },
  ]);
});

test("the segments of past days of ticks are joined", async () => {
  const at = Date.UTC(2039, 5, 1);
  const ticks = (from: number): TickColumns => {
    const count = TICK_SEGMENT_MAX_ROWS / 2 + 1;
    const column = (value: (row: number) => number) => Float64Array.from({ length: count }, (_, row) => value(row));
    const prices = { bid: column(() => 1.1), ask: column(() => 1.2), volume: column(() => Number.NaN) };
    const names = { source: Array<string>(count).fill("push"), outcome: Array<string>(count).fill(TAKEN) };
    return { time: column((row) => from + row), received: column((row) => from + row), ...prices, ...names };
  };
  const { pool, segments } = db;
  for (const from of [at, at + HOUR_MS])
    await inTransaction(pool, (client) => storeTicks(client, segments, { ticker: "EURUSD", layer: FEED_LAYER }, ticks(from)));
  const parts = async () => (await pool.query("SELECT rows FROM tick_segment ORDER BY part")).rows.map(({ rows }) => rows);
  expect(await parts()).toEqual([TICK_SEGMENT_MAX_ROWS, 2]);
  start();
  await vi.waitFor(async () => expect(await parts()).toEqual([TICK_SEGMENT_MAX_ROWS + 2]), { timeout: 60_000 });
});

describe("expired klines", () => {
  test("klines beyond the retention are dropped by one of several nodes, and every process is notified", async () => {
    await storeYears(2036, 2037, 2038);
    const messages: ControlMessage[] = [];
    const listener = await db.control.listen((message) => messages.push(message));
    for (const _node of [1, 2, 3]) start(2);
    const published = [{ kind: "klines", venue: "live", ticker: "EURUSD" }];
    await vi.waitFor(async () => expect(await yearsLeft()).toEqual([2037, 2038]));
    await vi.waitFor(() => expect(messages).toEqual(published));
    clock.set(NEW_YEAR_MS - HOUR_MS);
    // A run begins an hour after the one before it has ended, which can be after the clock was moved.
    await vi.waitFor(async () => {
      await clock.advance(HOUR_MS);
      expect(await yearsLeft()).toEqual([2038]);
    });
    await vi.waitFor(() => expect(messages).toEqual([...published, ...published]));
    expect(logged.map(({ msg, tickers }) => [msg, tickers])).toEqual(
      [1, 2].map(() => ["dropped klines shorter than a day beyond the retention", ["EURUSD"]]),
    );
    await listener.stop();
  });

  test("the upkeep waits for an unavailable database", async () => {
    await storeYears(2036, 2038);
    const { pool } = db;
    let away = true;
    const unlessAway =
      (work: (...args: unknown[]) => unknown) =>
      (...args: unknown[]) =>
        away ? Promise.reject(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" })) : work(...args);
    const cut = Object.create(pool, {
      connect: { value: unlessAway(() => pool.connect()) },
      query: { value: unlessAway(pool.query.bind(pool) as never) },
    });
    running.push(startUpkeep({ ...partsOf(2), db: { ...db, pool: cut } }));
    await vi.waitFor(() => expect(logged).toMatchObject(Array(8).fill({ level: 40 })));
    away = false;
    await vi.waitFor(async () => {
      await clock.advance(HOUR_MS);
      expect(await yearsLeft()).toEqual([2038]);
    });
  });
});

describe("ticks", () => {
  test("those of past hours are moved into segments, and those of days beyond TICKS_MAX_DAYS are dropped", async () => {
    const chunkAt = (ms: number) => {
      const chunk: TickChunk = { id: randomUUID(), ticker: "EURUSD", source: "push", numbers: [], outcomes: [] };
      addTick(chunk, { time_msc: ms, bid: 1, ask: 2 }, ms, "taken");
      return chunk;
    };
    const [old, recent, now] = [clock.now() - 5 * DAY_MS, clock.now() - 2 * HOUR_MS, clock.now()];
    await createKlineStore(db).writeBatch([], [], [old, recent, now].map(chunkAt));
    const parts = partsOf(0);
    running.push(startUpkeep({ ...parts, env: { ...parts.env, TICKS_MAX_DAYS: 3 }, db }));
    const stored = async () => (await db.pool.query("SELECT last::float8 FROM tick_segment")).rows.map(({ last }) => last);
    await vi.waitFor(async () => expect(await stored()).toEqual([recent]));
    const { rows } = await db.pool.query("SELECT last::float8 FROM tick_tail");
    expect(rows).toEqual([{ last: now }]);
    await vi.waitFor(() =>
      expect(logged).toMatchObject([{ msg: "dropped ticks beyond TICKS_MAX_DAYS or TICKS_MAX_MB", segments: 1 }]),
    );
  });
});

describe("addresses in the audit log", () => {
  const [old, young] = [31, 28];
  const ENTRIES: [address: string | null, days: number, kept: string | null][] = [
    ["198.51.100.77", old, "198.51.100.0/24"],
    ["::ffff:198.51.100.78", old, "198.51.100.0/24"],
    ["2001:db8:1:2:3::4", old, "2001:db8:1::/48"],
    ["unknown", old, null],
    [null, old, null],
    ["198.51.100.79", young, "198.51.100.79"],
  ];

  test("an address is cut to its network when its entry is 30 days old, and nothing else of the entry changes", async () => {
    // The database compares with its own time.
    clock.set(Date.now());
    const entry = (id: string, days: number, address: string | null) => ({
      id,
      at: new Date(clock.now() - days * DAY_MS),
      actor: "ada@example.com",
      action: "key.create",
      target: id,
      after: { name: "first" },
      address,
    });
    const entries = ENTRIES.map(([address, days], index) => entry(`00000000-0000-4000-8000-00000000000${index}`, days, address));
    // More than one batch.
    const many = Array.from({ length: 1_500 }, (_, index) => entry(crypto.randomUUID(), old, `203.0.113.${index % 250}`));
    await db.prisma.auditEntry.createMany({ data: [...entries, ...many] });
    for (const _node of [1, 2]) start();
    const whole = () =>
      db.prisma.auditEntry.count({ where: { address: { startsWith: "203.0.113." }, NOT: { address: { contains: "/" } } } });
    await vi.waitFor(async () => expect(await whole()).toBe(0));
    const kept = await db.prisma.auditEntry.findMany({
      where: { id: { in: entries.map(({ id }) => id) } },
      orderBy: { id: "asc" },
    });
    expect(kept).toMatchObject(entries.map((before, index) => ({ ...before, address: ENTRIES[index]?.[2] ?? null })));
    expect(logged).toEqual([]);
  });
});
