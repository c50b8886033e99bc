import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Kline } from "#lib/domain/kline";
import { DAY_S, MINUTE_S } from "#lib/units";
import { inPostgres } from "#server/store/segments/segment-store";
import { createSegments } from "#server/store/segments/segments";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { storeFeed, storeTail } from "#server/testing/layered";
import { createKlineStore, type KlineTable } from "./kline-store";

/** 2019-12-31T23:00:00Z: an hour before the end of a year, and so of a month and its file. */
const START_S = 1_577_833_200;

function kline(ticker: string, time: number, given: Partial<Kline> = {}): Kline {
  return {
    type: "kline",
    ticker,
    timeframe: "M1",
    time,
    open: 1.1,
    high: 1.30000001,
    low: 1e-7,
    close: 1.2,
    tick_volume: 42,
    real_volume: null,
    spread: 0.00006,
    ...given,
  };
}

const minutes = (ticker: string, count: number, given: Partial<Kline> = {}, start = START_S): Kline[] =>
  Array.from({ length: count }, (_, index) => kline(ticker, start + index * MINUTE_S, given));

let db: TestDatabase;
let store: KlineTable;
const readAll = (ticker: string) =>
  store.read({ ticker, timeframe: "M1", from: 0, to: 4_000_000_000, limit: 100_000, end: "oldest" });

beforeAll(async () => {
  db = await testDatabase();
  store = createKlineStore(db);
});
afterAll(() => db.close());

describe("read", () => {
  beforeAll(() => storeTail(db, minutes("READER", 120)));
  const ask = (from: number, to: number, limit: number, end: "oldest" | "newest") =>
    store.read({ ticker: "READER", timeframe: "M1", from, to, limit, end });
  const times = (rows: Kline[]) => rows.map((row) => (row.time - START_S) / MINUTE_S);

  test("a read returns wire records bit for bit as written, across the end of a year", async () => {
    expect(await readAll("READER")).toEqual(minutes("READER", 120));
  });

  test("a read returns every number and null exactly as written, even for dates after 2038", async () => {
    const [farS, mineS] = [Date.UTC(2106, 1, 7, 6, 27) / 1000, Date.UTC(2107, 0, 1) / 1000];
    const rows = [
      kline("O'NUMBERS", 0, { open: 0.1 + 0.2, tick_volume: 2 ** 53, real_volume: 0.5, spread: 0 }),
      kline("O'NUMBERS", farS, { low: -1e-300, real_volume: 1e21, spread: null }),
      kline("O'NUMBERS", mineS, { high: Number.MAX_VALUE, tick_volume: 0 }),
    ];
    await storeTail(db, rows);
    const found = { ticker: "O'NUMBERS", timeframe: "M1" as const, from: 0, to: 2 ** 40, limit: 10 };
    expect(await store.read({ ...found, end: "oldest" })).toEqual(rows);
    expect(await store.read({ ...found, end: "newest", limit: 2 })).toEqual(rows.slice(1));
  });

  test("a read includes from, excludes to, and limits from the requested end, always ascending", async () => {
    expect(times(await ask(START_S, START_S + 180, 10, "oldest"))).toEqual([0, 1, 2]);
    expect(times(await ask(START_S, START_S + 100_000, 3, "oldest"))).toEqual([0, 1, 2]);
    expect(times(await ask(0, START_S + 100_000, 3, "newest"))).toEqual([117, 118, 119]);
    expect(await ask(START_S + 120 * MINUTE_S, 4_000_000_000, 5, "oldest")).toEqual([]);
  });
});

