import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DEMO_COMPUTED_DAYS_PER_MINUTE_COUNT } from "#lib/contract/limits";
import type { Kline } from "#lib/domain/kline";
import { DAY_S, HOUR_S } from "#lib/units";
import { testKline, testKlines } from "#server/testing/market";
import {
  type Answer,
  DEMO_KEY,
  failed,
  freshAddress,
  TEST_START_MS,
  type TestRuntime,
  testRuntime,
} from "#server/testing/runtime";

const NOW = TEST_START_MS / 1000;
const PATH = "/api/v1/market/klines";
let t: TestRuntime;

beforeAll(async () => {
  t = await testRuntime();
});
beforeEach(() => t.clock.set(TEST_START_MS));
afterAll(() => t.close());

const ask = (query: string, headers: Record<string, string> = {}) => t.ask(`${PATH}?${query}`, { headers });
const times = ({ body }: Answer) => body.data.items.map((item: Kline) => item.time);
const live = () => t.markets.live;

describe("the window", () => {
  const M1 = testKlines("EURUSD", "M1", NOW - 1_200, 20, 60);
  const all = M1.map(({ time }) => time);
  beforeAll(() => live().store.writeBatch(M1, []));

  test("a window without bounds has the newest rows, ascending, with from and to as integers", async () => {
    const answer = await ask("ticker=eurusd&timeframe=M1&limit=5");
    expect(times(answer)).toEqual(all.slice(-5));
    expect(answer.body.data).toMatchObject({
      ticker: "EURUSD",
      timeframe: "M1",
      from: NOW - 300,
      to: NOW + 1,
      count: 5,
      limit: 5,
      next_from: null,
    });
  });

  test("a window with only `from` has the oldest rows from there, and the next row's open time when there are more", async () => {
    const answer = await ask(`ticker=EURUSD&timeframe=M1&from=${NOW - 1_190}&limit=3`);
    expect(times(answer)).toEqual(all.slice(1, 4));
    expect(answer.body.data).toMatchObject({ from: NOW - 1_190, next_from: NOW - 1_200 + 240 });
    const next = await ask(`ticker=EURUSD&timeframe=M1&from=${answer.body.data.next_from}&limit=3`);
    expect(times(next)).toEqual(all.slice(4, 7));
  });

  test("a window with only `to` has the newest rows before it, excluding `to`", async () => {
    expect(times(await ask(`ticker=EURUSD&timeframe=M1&to=${NOW - 600}&limit=2`))).toEqual([NOW - 720, NOW - 660]);
  });

  test("a window with both bounds is half-open", async () => {
    const answer = await ask(`ticker=EURUSD&timeframe=M1&from=${NOW - 600}&to=${NOW - 480}`);
    expect(times(answer)).toEqual([NOW - 600, NOW - 540]);
    expect(answer.body.data).toMatchObject({ count: 2, limit: 500, expected_count: 2, next_from: null });
  });

  test("a `to` in the future counts as now, and a window without rows is 200 and empty", async () => {
    expect((await ask(`ticker=EURUSD&timeframe=M1&from=${NOW - 60}&to=${NOW + 9_999}`)).body.data.to).toBe(NOW + 1);
    for (const query of [`from=${NOW + 100}`, "from=100&to=200", "to=1"])
      expect(await ask(`ticker=EURUSD&timeframe=M1&${query}`)).toMatchObject({
        status: 200,
        body: { data: { count: 0, items: [], next_from: null } },
      });
  });

  test("the expected count of a window shows whether rows are missing or the market was closed", async () => {
    const saturday = Date.UTC(2026, 0, 3, 12) / 1000;
    expect((await ask(`ticker=EURUSD&timeframe=H1&from=${saturday}&to=${saturday + 7_200}`)).body.data).toMatchObject({
      count: 0,
      expected_count: 0,
    });
    expect((await ask(`ticker=EURUSD&timeframe=H1&from=${NOW - DAY_S}&to=${NOW}`)).body.data.expected_count).toBe(24);
    const { text: key } = await t.issueKey({ venue: "sandbox" });
    const unknown = await t.ask(`${PATH}?ticker=TESTUNKNOWN&timeframe=H1`, { key });
    expect(unknown.body.data.expected_count).toBeNull();
  });

  test("a timeframe that is not offered for the ticker is refused with the list of those that are", async () => {
    const { live: market } = t.markets;
    const { find } = market.catalogue;
    Object.assign(market.catalogue, { find: (ticker: string) => ({ ...find(ticker), timeframes: ["H1", "D1"] }) });
    const answer = await ask("ticker=EURUSD&timeframe=M1");
    Object.assign(market.catalogue, { find });
    expect(answer).toMatchObject(failed("unsupported_timeframe", { parameter: "timeframe", allowed: ["H1", "D1"] }));
  });
});

