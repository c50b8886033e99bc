import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { IngestState } from "#lib/contract/ingest-klines";
import { INGEST_KLINES_MAX_AGE_S, INGEST_STATE_RANGES_MAX_COUNT } from "#lib/contract/limits";
import { isFault } from "#lib/fault";
import type { Catalogue, Market } from "#lib/market/ports";
import { createKlineStore, type KlineTable } from "#server/store/klines/kline-store";
import { createCatalogue } from "#server/store/market/catalogue";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { storeFeed, storeTail } from "#server/testing/layered";
import { testKlines } from "#server/testing/market";
import { stateOf } from "./answer";

/** A Monday, ten hours after the market opened. */
const NOW_MS = Date.UTC(2026, 0, 12, 8, 0, 30);
const NOW_S = Date.UTC(2026, 0, 12, 8) / 1000;
/** Sunday 17:00 in New York. */
const OPEN_S = Date.UTC(2026, 0, 11, 22) / 1000;
const CLOSE_S = Date.UTC(2026, 0, 9, 22) / 1000;

let db: TestDatabase;
let store: KlineTable;
let catalogue: Catalogue;
beforeAll(async () => {
  db = await testDatabase();
  store = createKlineStore(db);
  catalogue = await createCatalogue(db, "live");
});
afterAll(() => db?.close());
beforeEach(() => db.pool.query("TRUNCATE kline_tail, history_layer, history_visible"));

async function ask(tickers = ["EURUSD"], before?: number, more: object = {}): Promise<IngestState["items"]> {
  const view = { quote: (ticker: string) => (ticker === "EURUSD" ? { time_msc: NOW_MS - 5 } : undefined) };
  const market = { venue: "live", catalogue, store, view, timeAt: (wallMs: number) => wallMs, ...more } as unknown as Market;
  const call = { query: { tickers, before }, market, mayRead: () => true, tickers: [], oldestMs: 0, nowMs: NOW_MS, sent: null };
  const { data } = await stateOf(call);
  expect((data as IngestState).server_time_msc).toBe(NOW_MS);
  return (data as IngestState).items;
}
const write = (from: number, to: number) => storeFeed(db, testKlines("EURUSD", "M1", from, (to - from) / 60, 60));

test("the state names the newest records and the open minutes without a kline, over a weekend as one range", async () => {
  const oldest = Math.ceil((NOW_MS / 1000 - INGEST_KLINES_MAX_AGE_S) / 60) * 60;
  await write(oldest, CLOSE_S - 120);
  await write(OPEN_S + 180, NOW_S - 3_600);
  await write(NOW_S - 1_800, NOW_S + 60);
  const [state] = await ask();
  expect(state).toEqual({
    ticker: "EURUSD",
    newest_kline: NOW_S,
    newest_tick: NOW_MS - 5,
    missing: [
      { from: CLOSE_S - 120, to: OPEN_S + 180, minutes: 5 },
      { from: NOW_S - 3_600, to: NOW_S - 1_800, minutes: 30 },
    ],
    missing_before: null,
  });
});

test("a ticker without klines misses every open minute of the last 40 days, and none of the running one", async () => {
  const [state] = await ask(["XAUUSD"]);
  expect(state).toMatchObject({ newest_kline: null, newest_tick: null, missing_before: null });
  expect(state?.missing).toHaveLength(1);
  const [range] = state?.missing ?? [];
  expect(range?.to).toBe(NOW_S);
  expect(range?.from).toBeGreaterThanOrEqual(NOW_S - INGEST_KLINES_MAX_AGE_S);
  expect(range?.minutes).toBeGreaterThan(25 * 1_380);
});

test("of many ranges the newest come first, and `before` asks for the earlier ones", async () => {
  // Every second minute since the open, which is more than two pages.
  const minutes = testKlines("EURUSD", "M1", OPEN_S, 500, 60).filter((_, index) => index % 2 === 0);
  await storeTail(db, minutes);
  const from: number[] = [];
  let before: number | undefined;
  for (let page = 0; page < 3; page += 1) {
    const [state] = await ask(["EURUSD"], before);
    const ranges = state?.missing ?? [];
    expect(ranges.length).toBeLessThanOrEqual(INGEST_STATE_RANGES_MAX_COUNT);
    from.unshift(...ranges.map((range) => range.from));
    before = state?.missing_before ?? undefined;
    expect(before === undefined).toBe(page === 2);
  }
  const expected = Array.from({ length: 249 }, (_, index) => OPEN_S + 60 + index * 120);
  expect(from.slice(-250, -1)).toEqual(expected);
  expect(from).toEqual([...new Set(from)].sort((a, b) => a - b));
});

test("a ticker without a known calendar has no list, and a venue that computes its klines no state", async () => {
  const uncharted = { ...catalogue, calendar: () => undefined };
  const [state] = await ask(["EURUSD"], undefined, { catalogue: uncharted });
  expect(state?.missing).toBeNull();
  const refused = await ask(["EURUSD"], undefined, { store: { stored: null } }).catch(
    (error: unknown) => isFault(error) && error.id,
  );
  expect(refused).toBe("service_unavailable");
});
