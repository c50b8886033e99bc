import { describe, expect, test } from "vitest";
import { klineExample } from "#lib/contract/kline";
import { quoteExample } from "#lib/contract/quote";
import { snapshotExample } from "#lib/contract/snapshot";
import type { MarketEvent } from "#server/events/event";
import { eventOf, TEST_EPOCH } from "#server/testing/events";
import { messageIn } from "#server/testing/stream-reader";
import { baselineOf, mergedOf, updateOf } from "./outgoing";

/** Around the lengths at which an integer takes more bytes. */
const COUNTS = [0, 1, 9, 10, 99, 100, 127, 128, 255, 256, 999, 1_000, 65_535, 65_536, 1_000_000];

describe.each(["json", "msgpack"] as const)("a record that is sent as %s", (encoding) => {
  const place = { epoch: TEST_EPOCH, seq: 7 };
  const common = { ticker: "EURUSD", ...place };
  const kline = { type: "kline", timeframe: klineExample.timeframe, ...common, data: klineExample };

  test.each<[string, MarketEvent, object]>([
    ["a quote", eventOf(quoteExample, place), { type: "quote", event: "update", ...common, data: quoteExample }],
    ["a snapshot", eventOf(snapshotExample, place), { type: "snapshot", event: "update", ...common, data: snapshotExample }],
    ["an open kline", eventOf(klineExample, place), { ...kline, event: "update", closed: false }],
    ["a closed kline", eventOf(klineExample, { ...place, closed: true }), { ...kline, event: "update", closed: true }],
    [
      "a corrected kline",
      { ...eventOf(klineExample, { ...place, closed: true }), corrected: true } as MarketEvent,
      { ...kline, event: "correction", closed: true },
    ],
    [
      "a removed kline",
      { ...eventOf(klineExample, { ...place, closed: true }), corrected: true, removed: true } as MarketEvent,
      { ...kline, event: "removal", closed: true },
    ],
    [
      "a restored quote",
      { ...eventOf(quoteExample, place), restored: true } as MarketEvent,
      { type: "quote", event: "snapshot", ...common, data: quoteExample },
    ],
  ])("says what %s is", (_, event, message) => {
    expect(messageIn(updateOf(event, encoding))).toEqual(message);
    expect(messageIn(baselineOf(event, encoding))).toEqual({ ...message, event: "snapshot" });
    expect([updateOf(event, encoding).baseline, baselineOf(event, encoding).baseline]).toEqual([event.restored === true, true]);
  });

  test("has the length that it is said to have, however many records it and an earlier state of it replace", () => {
    for (const before of COUNTS)
      for (const merged of COUNTS) {
        const event = { ...eventOf(quoteExample, place), merged: before };
        const message = mergedOf(updateOf(event, encoding), event, merged);
        expect([before, merged, message.bytes]).toEqual([before, merged, Buffer.from(message.payload as string).length]);
        expect([messageIn(message).merged ?? 0, message.merged, message.baseline]).toEqual([merged, merged, false]);
      }
  });
});
