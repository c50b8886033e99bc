import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CONVERSION_TARGETS_MAX_COUNT } from "#lib/contract/limits";
import { failed, TEST_START_MS, type TestRuntime, testRuntime } from "#server/testing/runtime";

let t: TestRuntime;

beforeAll(async () => {
  t = await testRuntime();
  const { live } = t.markets;
  live.quote("USDJPY", 156.012, 156.021, TEST_START_MS - 5);
  live.quote("EURUSD", 1.08543, 1.08551, TEST_START_MS);
  live.quote("XAUUSD", 4_012.345, 4_012.845, TEST_START_MS);
});
beforeEach(() => t.clock.set(TEST_START_MS));
afterAll(() => t.close());

const convert = (query: string, key?: string) =>
  t.ask(`/api/v1/market/conversion?${query}`, { ...(key !== undefined && { key }) });
const itemsOf = async (query: string) => (await convert(query)).body.data.items;

describe("a conversion", () => {
  test("answers each target in the order of the request, in any case and without duplicates", async () => {
    expect(await itemsOf("from=usd&to=jpy,%20eur,JPY,USD&amount=1000")).toMatchObject([
      { from: "USD", to: "JPY", amount: 1000, bid: 156.012, bid_amount: 156_012, legs: [{ ticker: "USDJPY", inverted: false }] },
      { to: "EUR", bid: 0.921225967517, legs: [{ ticker: "EURUSD", inverted: true }] },
      { to: "USD", bid: 1, legs: [], time_msc: null },
    ]);
  });

  test("counts one unit without an amount, and takes repeated parameters as a list", async () => {
    expect(await itemsOf("from=XAU&to=JPY&to=EUR")).toMatchObject([
      { amount: 1, bid_amount: 625_973.96814, time_msc: TEST_START_MS - 5, legs: [{ ticker: "XAUUSD" }, { ticker: "USDJPY" }] },
      { to: "EUR" },
    ]);
  });

  test("is stale from the moment that one of its quotes is", async () => {
    t.clock.set(TEST_START_MS + 59_999);
    expect(await itemsOf("from=EUR&to=JPY,USD")).toMatchObject([
      {
        market_data_state: "stale",
        legs: [
          { ticker: "EURUSD", market_data_state: "live" },
          { ticker: "USDJPY", market_data_state: "stale" },
        ],
      },
      { market_data_state: "live" },
    ]);
  });

  test("lists targets without quotes; when none has quotes, the answer is market_data_not_ready", async () => {
    expect((await convert("from=USD&to=CHF,EUR,GBP")).body.data).toMatchObject({
      items: [{ to: "EUR" }],
      missing: ["CHF", "GBP"],
    });
    const answer = await convert("from=USD&to=CHF,GBP");
    expect(answer).toMatchObject({
      status: 503,
      ...failed("market_data_not_ready", { tickers: ["CHF", "GBP"], retry_after: 1 }),
    });
    expect(answer.headers.get("retry-after")).toBe("1");
  });

  test("is never stored by caches and costs one unit for any number of targets", async () => {
    const remaining = (answer: Awaited<ReturnType<typeof convert>>) => Number(answer.headers.get("x-ratelimit-remaining"));
    const { text: key } = await t.issueKey();
    const before = await convert("from=USD&to=JPY", key);
    const after = await convert("from=USD&to=JPY,EUR,XAU,USD", key);
    expect(after.headers.get("cache-control")).toBe("no-store");
    expect(remaining(before) - remaining(after)).toBe(1);
  });
});

describe("a conversion is refused", () => {
  test("for a currency that no instrument has, with the probable one", async () => {
    expect(await convert("from=GOLD&to=USD")).toMatchObject(
      failed("unknown_ticker", { parameter: "from", tickers: ["GOLD"], suggestion: "XAU" }),
    );
    expect(await convert("from=USD&to=EUR,EURO,ABC")).toMatchObject(
      failed("unknown_ticker", { parameter: "to", tickers: ["EURO", "ABC"], suggestion: "EUR" }),
    );
  });

  test("for currencies of instruments that the caller may not read, and of test tickers", async () => {
    const { text: key } = await t.issueKey({ permissions: { kind: "tickers", values: ["EURUSD"] } });
    expect(await convert("from=EUR&to=USD,JPY", key)).toMatchObject(failed("unknown_ticker", { tickers: ["JPY"] }));
    expect(await convert("from=EUR&to=USD", key)).toMatchObject({ status: 200 });
    const { text: sandbox } = await t.issueKey({ venue: "sandbox" });
    expect(await convert("from=XTS&to=USD", sandbox)).toMatchObject(failed("unknown_ticker", { tickers: ["XTS"] }));
  });

  test("past two legs", async () => {
    expect(await convert("from=CZK&to=EUR,XPD")).toMatchObject(failed("unknown_ticker", { parameter: "to", tickers: ["XPD"] }));
  });

  test.each([
    ["from=USD", "missing_parameter", { parameter: "to" }],
    ["to=USD", "missing_parameter", { parameter: "from" }],
    ["from=USD&to=JPY,,EUR", "missing_parameter", { parameter: "to" }],
    ["from=US$&to=JPY", "invalid_parameter", { parameter: "from", detail: expect.stringContaining("currency code") }],
    ["from=USD,EUR&to=JPY", "invalid_parameter", { parameter: "from" }],
    ["from=USD&from=EUR&to=JPY", "invalid_parameter", { parameter: "from" }],
    ["from=USD&to=JPY/EUR", "invalid_parameter", { parameter: "to" }],
    ["from=USD&to=JPY&amount=1,000", "invalid_parameter", { parameter: "amount", detail: expect.stringContaining("1000") }],
    ["from=USD&to=JPY&amount=", "invalid_parameter", { parameter: "amount" }],
    ["from=USD&to=JPY&amount=-1", "invalid_parameter", { parameter: "amount" }],
    ["from=USD&to=JPY&amount=0", "invalid_parameter", { parameter: "amount" }],
    ["from=USD&to=JPY&amount=1e3", "invalid_parameter", { parameter: "amount" }],
    ["from=USD&to=JPY&amount=1000000000000.1", "invalid_parameter", { parameter: "amount", max: 1e12 }],
    [`from=USD&to=JPY&amount=1${"0".repeat(40)}`, "invalid_parameter", { parameter: "amount" }],
  ] as const)("with %s", async (query, error, data) => {
    expect(await convert(query)).toMatchObject(failed(error, data));
  });

  test("with more targets than the limit", async () => {
    const codes = Array.from({ length: CONVERSION_TARGETS_MAX_COUNT + 1 }, (_, index) => `A${index}`);
    expect(await convert(`from=USD&to=${codes}`)).toMatchObject(
      failed("invalid_parameter", { parameter: "to", max: CONVERSION_TARGETS_MAX_COUNT }),
    );
    expect(await convert(`from=USD&to=${codes.slice(1)}`)).toMatchObject(failed("unknown_ticker"));
  });
});
