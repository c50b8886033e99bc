import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Kline } from "#lib/domain/kline";
import { DAY_S, MINUTE_S } from "#lib/units";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { readKlines } from "./kline-sql";
import { createKlineStore, type KlineTable } from "./kline-store";

/** 2019-12-31T23:00:00Z: an hour before the end of a year, and so of a partition. */
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
  store = createKlineStore(db.pool, "live");
});
afterAll(() => db.close());

describe("read", () => {
  beforeAll(() => store.writeKlines(minutes("READER", 120)));
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
    await store.writeKlines(rows);
    const found = { ticker: "O'NUMBERS", timeframe: "M1" as const, from: 0, to: 2 ** 40, limit: 10 };
    expect(await store.read({ ...found, end: "oldest" })).toEqual(rows);
    expect(await store.read({ ...found, end: "newest", limit: 2 })).toEqual(rows.slice(1));
  });

  test("a read of rows in another form fails, and its connection goes on", async () => {
    const client = await db.pool.connect();
    await client.query("BEGIN");
    await client.query("CREATE SCHEMA other; SET LOCAL search_path = other");
    await client.query(`CREATE FUNCTION kline_oldest(TEXT, TEXT, TEXT, BIGINT, BIGINT, INTEGER)
      RETURNS TABLE (a REAL, b REAL, c REAL, d REAL, e REAL, f REAL, g REAL, h REAL)
      LANGUAGE sql AS 'SELECT 1, 2, 3, 4, 5, 6, 7, 8 FROM generate_series(1, 3)'`);
    const query = { ticker: "READER", timeframe: "M1" as const, from: 0, to: 1, limit: 1, end: "oldest" as const };
    await expect(readKlines(client, "live", query)).rejects.toThrow(RangeError);
    await client.query("ROLLBACK");
    expect(await readKlines(client, "live", query)).toEqual([]);
    client.release();
  });

  test("a read that the database refuses fails with its error, and gives its connection back", async () => {
    for (let count = 0; count < 20; count += 1)
      await expect(ask(0, START_S, 1e12, "oldest")).rejects.toMatchObject({ code: "42883" });
    expect(times(await ask(START_S, START_S + 60, 10, "oldest"))).toEqual([0]);
  });

  test("a read includes from, excludes to, and limits from the requested end, always ascending", async () => {
    expect(times(await ask(START_S, START_S + 180, 10, "oldest"))).toEqual([0, 1, 2]);
    expect(times(await ask(START_S, START_S + 100_000, 3, "oldest"))).toEqual([0, 1, 2]);
    expect(times(await ask(0, START_S + 100_000, 3, "newest"))).toEqual([117, 118, 119]);
    expect(await ask(START_S + 120 * MINUTE_S, 4_000_000_000, 5, "oldest")).toEqual([]);
  });

  test("a read never returns rows of the other venue", async () => {
    const sandbox = createKlineStore(db.pool, "sandbox");
    expect(await sandbox.read({ ticker: "READER", timeframe: "M1", from: 0, to: 4e9, limit: 10, end: "oldest" })).toEqual([]);
    expect(await sandbox.coverage("READER", "M1")).toBeNull();
  });

  test("the store reports the range of a series", async () => {
    expect(await store.coverage("READER", "M1")).toEqual({ first: START_S, last: START_S + 119 * MINUTE_S });
    expect(await store.coverage("READER", "H1")).toBeNull();
  });
});

