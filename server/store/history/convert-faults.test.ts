import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ConversionDiffers, convertTicker } from "#server/store/conversion/convert";
import { createKlineStore } from "#server/store/klines/kline-store";
import { createPartitions } from "#server/store/klines/partitions";
import { createConversionBench, rowKline } from "#server/testing/converted";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { showAgain } from "./layers";
import { inTransaction } from "./transaction";

const DAY_S = 86_400;
const START_S = Date.UTC(2026, 2, 30, 12) / 1_000;
const STARTED_MS = START_S * 1_000;
const FLIP = /DELETE FROM history_unconverted/;
const ignore = { signal: new AbortController().signal, onProgress: () => undefined };

let db: TestDatabase;
let bench: ReturnType<typeof createConversionBench>;
beforeAll(async () => {
  db = await testDatabase();
  bench = createConversionBench(db);
  const ensure = createPartitions(db.pool);
  await ensure(Date.UTC(2010, 0) / 1_000, Date.UTC(2012, 0) / 1_000);
  await ensure(START_S, START_S);
});
afterAll(() => db.close());

const minutes = (ticker: string, count: number, value: number, from = START_S) =>
  Array.from({ length: count }, (_, slot) => rowKline(ticker, from + slot * 43_200, value));

type Query = (...given: unknown[]) => unknown;

/** The database, with something that happens before the statement of each number, counted from 1. */
function withStatements(before: (number: number, text: string, client: pg.Client) => unknown): TestDatabase {
  return {
    ...db,
    client() {
      const client = db.client();
      const query = client.query.bind(client) as Query;
      let number = 0;
      (client as { query: Query }).query = (given, ...rest) => {
        number += 1;
        const text = typeof given === "string" ? given : String((given as { text?: string } | undefined)?.text);
        // Statements with a callback are sent at once: their driver does not wait.
        const held = before(number, text, client);
        return held instanceof Promise ? held.then(() => query(given, ...rest)) : query(given, ...rest);
      };
      return client;
    },
  };
}

/** The connection of a process that is gone. */
const cut = (client: pg.Client) =>
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();

