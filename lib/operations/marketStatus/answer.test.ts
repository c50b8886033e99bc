import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import { testKline } from "#server/testing/market";
import { TEST_START_MS, type TestRuntime, testRuntime } from "#server/testing/runtime";

const NOW = TEST_START_MS / 1000;
let t: TestRuntime;

beforeAll(async () => {
  t = await testRuntime();
});
beforeEach(() => t.clock.set(TEST_START_MS));
afterAll(() => t.close());

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
