import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  DEMO_COMPUTED_DAYS_PER_MINUTE_COUNT,
  PLAN_DEFAULTS,
  SUMMARY_MAX_DAYS,
  SUMMARY_MAX_ROWS,
  SUMMARY_MAX_TOKENS,
  SUMMARY_MINUTES_MAX_DAYS,
} from "#lib/contract/limits";
import { type CalendarDefinition, compileCalendar } from "#lib/domain/calendar";
import { metals } from "#lib/domain/calendars/metals";
import type { Kline } from "#lib/domain/kline";
import { DAY_MS, DAY_S, HOUR_S, MINUTE_S } from "#lib/units";
import { testKline } from "#server/testing/market";
import { DEMO_KEY, failed, freshAddress, TEST_START_MS, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { ENDLESS_PLAN } from "#server/testing/stream-keys";
import { marketSummary, type SummaryRow, tableOfSummary } from "./declaration";

/** Monday, 5 January 2026, the trading day of which began on Sunday at 22:00 UTC. */
const MONDAY_S = Date.UTC(2026, 0, 4, 22) / 1000;
const PATH = marketSummary.path;
let t: TestRuntime;
let definition: CalendarDefinition | undefined;

beforeAll(async () => {
  t = await testRuntime();
  const { catalogue } = t.markets.live as { catalogue: { calendar: unknown } };
  catalogue.calendar = () => (definition === undefined ? undefined : compileCalendar(definition, []));
});
beforeEach(() => {
  t.clock.set(TEST_START_MS);
  definition = metals;
});
afterAll(() => t.close());

const ask = (query: string, headers: Record<string, string> = {}) => t.ask(`${PATH}?${query}`, { headers });
const put = (rows: readonly Kline[]) => t.markets.live.store.writeBatch(rows, []);
const date = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10);
const day = (iso: string) => Date.parse(iso) / DAY_MS;

/** A minute of gold with its own prices. */
const minute = (ticker: string, time: number, prices: Partial<Kline>): Kline => ({ ...testKline(ticker, "M1", time), ...prices });

describe("the figures of a row", () => {
  const hourS = MONDAY_S + 2 * HOUR_S;
  beforeAll(() =>
    put([
      minute("XAUUSD", hourS, { open: 100, high: 103, low: 99, close: 102, spread: 0.2 }),
      minute("XAUUSD", hourS + 60, { open: 102, high: 104, low: 101, close: 101, spread: null }),
      minute("XAUUSD", hourS + HOUR_S, { open: 101, high: 102, low: 100, close: 100, spread: 0.3 }),
      minute("XAUUSD", hourS + DAY_S, { open: 100, high: 110, low: 100, close: 109, spread: null }),
    ]),
  );

  test("a row of one period has its prices, and spreads that are not known are left out of the mean", async () => {
    const { items } = (await ask("ticker=XAUUSD&from=2026-01-05&to=2026-01-07&by=day")).body.data;
    expect(items).toMatchObject([
      {
        group: "2026-01-05",
        periods: 1,
        open: 100,
        high: 104,
        low: 99,
        close: 100,
        range: 5,
        change: 0,
        up: 0,
        spread: 0.25,
        count: 3,
        expected_count: 1_380,
      },
      { group: "2026-01-06", range: 10, change: 9, up: 1, spread: null, count: 1 },
    ]);
  });

  test("a row of several periods has means, the median and the widest, and no prices", async () => {
    const { items } = (await ask("ticker=XAUUSD&from=2026-01-05&to=2026-01-07&by=all")).body.data;
    expect(items).toMatchObject([
      { group: "all", periods: 2, open: null, high: null, low: null, close: null, range: 7.5, median_range: 7.5 },
    ]);
    expect(items[0]).toMatchObject({ max_range: 10, max_range_on: "2026-01-06", change: 4.5, up: 1 });
  });

  test("a period without klines is a gap: it has a row with nothing in it, and counts what is missing", async () => {
    const { items } = (await ask("ticker=XAUUSD&from=2026-01-02&to=2026-01-03&by=day")).body.data;
    expect(items).toEqual([
      {
        group: "2026-01-02",
        periods: 0,
        open: null,
        high: null,
        low: null,
        close: null,
        range: null,
        median_range: null,
        max_range: null,
        max_range_on: null,
        change: null,
        up: 0,
        spread: null,
        count: 0,
        expected_count: 1_380,
      },
    ]);
  });

  test("without a calendar, klines count and nothing is expected", async () => {
    definition = undefined;
    const { items } = (await ask("ticker=XAUUSD&from=2026-01-05&to=2026-01-06&by=weekday")).body.data;
    expect(items).toMatchObject([{ group: "Mon", range: 5, count: 3, expected_count: null }]);
    expect((await ask("ticker=XAUUSD&from=2026-01-05&to=2026-01-06&by=event")).body.data.items).toEqual([]);
  });

  test("a day that goes on counts what was expected so far, and days to come have no row", async () => {
    const { items } = (await ask("ticker=XAUUSD&from=2026-01-07&to=2026-02-07&by=day")).body.data;
    // From 23:00, after the daily break, to 12:00, with the minute that runs.
    expect(items).toMatchObject([{ group: "2026-01-07", count: 0, expected_count: 13 * 60 + 1 }]);
  });

  test("a market that opens and closes by the minute takes no longer than others, and expects what it is open", async () => {
    definition = { kind: "cycle", anchorS: 0, openS: 60, closedS: 60 };
    const { items } = (await ask("ticker=EURJPY&from=2025-01-01&to=2026-01-01&by=event")).body.data;
    expect(items.find(({ group }: SummaryRow) => group === "ordinary").expected_count).toBeGreaterThan(0);
    const one = (await ask("ticker=EURJPY&from=2025-12-01&to=2025-12-02&by=day")).body.data.items;
    expect(one).toMatchObject([{ expected_count: 720 }]);
  });
});

