import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { LIVE_LISTINGS, SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { testKline } from "#server/testing/market";
import { failed, TEST_START_MS, type TestRuntime, testRuntime } from "#server/testing/runtime";

const NOW = TEST_START_MS / 1000;
let t: TestRuntime;

beforeAll(async () => {
  t = await testRuntime();
});
beforeEach(() => t.clock.set(TEST_START_MS));
afterAll(() => t.close());

describe.each(["quotes", "snapshots"])("latest %s", (kind) => {
  const ask = (tickers: string) => t.ask(`/api/v1/market/${kind}/latest?tickers=${tickers}`);

  test("latest records come in request order without duplicates; case and blanks of tickers do not matter", async () => {
    for (const ticker of ["EURUSD", "XAUUSD"]) t.markets.live.quote(ticker, 1.1, 1.2, TEST_START_MS);
    const { items, missing } = (await ask("%20xauusd%20,EURUSD,XAUUSD%2Ceurusd")).body.data;
    expect(items.map(({ ticker }: { ticker: string }) => ticker)).toEqual(["XAUUSD", "EURUSD"]);
    expect(items[0].type).toBe(kind.slice(0, -1));
    expect(missing).toBeUndefined();
  });

  test("tickers without a record are listed; when none has a record, the answer is market_data_not_ready", async () => {
    expect((await ask("USDZAR,EURUSD,USDSGD")).body.data).toMatchObject({
      items: [{ ticker: "EURUSD" }],
      missing: ["USDZAR", "USDSGD"],
    });
    const answer = await ask("USDZAR,USDSGD");
    expect(answer).toMatchObject({
      status: 503,
      ...failed("market_data_not_ready", { tickers: ["USDZAR", "USDSGD"], retry_after: 1 }),
    });
    expect(answer.headers.get("retry-after")).toBe("1");
  });

  test("the same request has the new record at once when one changes or arrives, and each venue has its own", async () => {
    const { text: key } = await t.issueKey({ venue: "sandbox" });
    const later = kind === "quotes" ? "USDNOK" : "USDSEK";
    const prices = (answer: Awaited<ReturnType<typeof ask>>) => answer.body.data?.items?.map(({ bid }: { bid: number }) => bid);
    t.markets.live.quote("EURUSD", 1.1, 1.2, TEST_START_MS + 1);
    expect(prices(await ask(`EURUSD,${later}`))).toEqual([1.1]);
    t.markets.live.quote("EURUSD", 1.15, 1.2, TEST_START_MS + 2);
    expect(prices(await ask(`EURUSD,${later}`))).toEqual([1.15]);
    const elsewhere = await t.ask(`/api/v1/market/${kind}/latest?tickers=EURUSD,${later}`, { key });
    expect(prices(elsewhere)).not.toEqual([1.15]);
    t.markets.live.quote(later, 10.1, 10.3, TEST_START_MS + 3);
    expect(prices(await ask(`EURUSD,${later}`))).toHaveLength(2);
  });

  test("one unknown ticker refuses the whole request for latest records", async () => {
    expect(await ask("EURUSD,AAABBB")).toMatchObject(failed("unknown_ticker", { tickers: ["AAABBB"] }));
  });

  test("latest records of a hundred tickers come in one request", async () => {
    const hundred = LIVE_LISTINGS.map(({ ticker }) => ticker).join(",");
    expect((await ask(`${hundred},${hundred}`)).status).toBe(200);
  });
});

describe("instruments", () => {
  test("instruments are those of the key's venue by asset class, then ticker", async () => {
    const { items } = (await t.ask("/api/v1/market/instruments")).body.data;
    expect(items.map(({ ticker }: { ticker: string }) => ticker)).toEqual(LIVE_LISTINGS.map(({ ticker }) => ticker));
    expect(items[0]).toMatchObject({
      display_name: items[0].ticker,
      name: "Australian Dollar / Canadian Dollar",
      asset_class: "forex",
      streams: ["quote", "kline", "snapshot"],
    });
    const { text: key } = await t.issueKey({ venue: "sandbox" });
    expect((await t.ask("/api/v1/market/instruments", { key })).body.data.items).toHaveLength(SANDBOX_LISTINGS.length);
  });

  test("instruments are limited to those the account may read", async () => {
    const { text: key } = await t.issueKey({ permissions: { kind: "asset_classes", values: ["metals"] } });
    const { items } = (await t.ask("/api/v1/market/instruments", { key })).body.data;
    expect(new Set(items.map((item: { asset_class: string }) => item.asset_class))).toEqual(new Set(["metals"]));
  });
});

describe("market status", () => {
  const status = async (tickers: string, at?: string) =>
    (await t.ask(`/api/v1/market/status?tickers=${tickers}${at === undefined ? "" : `&at=${encodeURIComponent(at)}`}`)).body.data
      .items;

  test("the current market status uses the newest quote", async () => {
    t.markets.live.quote("EURUSD", 1.1, 1.2, TEST_START_MS - 60_000);
    t.markets.live.quote("GBPUSD", 1.1, 1.2, TEST_START_MS - 60_001);
    expect(await status("EURUSD,GBPUSD,NZDCAD")).toMatchObject([
      {
        ticker: "EURUSD",
        calendar_state: "open",
        market_data_state: "live",
        final_display_state: "open",
        reason: null,
        provider_source: null,
      },
      {
        ticker: "GBPUSD",
        market_data_state: "stale",
        final_display_state: "open_data_stale",
        reason: "quote_older_than_threshold",
      },
      { ticker: "NZDCAD", market_data_state: "missing", final_display_state: "open_data_missing", reason: "no_quote_since_open" },
    ]);
    const [item] = await status("EURUSD");
    expect(item).toMatchObject({ updated_at: "2026-01-07T12:00:00.000Z", next_close_at: expect.stringMatching(/Z$/) });
  });

  test("a market status is of its millisecond, of its venue, and of the newest quote at once", async () => {
    const { text: key } = await t.issueKey({ venue: "sandbox" });
    const ask = async (given = {}) => {
      const { items } = (await t.ask("/api/v1/market/status?tickers=USDHUF,USDPLN", given)).body.data;
      return items.map((item: Record<string, string>) => [
        item.market_data_state,
        item.updated_at?.slice(17),
        item.provider_source,
      ]);
    };
    expect(await ask()).toEqual(Array(2).fill(["missing", "00.000Z", null]));
    expect(await ask({ key })).toEqual(Array(2).fill([expect.any(String), "00.000Z", "sandbox"]));
    t.markets.live.quote("USDPLN", 1.1, 1.2, TEST_START_MS);
    expect(await ask()).toEqual([
      ["missing", "00.000Z", null],
      ["live", "00.000Z", null],
    ]);
    t.clock.set(TEST_START_MS + 1);
    expect(await ask()).toEqual([
      ["missing", "00.001Z", null],
      ["live", "00.001Z", null],
    ]);
  });

  test("every question is answered, even when one millisecond has more of them than the cache keeps", async () => {
    const all = LIVE_LISTINGS.map(({ ticker }) => ticker);
    const lists = all.map((_, index) => [...all.slice(index), ...all.slice(0, index)]);
    for (let round = 0; round < 2; round += 1)
      for (const list of lists) {
        const items: { ticker: string }[] = await status(list.join(","));
        expect(items.map(({ ticker }) => ticker)).toEqual(list);
      }
  });

  test("a past market status uses stored klines", async () => {
    const minute = Date.UTC(2026, 0, 6, 10, 0) / 1000;
    await t.markets.live.store.writeBatch([testKline("AUDUSD", "M1", minute)], []);
    const at = (second: number) => new Date((minute + second) * 1000).toISOString();
    expect(await status("AUDUSD", at(-1))).toMatchObject([{ market_data_state: "missing" }]);
    expect(await status("AUDUSD", at(0))).toMatchObject([{ market_data_state: "live", final_display_state: "open" }]);
    expect(await status("AUDUSD", at(119))).toMatchObject([{ market_data_state: "live" }]);
    expect(await status("AUDUSD", at(120))).toMatchObject([
      { market_data_state: "stale", final_display_state: "open_data_stale" },
    ]);
  });

  test("a past market status includes klines that are not stored yet", async () => {
    t.markets.live.kline(testKline("NZDUSD", "M1", NOW - 600));
    expect(await status("NZDUSD", new Date((NOW - 590) * 1000).toISOString())).toMatchObject([{ market_data_state: "live" }]);
  });

  test("a future market status uses only the calendar", async () => {
    expect(await status("EURUSD", "2026-01-10T12:00:00+00:00")).toMatchObject([
      { calendar_state: "closed", market_data_state: "missing", final_display_state: "closed", reason: "projected" },
    ]);
    expect(await status("EURUSD", "2026-01-08T12:00:00Z")).toMatchObject([{ final_display_state: "open", reason: "projected" }]);
  });

  test("the market status of an instrument without a calendar is unknown, not an error", async () => {
    const { text: key } = await t.issueKey({ venue: "sandbox" });
    const answer = await t.ask("/api/v1/market/status?tickers=TESTUNKNOWN", { key });
    expect(answer.body.data.items).toMatchObject([
      { final_display_state: "unknown", reason: "calendar_missing", provider_source: "sandbox" },
    ]);
  });
});