describe("write", () => {
  test("the last write of a key wins, within a batch too", async () => {
    await store.writeKlines([kline("LASTWINS", START_S, { close: 1 }), kline("LASTWINS", START_S, { close: 2 })]);
    await store.writeKlines([kline("LASTWINS", START_S, { close: 3, real_volume: 7.5 })]);
    expect(await readAll("LASTWINS")).toEqual([kline("LASTWINS", START_S, { close: 3, real_volume: 7.5 })]);
  });

  test("an unknown spread stays unknown, and is another value than 0", async () => {
    // In a partition that is older than unknown spreads.
    const rows = minutes("NOSPREAD", 3, { spread: null }, Date.UTC(2026, 5, 1) / 1000);
    await store.writeKlines(rows);
    expect(await readAll("NOSPREAD")).toEqual(rows);
    for (const spread of [0, null, 0]) {
      const again = rows.map((row) => ({ ...row, spread }));
      await store.copyKlines(again);
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
    await store.writeLastQuotes([{ ...quote(1_500, 9) }]);
    expect((await store.lastQuotes(5_000)).get("LASTQUOTE")).toEqual(quote(2_000, 2));
    expect((await store.lastQuotes(1_999)).has("LASTQUOTE")).toBe(false);
    await store.writeLastQuotes([{ ...quote(3_000, 3), ask_low: 3.5 }]);
    expect((await store.lastQuotes(5_000)).get("LASTQUOTE")).toEqual({ ...quote(3_000, 3), ask_low: 3.5 });
  });

  test("klines and quotes of a batch are written together or not at all", async () => {
    const bad = kline("TOGETHER", START_S, { close: null as unknown as number });
    await expect(
      store.writeBatch([bad], [{ ticker: "TOGETHER", time_msc: 1, bid: 1, ask: 1, ask_high: 1, ask_low: 1 }]),
    ).rejects.toThrow();
    expect((await store.lastQuotes(5_000)).has("TOGETHER")).toBe(false);
  });

  test("the partition of a year is created with its first row, even by concurrent writers", async () => {
    const stores = [1, 2, 3, 4].map(() => createKlineStore(db.pool, "live"));
    await Promise.all(stores.map((own, index) => own.writeKlines([kline(`YEAR${index}X`, Date.UTC(1999, 5) / 1000)])));
    for (const index of [0, 1, 2, 3]) expect(await readAll(`YEAR${index}X`)).toHaveLength(1);
  });

  test("a write outside the storable years is refused with the years in the message", async () => {
    await expect(store.writeKlines([kline("ANCIENT", 9e9)])).rejects.toThrow(/2255/);
  });

  test("two concurrent writers of the same rows both succeed", async () => {
    const batch = minutes("COLLIDE", 500);
    await Promise.all([store.copyKlines(batch), store.copyKlines(batch), store.writeKlines([...batch].reverse())]);
    expect(await readAll("COLLIDE")).toEqual(batch);
  });
});

describe("copy", () => {
  test("copying leaves the same rows as writing one batch after the other, for any batches", async () => {
    const row = fc.record({
      ticker: fc.constantFrom("COPYA", "COPYB"),
      minute: fc.integer({ min: 0, max: 40 }),
      close: fc.double({ noNaN: true, noDefaultInfinity: true }),
      real_volume: fc.option(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true })),
    });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(row, { maxLength: 30 }), { maxLength: 4 }), async (batches) => {
        run += 1;
        const expected = new Map<string, Kline>();
        for (const batch of batches) {
          const rows = batch.map(({ ticker, minute, close, real_volume }) =>
            kline(`${ticker}${run}`, START_S + minute * MINUTE_S, { close: close + 0, real_volume }),
          );
          await store.copyKlines(rows);
          for (const entry of rows) expected.set(`${entry.ticker}:${entry.time}`, entry);
        }
        const stored = [...(await readAll(`COPYA${run}`)), ...(await readAll(`COPYB${run}`))];
        const sorted = [...expected.values()].sort((a, b) =>
          a.ticker < b.ticker ? -1 : a.ticker > b.ticker ? 1 : a.time - b.time,
        );
        expect(stored).toEqual(sorted);
      }),
      { numRuns: 25 },
    );
  });

  test("copying accepts batches longer than one chunk, and the same batch twice", async () => {
    const batch = minutes("LONGCOPY", 5_000, { real_volume: 1.5 });
    await store.copyKlines(batch);
    await store.copyKlines(batch);
    expect(await readAll("LONGCOPY")).toEqual(batch);
  });

  test("a copy that fails stores nothing", async () => {
    const batch = [...minutes("BROKEN", 100), kline("BROKEN", START_S + 6_000, { close: Number.NaN })];
    await expect(store.copyKlines(batch)).rejects.toThrow(/BROKEN M1 1577839200 holds NaN/);
    expect(await readAll("BROKEN")).toEqual([]);
  });
});