describe("days, weeks and months", () => {
  beforeAll(async () => {
    definition = metals;
    const rows: Kline[] = [];
    for (let time = MONDAY_S - 60 * DAY_S, price = 100; time < MONDAY_S + 2 * DAY_S; time += 7 * HOUR_S) {
      price += Math.sin(time) * 3;
      rows.push(minute("EURUSD", time, { open: price, high: price + 1, low: price - 2, close: price + 0.5 }));
    }
    await put(rows);
  });

  test.each([
    ["day", "D1", "2025-12-08", "2026-01-07"],
    ["week", "W1", "2025-11-10", "2026-01-12"],
    ["month", "MN1", "2025-11-01", "2026-02-01"],
  ])("a row of by=%s has the prices of its %s kline", async (by, timeframe, from, to) => {
    definition = { kind: "always" };
    const { items } = (await ask(`ticker=EURUSD&from=${from}&to=${to}&by=${by}`)).body.data;
    const start = Date.parse(from) / 1000 - 7 * HOUR_S;
    const klines = (await t.ask(`/api/v1/market/klines?ticker=EURUSD&timeframe=${timeframe}&from=${start}`)).body.data.items;
    const prices = ({ open, high, low, close }: Kline | SummaryRow) => [open, high, low, close].map((price) => price?.toFixed(5));
    const found = items.filter(({ count }: SummaryRow) => count > 0);
    expect(found.length).toBeGreaterThan(1);
    expect(found.map(prices)).toEqual(klines.slice(-found.length).map(prices));
  });
});