test("klines match the contract byte for byte", async () => {
  await live().store.writeBatch([{ ...testKline("EURGBP", "D1", NOW - 136_800, 1.10002), real_volume: 3 }], []);
  const answer = await ask(`ticker=EURGBP&timeframe=D1&from=${NOW - 136_800}&to=${NOW - 136_799}`);
  expect(answer.text).toBe(
    `{"code":0,"message":"success","data":{"ticker":"EURGBP","timeframe":"D1","from":1767650400,"to":1767650401,"count":1,"limit":500,"next_from":null,"expected_count":1,"revision":"RlsCp-Njz08TrrU3","items":[{"type":"kline","ticker":"EURGBP","timeframe":"D1","time":1767650400,"open":1.1,"high":1.10002,"low":1.1,"close":1.10002,"tick_volume":10,"real_volume":3,"spread":0.00008}]}}`,
  );
});

test("an unknown spread is shown as 0, stored or in the view", async () => {
  await live().store.writeBatch([{ ...testKline("EURNOK", "M1", NOW - 180, 11.5), spread: null }], []);
  live().kline({ ...testKline("EURNOK", "M1", NOW - 120, 11.5), spread: null });
  live().kline(testKline("EURNOK", "M1", NOW - 60, 11.5));
  const answer = await ask(`ticker=EURNOK&timeframe=M1&from=${NOW - 180}`);
  expect(answer.body.data.items.map(({ spread }: Kline) => spread)).toEqual([0, 0, 0.00008]);
});

describe("rows of the view", () => {
  test("rows of the view win over stored ones, follow them, and fill in what is not written yet", async () => {
    await live().store.writeBatch([testKline("GBPUSD", "M1", NOW - 180, 1.5), testKline("GBPUSD", "M1", NOW - 120, 1.5)], []);
    live().kline(testKline("GBPUSD", "M1", NOW - 120, 1.6));
    live().kline(testKline("GBPUSD", "M1", NOW - 60, 1.7));
    live().kline(testKline("GBPUSD", "M1", NOW, 1.8));
    const answer = await ask("ticker=GBPUSD&timeframe=M1");
    expect(answer.body.data.items.map(({ close }: Kline) => close)).toEqual([1.5, 1.6, 1.7, 1.8]);
    expect(times(await ask(`ticker=GBPUSD&timeframe=M1&from=${NOW - 180}&to=${NOW}&limit=2`))).toEqual([NOW - 180, NOW - 120]);
  });

  test("changed rows of the view are in the very next answer, cached or not", async () => {
    const query = "ticker=AUDUSD&timeframe=M1&limit=3";
    await live().store.writeBatch(testKlines("AUDUSD", "M1", NOW - 600, 5, 60), []);
    for (let minute = 0; minute < 80; minute += 1) {
      const time = NOW + minute * 60;
      t.clock.set(time * 1000 + 500);
      for (const close of [1.2, 1.3 + minute / 1e4]) {
        live().kline(testKline("AUDUSD", "M1", time, close));
        const { items } = (await ask(query)).body.data;
        expect(items.at(-1)).toMatchObject({ time, close });
      }
    }
  });

  test("changed rows of the view do not cause a closed window to be read again", async () => {
    await live().store.writeBatch(testKlines("NZDUSD", "M1", NOW - 36_000, 600, 60), []);
    live().kline(testKline("NZDUSD", "M1", NOW - 60));
    const query = `ticker=NZDUSD&timeframe=M1&from=${NOW - 36_000}&to=${NOW - 18_000}`;
    await ask(query);
    const before = live().reads();
    for (let index = 0; index < 5; index += 1) {
      live().kline(testKline("NZDUSD", "M1", NOW, 1.1 + index / 100));
      expect((await ask(query)).body.data.count).toBe(300);
    }
    expect(live().reads()).toBe(before);
  });
});

describe("a cached window", () => {
  test("a window is read once for concurrent requests, and not again while nothing changes", async () => {
    await live().store.writeBatch(testKlines("USDJPY", "H1", NOW - 36_000, 10, 3_600), []);
    const before = live().reads();
    const query = "ticker=USDJPY&timeframe=H1";
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(query)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    t.clock.set(TEST_START_MS + 10_000);
    const later = await ask(query);
    expect(live().reads() - before).toBe(1);
    expect(later.body.data).toMatchObject({ to: NOW + 11, items: answers[0]?.body.data.items });
  });

  test("a cached window is read again after stored history was rewritten", async () => {
    const query = `ticker=USDCAD&timeframe=H1&to=${NOW - 7_200}`;
    await live().store.writeBatch([testKline("USDCAD", "H1", NOW - 36_000, 1.2)], []);
    const first = await ask(query);
    await live().store.writeBatch([testKline("USDCAD", "H1", NOW - 36_000, 1.3)], []);
    live().historyChanged();
    const second = await ask(query);
    expect(second.body.data.items[0].close).toBe(1.3);
    expect(second.headers.get("etag")).not.toBe(first.headers.get("etag"));
  });
});