describe("write", () => {
  test("the last write of a key wins, within a batch too", async () => {
    await storeTail(db, [kline("LASTWINS", START_S, { close: 1 }), kline("LASTWINS", START_S, { close: 2 })]);
    await storeTail(db, [kline("LASTWINS", START_S, { close: 3, real_volume: 7.5 })]);
    expect(await readAll("LASTWINS")).toEqual([kline("LASTWINS", START_S, { close: 3, real_volume: 7.5 })]);
  });

  test("an unknown spread stays unknown, and is another value than 0", async () => {
    const rows = minutes("NOSPREAD", 3, { spread: null }, Date.UTC(2026, 5, 1) / 1000);
    await storeTail(db, rows);
    expect(await readAll("NOSPREAD")).toEqual(rows);
    for (const spread of [0, null, 0]) {
      const again = rows.map((row) => ({ ...row, spread }));
      await storeTail(db, again);
      expect(await readAll("NOSPREAD")).toEqual(again);
    }
  });

  test("the newest quote of a ticker is kept, in whatever order quotes are written", async () => {
    const quote = (time_msc: number, bid: number) => ({
      ticker: "LASTQUOTE",
      time_msc,
      bid,
      ask: bid + 1,
      ask_high: bid + 2,
      ask_low: null,
    });
    await store.writeBatch([], [quote(2_000, 2), quote(1_000, 1)]);
    await store.writeBatch([], [{ ...quote(1_500, 9) }]);
    expect((await store.lastQuotes(5_000)).get("LASTQUOTE")).toEqual(quote(2_000, 2));
    expect((await store.lastQuotes(1_999)).has("LASTQUOTE")).toBe(false);
    await store.writeBatch([], [{ ...quote(3_000, 3), ask_low: 3.5 }]);
    expect((await store.lastQuotes(5_000)).get("LASTQUOTE")).toEqual({ ...quote(3_000, 3), ask_low: 3.5 });
  });

  test("klines and quotes of a batch are written together or not at all", async () => {
    const bad = kline("TOGETHER", START_S, { close: null as unknown as number });
    await expect(
      store.writeBatch([bad], [{ ticker: "TOGETHER", time_msc: 1, bid: 1, ask: 1, ask_high: 1, ask_low: 1 }]),
    ).rejects.toThrow();
    expect((await store.lastQuotes(5_000)).has("TOGETHER")).toBe(false);
  });

  test("two concurrent writers of the same rows both succeed", async () => {
    const batch = minutes("COLLIDE", 500);
    await Promise.all([storeTail(db, batch), storeTail(db, batch), storeTail(db, [...batch].reverse())]);
    expect(await readAll("COLLIDE")).toEqual(batch);
  });
});

describe("a damaged segment", () => {
  test("a segment that was altered or is missing is refused by its name, and other months are read", async () => {
    const [first, second] = [minutes("DAMAGED", 3), minutes("DAMAGED", 3, {}, START_S + 40 * DAY_S)];
    await storeFeed(db, [...first, ...second]);
    const { rows } = await db.pool.query<{ content: string }>(
      "SELECT content FROM history_visible WHERE ticker = 'DAMAGED' ORDER BY start",
    );
    const [{ content } = { content: "" }] = rows;
    // Another process, which has nothing in memory.
    const other = () => createKlineStore({ pool: db.pool, segments: createSegments(inPostgres, 1) });
    const read = (from: number) =>
      other().read({ ticker: "DAMAGED", timeframe: "M1", from, to: from + DAY_S, limit: 10, end: "oldest" });
    await db.pool.query("UPDATE history_content SET bytes = bytes || '\\x00' WHERE id = $1", [content]);
    await expect(read(START_S)).rejects.toThrow(`segment ${content} was altered`);
    expect(await read(START_S + 40 * DAY_S)).toEqual(second);
    await db.pool.query("DELETE FROM history_content WHERE id = $1", [content]);
    await expect(read(START_S)).rejects.toThrow(`segment ${content} is not in the database`);
    expect(await read(START_S + 40 * DAY_S)).toEqual(second);
  });
});

describe("the minutes of a day", () => {
  test("the minutes of a day are those of any of the tickers, each once, and tell whether earlier rows exist", async () => {
    await storeTail(db, [...minutes("ONE", 3), ...minutes("TWO", 2, {}, START_S + 120), ...minutes("OTHER", 9)]);
    const offsets = async (tickers: readonly string[], from: number) => {
      const { times, earlier } = await store.stored.minutesSince(tickers, START_S + from);
      return { times: times.map((time) => (time - START_S) / MINUTE_S), earlier };
    };
    expect(await offsets(["ONE", "TWO"], 0)).toEqual({ times: [0, 1, 2, 3], earlier: false });
    expect(await offsets(["ONE", "TWO"], 60.5)).toEqual({ times: [1, 2, 3], earlier: true });
    expect(await offsets(["TWO"], 60)).toEqual({ times: [2, 3], earlier: false });
    expect(await offsets([], 0)).toEqual({ times: [], earlier: false });
  });
});