describe("bounds", () => {
  test("more rows than the most are refused, with what to ask for instead", async () => {
    definition = { kind: "always" };
    const from = day("2025-01-01");
    const rows = async (by: string, days: number) => ask(`ticker=EURGBP&from=${date(from)}&to=${date(from + days)}&by=${by}`);
    expect((await rows("day", SUMMARY_MAX_ROWS)).body.data.items).toHaveLength(SUMMARY_MAX_ROWS);
    const refused = await rows("day", SUMMARY_MAX_ROWS + 1);
    expect(refused).toMatchObject({ status: 400, ...failed("invalid_range", { parameter: "by", max: SUMMARY_MAX_ROWS }) });
    expect(refused.body.data.detail).toMatch(/shorter range.*by=month.*klines in D1/);
    expect(await rows("week", 7 * SUMMARY_MAX_ROWS + 14)).toMatchObject(failed("invalid_range"));
    expect((await rows("month", 366)).body.data.items).toHaveLength(13);
  });

  test(`a range of ${SUMMARY_MAX_DAYS} days is the longest`, async () => {
    const last = day("2026-01-01");
    const range = (days: number) => ask(`ticker=EURGBP&from=${date(last - days)}&to=${date(last)}&by=year`);
    expect((await range(SUMMARY_MAX_DAYS)).status).toBe(200);
    expect(await range(SUMMARY_MAX_DAYS + 1)).toMatchObject(failed("invalid_range", { parameter: "from" }));
  });

  test("the cost follows the klines that are read, and the demo key can pay for any range", async () => {
    const costOf = async (days: number) =>
      Number((await ask(`ticker=EURGBP&from=${date(20_000)}&to=${date(20_000 + days)}&by=all`)).headers.get("x-ratelimit-cost"));
    expect(await costOf(1)).toBe(1);
    expect(await costOf(SUMMARY_MINUTES_MAX_DAYS)).toBe(18);
    expect(await costOf(SUMMARY_MINUTES_MAX_DAYS + 1)).toBe(1);
    expect(await costOf(366)).toBe(2);
    for (let days = 1; days <= SUMMARY_MAX_DAYS; days += 1) {
      const query = { from: date(0), to: date(days) } as Parameters<typeof marketSummary.cost>[0];
      expect(marketSummary.cost(query)).toBeLessThanOrEqual(PLAN_DEFAULTS.demo.restBurst);
    }
  });

  test("the demo key cannot have the sandbox compute more than its share", async () => {
    const { store } = t.markets.sandbox;
    const { read } = store;
    const half: typeof read = async ({ admitDays }) => {
      admitDays?.(DEMO_COMPUTED_DAYS_PER_MINUTE_COUNT / 2);
      return [];
    };
    Object.assign(store, { read: half });
    const call = async (key: string) => {
      const query = "ticker=EURUSD&from=2024-01-01&to=2025-01-01&by=all";
      return (await t.ask(`${PATH}?${query}`, { key, address: freshAddress() })).status;
    };
    const { text: own } = await t.issueKey({ venue: "sandbox" });
    expect([await call(DEMO_KEY), await call(DEMO_KEY), await call(DEMO_KEY), await call(own)]).toEqual([200, 200, 429, 200]);
    Object.assign(store, { read });
  });

  test("a read has a bound, whatever the range, and a decade is read in few of them", async () => {
    const { store } = t.markets.live;
    const { read } = store;
    const limits: number[] = [];
    const spying: typeof read = async (query) => {
      limits.push((query.to - query.from) / (query.timeframe === "M1" ? MINUTE_S : HOUR_S));
      return read(query);
    };
    Object.assign(store, { read: spying });
    await ask(`ticker=EURGBP&from=2016-01-01&to=2026-01-01&by=year`);
    await ask(`ticker=EURGBP&from=2025-11-01&to=2026-01-01&by=all`);
    Object.assign(store, { read });
    expect(Math.max(...limits)).toBe(10_000);
    expect(limits.length).toBeLessThan(30);
  });

  test("too many that wait are refused, and asked to come again", async () => {
    const { store } = t.markets.live;
    const { read } = store;
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    Object.assign(store, { read: (query: Parameters<typeof read>[0]) => held.then(() => read(query)) });
    const query = "ticker=EURGBP&from=2025-12-01&to=2025-12-02&by=day";
    const answers = Array.from({ length: 66 }, () => ask(query));
    release();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    Object.assign(store, { read });
    expect(statuses.filter((status) => status === 503)).toHaveLength(1);
    expect(statuses.filter((status) => status === 200)).toHaveLength(65);
  });

  /** As in questions.test.ts: shorter pieces than any tokenizer takes. */
  const tokensOf = (text: string) => (text.match(/\d{1,3}|[A-Za-z]{1,4}|[^A-Za-z0-9]/g) ?? []).length;
  const long = (group: string, digits: number): SummaryRow => {
    const price = -(98_765 + 1 / 3);
    const shown = Number(price.toFixed(digits));
    const figure = Number(price.toFixed(digits + 1));
    return {
      group,
      periods: 366,
      open: null,
      high: null,
      low: null,
      close: null,
      range: -figure,
      median_range: -figure,
      max_range: -shown,
      max_range_on: "2026-01-05",
      change: figure,
      up: 366,
      spread: 0.123456,
      count: 31_680,
      expected_count: 31_680,
    };
  };
  const one = (row: SummaryRow): SummaryRow => ({
    ...row,
    periods: 1,
    open: row.max_range,
    high: row.max_range,
    low: row.max_range,
    close: row.max_range,
  });
  const frame = {
    ticker: "XAUUSD",
    from: "2025-12-29",
    to: "2026-07-25",
    by: "week",
    timeframe: "H1",
    session: "new_york",
    part: "close",
  } as const;

  test.each([
    ["several periods", (group: string) => long(group, 3)],
    ["one period", (group: string) => one(long(group, 3))],
    [
      "small prices",
      (group: string) => ({ ...long(group, 5), range: 1.234567, median_range: 1.234567, max_range: 1.23456, change: -0.123456 }),
    ],
  ])(`the longest answer has at most ${SUMMARY_MAX_TOKENS} tokens: rows of %s`, (_, row) => {
    const items = Array.from({ length: SUMMARY_MAX_ROWS }, (_, index) => row(date(20_000 + 7 * index)));
    const text = JSON.stringify(tableOfSummary({ ...frame, items }));
    expect(tokensOf(text)).toBeLessThanOrEqual(SUMMARY_MAX_TOKENS);
    expect(tokensOf(text)).toBeGreaterThan(SUMMARY_MAX_TOKENS / 2);
  });
});

