import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LIVE_LISTINGS, SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import { type TestRuntime, testRuntime } from "#server/testing/runtime";

let t: TestRuntime;

beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

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
