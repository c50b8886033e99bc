import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import { failed, TEST_START_MS, type TestRuntime, testRuntime } from "#server/testing/runtime";

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
