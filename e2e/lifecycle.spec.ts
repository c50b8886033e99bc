import { afterEach, describe, expect, test } from "vitest";
import { DAY_S } from "#lib/units";
import { stranger } from "./client";
import { API_ONLY, type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

const CASE_TIMEOUT_MS = 3 * SERVER_TIMEOUT_MS;

let running: Product | undefined;

afterEach(async () => {
  await running?.dispose();
  running = undefined;
}, SERVER_TIMEOUT_MS);

/** The body of a window of closed klines. */
async function closedWindow({ baseUrl, demoKey }: Product): Promise<string> {
  const to = Math.floor(Date.now() / 1000 / DAY_S) * DAY_S - DAY_S;
  const path = `/api/v1/market/klines?ticker=XAUUSD&timeframe=H1&from=${to - DAY_S}&to=${to}`;
  const { status, text } = await stranger(baseUrl, "198.51.100.1", demoKey).call(path);
  expect(status).toBe(200);
  return text;
}

describe("the product", () => {
  test(
    "the product starts on an empty data directory, stops on request, starts again, and answers the same",
    async () => {
      const first = await startProduct({}, { emptyData: true });
      running = first;
      const before = await closedWindow(first);
      expect(await first.stop()).toBe(0);
      running = await first.restart();
      expect(await closedWindow(running)).toBe(before);
    },
    CASE_TIMEOUT_MS,
  );

  test(
    "the product starts again after a kill, and answers the same",
    async () => {
      const first = await startProduct();
      running = first;
      const before = await closedWindow(first);
      await first.kill9();
      running = await first.restart();
      expect(await closedWindow(running)).toBe(before);
    },
    CASE_TIMEOUT_MS,
  );

  test(
    "a second instance on the same data is refused with a message, and the first continues",
    async () => {
      running = await startProduct(API_ONLY);
      await expect(running.restart()).rejects.toThrow(running.dataDir);
      expect(await closedWindow(running)).toContain('"code":0');
    },
    CASE_TIMEOUT_MS,
  );

  test("an invalid variable is named and prevents the start", async () => {
    await expect(startProduct({ ...API_ONLY, LIVE_FEED: "carrier-pigeon" })).rejects.toThrow(/LIVE_FEED/);
  });
});