test("a window whose history was rewritten while it was read is read again by the next caller", async () => {
  const query = `ticker=AUDCAD&timeframe=H1&to=${NOW - 7_200}`;
  await live().store.writeBatch([testKline("AUDCAD", "H1", NOW - 36_000, 1.2)], []);
  const early = ask(query);
  live().historyChanged();
  await live().store.writeBatch([testKline("AUDCAD", "H1", NOW - 36_000, 1.3)], []);
  await early;
  expect((await ask(query)).body.data.items[0].close).toBe(1.3);
});

describe("while the database is unavailable", () => {
  const all = testKlines("EURJPY", "M1", NOW - 1_200, 21, 60);
  const recent = all.slice(-10);
  const shown = (answer: Answer) => [answer.status, ...times(answer)];
  const windows = [
    "limit=10",
    "limit=3",
    `to=${NOW - 120}&limit=5`,
    `from=${NOW - 540}`,
    `from=${NOW - 540}&limit=2`,
    `from=${NOW - 300}&to=${NOW - 120}`,
  ];
  let away = false;
  let error: Error;
  beforeAll(async () => {
    await live().store.writeBatch(all, []);
    for (const kline of recent) live().kline(kline);
    const { read } = live().store;
    const failing: typeof read = (query) => (away ? Promise.reject(error) : read(query));
    Object.assign(live().store, { read: failing });
  });
  afterAll(() => {
    away = false;
  });
  beforeEach(() => {
    away = true;
    error = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  });

  test.each(windows)("without the database, a window of the newest klines is the same: %s", async (window) => {
    const query = `ticker=EURJPY&timeframe=M1&${window}`;
    const cut = await ask(query);
    away = false;
    const whole = await ask(query);
    expect(cut.text).toBe(whole.text);
    expect(shown(cut).length).toBeGreaterThan(1);
  });

  test.each(["limit=11", "limit=500", `to=${NOW - 540}&limit=1`, `from=${NOW - 541}&limit=1`])(
    "without the database, a window that needs stored rows is service_unavailable with retry_after: %s",
    async (window) => {
      const answer = await ask(`ticker=EURJPY&timeframe=M1&${window}`);
      expect(answer).toMatchObject({ status: 503, ...failed("service_unavailable", { retry_after: 1 }) });
      expect(answer.headers.get("retry-after")).toBe("1");
    },
  );

  test("without the database, a cached window continues with new rows of the view, and new answers are not cached", async () => {
    away = false;
    const query = "ticker=EURJPY&timeframe=M1&limit=20";
    await ask(query);
    away = true;
    await ask("ticker=EURJPY&timeframe=M1&limit=9");
    live().kline(testKline("EURJPY", "M1", NOW, 1.7));
    expect((await ask(query)).body.data.items.at(-1).close).toBe(1.7);
    away = false;
    const before = live().reads();
    await ask("ticker=EURJPY&timeframe=M1&limit=9");
    expect(live().reads()).toBe(before + 1);
  });

  test("a node without market events answers nothing from memory", async () => {
    away = true;
    const market = live();
    const { isBehind } = market;
    Object.assign(market, { isBehind: () => true });
    expect(await ask("ticker=EURJPY&timeframe=M1&limit=8")).toMatchObject({ status: 503 });
    Object.assign(market, { isBehind });
    expect(await ask("ticker=EURJPY&timeframe=M1&limit=8")).toMatchObject({ status: 200 });
  });

  test("other errors of the store are not hidden", async () => {
    error = new Error("a bug");
    expect(await ask("ticker=EURJPY&timeframe=M1&limit=1")).toMatchObject({ status: 500, ...failed("internal_error") });
  });
});