describe("replace", () => {
  test("a replace swaps the rows of its window and touches nothing else", async () => {
    await store.writeKlines(minutes("REPLACED", 10));
    const fresh = [kline("REPLACED", START_S + 180, { close: 9 })];
    await store.replaceKlines("REPLACED", "M1", START_S + 120, START_S + 300, fresh);
    const rows = await readAll("REPLACED");
    expect(rows.map((row) => (row.time - START_S) / MINUTE_S)).toEqual([0, 1, 3, 5, 6, 7, 8, 9]);
    expect(rows[2]).toEqual(fresh[0]);
  });
});

describe("shape", () => {
  /** The plan of a read under the settings of its database function. */
  async function plan(name: "kline_oldest" | "kline_newest"): Promise<string> {
    const client = await db.pool.connect();
    try {
      const { rows: found } = await client.query<{ prosrc: string; proconfig: string[] }>(
        "SELECT prosrc, proconfig FROM pg_proc WHERE proname = $1",
        [name],
      );
      await client.query("BEGIN");
      for (const setting of found[0]?.proconfig ?? []) await client.query(`SET LOCAL ${setting.replace("=", " TO ")}`);
      const { rows } = await client.query<{ "QUERY PLAN": string }>(
        `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ${found[0]?.prosrc}`,
        ["live", "SHAPE", "M1", START_S - DAY_S, START_S + DAY_S, 500],
      );
      await client.query("ROLLBACK");
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    } finally {
      client.release();
    }
  }

  test.each([
    ["no statistics at all", undefined],
    ["a vacuum that counted pages but looked at no column", "VACUUM kline"],
    ["fresh statistics", "ANALYZE kline"],
  ])("a range is read with one ordered index scan per year, stopping at the limit: %s", async (_state, maintain) => {
    await store.copyKlines(minutes("SHAPE", 12_000, {}, START_S - 600_000));
    await store.copyKlines(minutes("OTHERS", 12_000));
    if (maintain !== undefined) await db.pool.query(maintain);
    for (const name of ["kline_oldest", "kline_newest"] as const) {
      const text = await plan(name);
      expect(text).not.toMatch(/Sort|Seq Scan|Bitmap|Merge Append/);
      expect(text.match(/Index Scan (Backward )?using kline_y\d+_pkey/g)).toHaveLength(2);
      const touched = [...text.matchAll(/Index Scan.*rows=(\d+)/g)].map((match) => Number(match[1]));
      expect(touched.reduce((sum, rows) => sum + rows, 0)).toBe(500);
    }
  });
});

describe("the minutes of a day", () => {
  test("the minutes of a day are those of any of the tickers, each once, and tell whether earlier rows exist", async () => {
    await store.writeKlines([...minutes("ONE", 3), ...minutes("TWO", 2, {}, START_S + 120), ...minutes("OTHER", 9)]);
    await store.writeKlines(minutes("ONE", 1, { timeframe: "M5" }, START_S + 600));
    const offsets = async (tickers: readonly string[], from: number) => {
      const { times, earlier } = await store.minutesSince(tickers, START_S + from);
      return { times: times.map((time) => (time - START_S) / MINUTE_S), earlier };
    };
    expect(await offsets(["ONE", "TWO"], 0)).toEqual({ times: [0, 1, 2, 3], earlier: false });
    expect(await offsets(["ONE", "TWO"], 60.5)).toEqual({ times: [1, 2, 3], earlier: true });
    expect(await offsets(["TWO"], 60)).toEqual({ times: [2, 3], earlier: false });
    expect(await offsets([], 0)).toEqual({ times: [], earlier: false });
  });
});