async function settled<Value>(probe: () => Promise<Value | null>): Promise<Value> {
  for (;;) {
    const value = await probe();
    if (value !== null) return value;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("a conversion that is killed before any of its statements leaves reads as they were, and the next one completes it", async () => {
  const ticker = "KILLED";
  const first = await bench.begin(STARTED_MS);
  await bench.rows.store(first, ticker, minutes(ticker, 4, 0));
  await bench.rows.storeLonger(first, ticker, "H4", [rowKline(ticker, START_S - 40 * 14_400, 1, "H4")]);
  await bench.await(ticker);
  let kills = 0;
  for (let isKilled = true; isKilled; ) {
    kills += 1;
    isKilled = false;
    const dying = withStatements((number, _, client) => {
      // While it is on its way; the lock is the first statement.
      if (number !== kills + 1) return;
      isKilled = true;
      cut(client);
    });
    const outcome = await settled(() => convertTicker(dying, ticker, ignore).catch((error: unknown) => ({ error })));
    expect("error" in outcome).toBe(isKilled);
    if (!isKilled) break;
    if (!(await bench.waits(ticker))) throw new Error("a killed conversion has ended");
    // What happens between two attempts is not lost, nor is brought back what was undone.
    const number = await bench.begin(STARTED_MS + kills);
    if (kills === 20) await bench.rows.store(number, ticker, minutes(ticker, 3, 1));
    if (kills === 40) await bench.rows.undo(first, ticker);
    if (kills === 45) await bench.rows.strike(number, ticker, [START_S]);
  }
  expect(kills).toBeGreaterThan(30);
  expect(await bench.waits(ticker)).toBe(false);
  await bench.expectEqual(ticker);
  expect(await convertTicker(db, ticker, ignore)).toBeNull();
});

test("what the feed writes while its ticker is converted is in layers or in the tail, whenever it is written", async () => {
  const ticker = "FED";
  await bench.rows.feed(ticker, minutes(ticker, 8, 0));
  await bench.await(ticker);
  const store = createKlineStore(db);
  const quote = { ticker, time_msc: (START_S + 8 * 43_200) * 1_000, bid: 1, ask: 1 };
  await store.writeBatch([], [{ ...quote, ask_high: null, ask_low: null } as never]);
  const expected = new Map(minutes(ticker, 8, 0).map((kline) => [kline.time, kline]));
  let written = 0;
  async function write(): Promise<void> {
    written += 1;
    // The minute that is open, whose kline changes, and a new one.
    const klines = [
      rowKline(ticker, START_S + 8 * 43_200, written),
      rowKline(ticker, START_S + 8 * 43_200 + written * 60, written),
    ];
    for (const kline of klines) expected.set(kline.time, kline);
    await store.writeBatch(klines, []);
  }
  let isFlipping = false;
  const late: Promise<void>[] = [];
  const interrupted = withStatements((_, text) => {
    // From the flip to its commit, a writer waits.
    if (FLIP.test(text)) {
      isFlipping = true;
      return write();
    }
    if (text === "COMMIT" && isFlipping) {
      late.push(write());
      return new Promise((resolve) => setTimeout(resolve, 50));
    }
    return undefined;
  });
  await convertTicker(interrupted, ticker, { ...ignore, onProgress: write });
  await Promise.all(late);
  await write();
  expect(await bench.inLayers(ticker, "M1")).toEqual([...expected.values()].sort((a, b) => a.time - b.time));
});

test("a write of the feed that is under way when the conversion ends is waited for", async () => {
  const ticker = "UNDERWAY";
  await bench.rows.feed(ticker, minutes(ticker, 2, 0));
  await bench.await(ticker);
  const writer = await db.pool.connect();
  await writer.query("BEGIN");
  await writer.query("SELECT FROM history_unconverted WHERE ticker = $1 FOR SHARE", [ticker]);
  const [kline] = minutes(ticker, 1, 2, Math.floor(Date.now() / 60_000) * 60);
  const flipped = withStatements((_, text) => {
    if (!FLIP.test(text)) return undefined;
    return void setTimeout(async () => {
      await writer.query(
        `INSERT INTO kline (venue, ticker, timeframe, time, open, high, low, close, tick_volume, real_volume, spread)
          VALUES ('live', $1, 'M1', $2, $3, $4, $5, $6, $7, $8, $9)`,
        [
          ticker,
          kline?.time,
          kline?.open,
          kline?.high,
          kline?.low,
          kline?.close,
          kline?.tick_volume,
          kline?.real_volume,
          kline?.spread,
        ],
      );
      await writer.query("COMMIT");
      writer.release();
    }, 50);
  });
  await convertTicker(flipped, ticker, ignore);
  expect((await bench.inLayers(ticker, "M1")).at(-1)).toEqual(kline);
});

test("days, weeks and months whose minutes the retention dropped stay, also those that go on in the next year, over imported ones", async () => {
  const ticker = "RETAINED";
  const newYear = Date.UTC(2011, 0) / 1_000;
  const number = await bench.begin(STARTED_MS);
  const around = [-200 * DAY_S, -3 * DAY_S, -3_600, 3_600, 3 * DAY_S, 200 * DAY_S].map((offset, value) =>
    rowKline(ticker, newYear + offset, value),
  );
  await bench.rows.store(number, ticker, around);
  await bench.rows.storeLonger(
    number,
    ticker,
    "D1",
    [
      ...[-200 * DAY_S, -100 * DAY_S].map((offset) => rowKline(ticker, newYear + offset - ((newYear + offset) % DAY_S), 7, "D1")),
    ].map((kline) => ({ ...kline, time: Math.floor(kline.time / DAY_S) * DAY_S - 7_200 })),
  );
  await bench.rows.dropYear(ticker, 2010, [number]);
  await bench.await(ticker);
  const converted = await convertTicker(db, ticker, ignore);
  expect(converted).toMatchObject({ months: 2, leftOut: 0 });
  for (const timeframe of ["M1", "D1", "W1", "MN1"] as const)
    expect(await bench.inLayers(ticker, timeframe)).toEqual(await bench.rows.read(ticker, timeframe));
  expect((await bench.inLayers(ticker, "D1")).length).toBeGreaterThan(4);
});

test("an import that had written over a correction still shows; its undo does not bring the correction back", async () => {
  const ticker = "CORRECTED";
  await bench.rows.feed(ticker, minutes(ticker, 3, 0));
  const correction = await bench.begin(STARTED_MS, true);
  await bench.rows.store(correction, ticker, minutes(ticker, 2, 1));
  const file = await bench.begin(STARTED_MS + 1);
  await bench.rows.store(file, ticker, minutes(ticker, 1, 2));
  await bench.await(ticker);
  expect(await convertTicker(db, ticker, ignore)).toMatchObject({ rowsIn: 3, rowsOut: 3, leftOut: 1, statements: 5 });
  await bench.expectEqual(ticker);
  await db.pool.query("UPDATE backfill SET undone_at = now() WHERE number = $1", [file]);
  await inTransaction(db.pool, (client) => showAgain(client, db.segments, file));
  const [uncorrected, corrected, untouched] = [
    minutes(ticker, 1, 0),
    minutes(ticker, 2, 1).slice(1),
    minutes(ticker, 3, 0).slice(2),
  ];
  expect(await bench.inLayers(ticker, "M1")).toEqual([...uncorrected, ...corrected, ...untouched]);
});

test("a ticker keeps its rows, and the first time is named, when its layers return other klines", async () => {
  const ticker = "DIFFERS";
  const number = await bench.begin(STARTED_MS);
  await bench.rows.store(number, ticker, minutes(ticker, 3, 0));
  await db.pool.query("UPDATE backfill SET undone_at = now() WHERE number = $1", [number]);
  await bench.await(ticker);
  const failed = expect(convertTicker(db, ticker, ignore)).rejects;
  await failed.toThrow(ConversionDiffers);
  await expect(convertTicker(db, ticker, ignore)).rejects.toThrow(
    "DIFFERS M1 does not read from layers as from rows, from 2026-03-30T12:00:00.000Z on",
  );
  expect(await bench.waits(ticker)).toBe(true);
});
