import { afterEach, describe, expect, test } from "vitest";
import { DAY_S } from "#lib/units";
import { stranger } from "./client";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

const CASE_TIMEOUT_MS = 3 * SERVER_TIMEOUT_MS;

let running: Product | undefined;

afterEach(async () => {
  await running?.dispose();
  running = undefined;
}, SERVER_TIMEOUT_MS);

/** The body of a window of klines that is over. */
async function closedWindow({ baseUrl, demoKey }: Product): Promise<string> {
  const to = Math.floor(Date.now() / 1000 / DAY_S) * DAY_S - DAY_S;
  const path = `/api/v1/market/klines?ticker=XAUUSD&timeframe=H1&from=${to - DAY_S}&to=${to}`;
  const { status, text } = await stranger(baseUrl, "198.51.100.1", demoKey).call(path);
  expect(status).toBe(200);
  return text;
}

describe("the product", () => {
  test(
    "stops when it is asked to, starts again, and answers the same",
    async () => {
      const first = await startProduct();
      running = first;
      const before = await closedWindow(first);
      expect(await first.stop()).toBe(0);
      running = await first.restart();
      expect(await closedWindow(running)).toBe(before);
    },
    CASE_TIMEOUT_MS,
  );

  test(
    "comes back after it was killed, and answers the same",
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
    "refuses a second instance on the same data, in words, and the first goes on",
    async () => {
      running = await startProduct();
      await expect(running.restart()).rejects.toThrow(running.dataDir);
      expect(await closedWindow(running)).toContain('"code":0');
    },
    CASE_TIMEOUT_MS,
  );

  test("names a variable that is wrong, and does not start", async () => {
    await expect(startProduct({ LIVE_FEED: "carrier-pigeon" })).rejects.toThrow(/LIVE_FEED/);
  });
});
