import { expect, test } from "vitest";
import { klineExample } from "#lib/contract/kline";
import { quoteExample } from "#lib/contract/quote";
import { snapshotExample } from "#lib/contract/snapshot";
import { eventOf, TEST_EPOCH } from "#server/testing/events";
import { newestRecords } from "./newest";
import { createView } from "./view";

/** Klines of a series: the open one, and eight that the store may not have yet. */
const KLINES_COUNT = 9;
const kline = (ticker: string, minute: number) => eventOf({ ...klineExample, ticker, timeframe: "M1", time: 60 * minute });

test("the newest records of the named tickers are their quote, their snapshot and their last klines, each with the last sequence of its topic", () => {
  const view = createView();
  const minutes = Array.from({ length: KLINES_COUNT + 3 }, (_, minute) => kline("EURUSD", minute));
  const day = eventOf({ ...klineExample, timeframe: "D1" });
  const [quote, snapshot] = [eventOf(quoteExample), eventOf(snapshotExample)];
  view.apply([quote, snapshot, ...minutes, day, eventOf({ ...quoteExample, ticker: "XAUUSD" }), kline("GBPUSD", 7)]);
  const sequences: Record<string, number> = {
    "quote:EURUSD": 8,
    "snapshot:EURUSD": 9,
    "kline:EURUSD:M1": 40,
    "kline:EURUSD:D1": 2,
    "kline:GBPUSD:M1": 3,
  };
  const seq = (topic: string) => sequences[topic] ?? 0;
  const found = newestRecords({ view, recent: { seq }, epoch: TEST_EPOCH, tickers: ["EURUSD", "GBPUSD", "AUDUSD"] });
  const expected = [quote, snapshot, ...minutes.slice(-KLINES_COUNT), day, kline("GBPUSD", 7)];
  expect(found).toEqual(expected.map((event) => ({ ...event, seq: seq(event.topic) })));
});
