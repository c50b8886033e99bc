import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TAKEN } from "#lib/domain/tick-columns";
import { MINUTE_S, SECOND_MS } from "#lib/units";
import { addTick, type TickChunk } from "#server/store/history/tick-tail";
import { createKlineStore } from "#server/store/klines/kline-store";
import { testKlines } from "#server/testing/market";
import { DEMO_KEY, TEST_START_MS, type TestRuntime, testRuntime } from "#server/testing/runtime";

const FROM = TEST_START_MS / SECOND_MS - 3_600;
const PATH = `/api/v1/market/klines?ticker=EURUSD&timeframe=M1&from=${FROM}&to=${FROM + 10 * MINUTE_S}`;
const MINUTES = testKlines("EURUSD", "M1", FROM, 10, MINUTE_S).map((kline) => ({ ...kline, tick_volume: 1 }));

let t: TestRuntime;
beforeAll(async () => {
  t = await testRuntime();
  const stored = createKlineStore(t.db);
  const chunk: TickChunk = { id: randomUUID(), ticker: "EURUSD", source: "push", numbers: [], outcomes: [] };
  // Of the first four minutes every tick is kept.
  for (const { time, close } of MINUTES.slice(0, 4))
    addTick(chunk, { time_msc: time * SECOND_MS, bid: close, ask: 2 }, time * SECOND_MS, TAKEN);
  await stored.writeBatch(MINUTES, [], [chunk]);
  await t.markets.live.store.writeBatch(MINUTES, []);
  Object.assign(t.markets.live.store, { read: stored.read, readAt: stored.readAt });
});
afterAll(() => t.close());

describe("the price of klines", () => {
  test("ask has the klines whose ticks are known, names itself, and says how many are expected", async () => {
    const { data } = (await t.ask(`${PATH}&price=ask`)).body;
    expect(data).toMatchObject({ price: "ask", count: 4, expected_count: 10, next_from: null });
    expect(data.items[0]).toMatchObject({ time: FROM, open: 2, high: 2, low: 2, close: 2, tick_volume: 1 });
    const csv = await t.ask(`${PATH}&price=ask&format=csv`);
    expect(csv.text.trimEnd().split("\r\n")).toHaveLength(5);
  });

  test("pages of it lead on to klines that have it", async () => {
    const { data } = (await t.ask(`${PATH}&price=mid&limit=3`)).body;
    expect([data.count, data.next_from]).toEqual([3, FROM + 3 * MINUTE_S]);
  });

  test("bid is that of a request without it, and echoed only where it was asked for", async () => {
    const { data } = (await t.ask(`${PATH}&price=bid`)).body;
    const { data: without } = (await t.ask(PATH)).body;
    expect(data).toEqual({ ...without, price: "bid" });
    expect(without).not.toHaveProperty("price");
  });

  test("goes with an instant in the past", async () => {
    const at = FROM + 3 * MINUTE_S;
    const { data } = (await t.ask(`${PATH}&price=ask&as_of=${at}`)).body;
    expect(data).toMatchObject({ price: "ask", as_of: at, count: 3 });
  });

  test("another one is refused, and the sandbox says what is too much", async () => {
    const wrong = await t.ask(`${PATH}&price=last`);
    expect(wrong).toMatchObject({
      status: 400,
      body: { message: "invalid_parameter", data: { parameter: "price", allowed: ["bid", "ask", "mid"] } },
    });
    const { data } = (await t.ask(`${PATH}&price=ask`, { key: DEMO_KEY })).body;
    expect(data.price).toBe("ask");
  });
});