describe("requests", () => {
  const query = "ticker=EURGBP&from=2025-12-01&to=2025-12-06&by=day";

  test("Unix seconds and timestamps stand for their date", async () => {
    const { text } = await ask(query);
    for (const range of [
      `from=${Date.UTC(2025, 11, 1) / 1000}&to=${Date.UTC(2025, 11, 6) / 1000}`,
      "from=2025-12-01T00:00:00Z&to=2025-12-06T23:59:59Z",
      "from=2025-12-01T00:30:00%2B00:00&to=2025-12-06",
    ])
      expect((await ask(`ticker=eurgbp&${range}&by=day`)).text).toBe(text);
  });

  test.each([
    ["a date that does not exist", "from=2025-02-30&to=2025-12-06&by=day", "invalid_parameter", "from"],
    ["words", "from=yesterday&to=2025-12-06&by=day", "invalid_parameter", "from"],
    ["a date before 1970", "from=1969-12-31&to=2025-12-06&by=day", "invalid_parameter", "from"],
    ["no end", "from=2025-12-01&by=day", "missing_parameter", "to"],
    ["no kind of row", "from=2025-12-01&to=2025-12-06", "missing_parameter", "by"],
    ["an unknown kind of row", "from=2025-12-01&to=2025-12-06&by=hour", "invalid_parameter", "by"],
    ["an unknown session", "from=2025-12-01&to=2025-12-06&by=day&session=Paris", "invalid_parameter", "session"],
    ["an unknown part", "from=2025-12-01&to=2025-12-06&by=day&part=middle", "invalid_parameter", "part"],
    ["an unknown zone", "from=2025-12-01&to=2025-12-06&by=hour_of_day&zone=Mars/Base", "invalid_parameter", "zone"],
    ["a zone without hours", "from=2025-12-01&to=2025-12-06&by=day&zone=UTC", "invalid_parameter", "zone"],
    ["a zone of half hours", "from=2025-12-01&to=2025-12-06&by=hour_of_day&zone=Asia/Kolkata", "invalid_parameter", "zone"],
    ["an empty range", "from=2025-12-01&to=2025-12-01&by=day", "invalid_range", "from"],
  ] as const)("a request with %s is refused by name", async (_, wrong, error, parameter) => {
    expect(await ask(`ticker=EURGBP&${wrong}`)).toMatchObject({ status: 400, ...failed(error, { parameter }) });
  });

  test("history that the plan does not have is refused", async () => {
    await t.db.prisma.plan.create({ data: { ...ENDLESS_PLAN, name: "week", historyDays: 7 } });
    const { text: key } = await t.issueKey({ plan: "week" });
    const from = (iso: string) => t.ask(`${PATH}?ticker=EURGBP&from=${iso}&to=2026-01-07&by=all`, { key });
    expect(await from("2025-12-31")).toMatchObject({ status: 403, ...failed("not_in_plan", { parameter: "from" }) });
    // The trading day of the first date of history begins before it.
    expect((await from("2026-01-01")).status).toBe(200);
  });

  test("a range that has ended has a strong ETag that gives 304, and changes with its klines", async () => {
    const answer = await ask(query);
    const etag = answer.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]{20,}"$/);
    expect(answer.headers.get("cache-control")).toMatch(/^private, max-age=\d+, immutable$/);
    expect((await ask(query, { "if-none-match": etag })).status).toBe(304);
    await put([testKline("EURGBP", "M1", Date.UTC(2025, 11, 2, 10) / 1000)]);
    expect((await ask(query, { "if-none-match": etag })).status).toBe(200);
    const running = await ask("ticker=EURGBP&from=2025-12-01&to=2026-01-08&by=all");
    expect(running.headers.get("cache-control")).not.toMatch(/immutable/);
  });

  test("as CSV, a row is a line", async () => {
    const { text } = await ask(`${query}&format=csv`);
    const lines = text.trimEnd().split("\r\n");
    expect(lines[0]).toBe(
      "group,periods,open,high,low,close,range,median_range,max_range,max_range_on,change,up,spread,count,expected_count",
    );
    expect(lines.slice(1).map((line) => line.slice(0, 10))).toEqual([1, 2, 3, 4, 5].map((of) => `2025-12-0${of}`));
  });
});