describe("caching", () => {
  const query = `ticker=USDCHF&timeframe=H1&from=${NOW - 36_000}&to=${NOW - HOUR_S}`;
  beforeAll(() => live().store.writeBatch(testKlines("USDCHF", "H1", NOW - 36_000, 10, 3_600), []));

  test("a window of closed klines may be cached, with a strong ETag that gives 304", async () => {
    const answer = await ask(query);
    const etag = answer.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]{20,}"$/);
    expect(answer.headers.get("cache-control")).toMatch(/^private, max-age=\d+, immutable$/);
    expect(answer.headers.get("vary")).toBe("Origin, Accept, Authorization");
    for (const validator of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await ask(query, { "if-none-match": validator });
      expect(again).toMatchObject({ status: 304, text: "" });
      expect(again.headers.get("etag")).toBe(etag);
      expect(again.headers.has("ratelimit")).toBe(true);
    }
    expect((await ask(query, { "if-none-match": '"other"' })).status).toBe(200);
    expect((await ask(`${query}&limit=3`)).headers.get("etag")).not.toBe(etag);
  });

  test("caching starts 2 s after the end of the window's last kline, on the clock", async () => {
    const closing = `ticker=USDCHF&timeframe=H1&from=${NOW - 36_000}&to=${NOW}`;
    for (const [ms, kept] of [
      [1_999, false],
      [2_000, true],
    ] as const) {
      t.clock.set(TEST_START_MS + ms);
      const answer = await ask(closing);
      expect(answer.headers.has("etag")).toBe(kept);
      expect(answer.headers.get("cache-control")).toMatch(kept ? /immutable/ : /^no-store$/);
    }
  });

  test("a window that ends with now may not be cached", async () => {
    expect((await ask("ticker=USDCHF&timeframe=H1")).headers.get("cache-control")).toBe("no-store");
  });

  test("a window past what the feed or another node has reached may not be cached", async () => {
    const market = live();
    const { closedUpTo } = market;
    Object.assign(market, { closedUpTo: () => (NOW - HOUR_S) * 1000 + 1_999 });
    expect((await ask(query)).headers.get("cache-control")).toBe("no-store");
    Object.assign(market, { closedUpTo: () => (NOW - HOUR_S) * 1000 + 2_000 });
    expect((await ask(query)).headers.get("cache-control")).toMatch(/immutable/);
    Object.assign(market, { closedUpTo });
  });
});

describe("computed days", () => {
  /** Every read of the sandbox computes half of what the demo key may have computed in a minute. */
  beforeAll(() => {
    const { store } = t.markets.sandbox;
    const read: typeof store.read = async ({ admitDays }) => {
      admitDays?.(DEMO_COMPUTED_DAYS_PER_MINUTE_COUNT / 2);
      return [];
    };
    Object.assign(store, { read });
  });

  test("all users of the demo key together have a limit of computed days, and a key of one's own has none", async () => {
    const { text: own } = await t.issueKey({ venue: "sandbox" });
    const window = (month: number) => `${PATH}?ticker=EURUSD&timeframe=D1&from=${Date.UTC(2024, month) / 1000}`;
    const call = (path: string, key: string) => t.ask(path, { key, address: freshAddress() });
    expect((await call(window(0), DEMO_KEY)).status).toBe(200);
    const status = `/api/v1/market/status?tickers=EURUSD&at=2024-01-03T12:00:00Z`;
    expect((await call(status, DEMO_KEY)).status).toBe(200);
    const refused = await call(window(1), DEMO_KEY);
    expect(refused).toMatchObject({ status: 429, ...failed("rate_limited", { retry_after: 60 }) });
    expect(refused.headers.get("retry-after")).toBe("60");
    expect((await call(status, DEMO_KEY)).status).toBe(429);
    // Even in the same moment.
    const [stranger, owner] = await Promise.all([call(window(2), DEMO_KEY), call(window(2), own)]);
    expect([stranger.status, owner.status]).toEqual([429, 200]);
    expect((await call(window(0), DEMO_KEY)).status).toBe(200);
    t.clock.set(TEST_START_MS + 60_000);
    expect((await call(window(1), DEMO_KEY)).status).toBe(200);
  });
});

describe("klines that lack ticks", () => {
  const minutes = [NOW - 7_200 + 120, NOW - 7_200 + 300];
  beforeAll(async () => {
    await live().store.writeBatch(testKlines("NZDJPY", "M1", NOW - 7_200, 10, 60), []);
    await live().store.writeBatch(testKlines("NZDJPY", "H1", NOW - 10_800, 3, HOUR_S), []);
    const lacking = { revision: () => 0, minutes: async (ticker: string) => (ticker === "NZDJPY" ? minutes : []) };
    const { stored } = live().store;
    Object.assign(live().store, { stored: { ...stored, lacking } });
    return () => Object.assign(live().store, { stored });
  });

  test("an answer names those among its klines, whatever their timeframe, and has no such field where there are none", async () => {
    const range = `ticker=NZDJPY&from=${NOW - 10_800}`;
    expect((await ask(`${range}&timeframe=M1`)).body.data.incomplete).toEqual(minutes);
    expect((await ask(`${range}&timeframe=M1`)).body.data.incomplete).toEqual(minutes);
    expect((await ask(`${range}&timeframe=H1`)).body.data.incomplete).toEqual([NOW - 7_200]);
    // The limit leaves the second one out.
    expect((await ask(`${range}&timeframe=M1&limit=4`)).body.data.incomplete).toEqual(minutes.slice(0, 1));
    expect((await ask(`${range}&timeframe=M1&limit=2`)).body.data).not.toHaveProperty("incomplete");
    expect((await ask(`ticker=EURUSD&timeframe=M1&limit=5`)).body.data).not.toHaveProperty("incomplete");
  });
});
