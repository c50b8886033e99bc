import { describe, expect, test } from "vitest";
import { klineExample } from "#lib/contract/kline";
import { quoteExample } from "#lib/contract/quote";
import { snapshotExample } from "#lib/contract/snapshot";
import type { MarketEvent } from "#server/events/event";
import { eventOf } from "#server/testing/events";
import { createView } from "./view";

const at = (time: number, close = 1) => eventOf({ ...klineExample, time, close });
const times = (view: ReturnType<typeof createView>) => view.recentKlines("EURUSD", "H1").map(({ time }) => time);

describe("view", () => {
  test("the view shows the newest quote and snapshot of a ticker", () => {
    const view = createView();
    expect(view.quote("EURUSD")).toBeUndefined();
    view.apply([eventOf(quoteExample), eventOf({ ...quoteExample, bid: 1.2 }, { seq: 2 }), eventOf(snapshotExample)]);
    expect(view.quote("EURUSD")?.bid).toBe(1.2);
    expect(view.snapshot("EURUSD")).toEqual(snapshotExample);
  });

  test("the view keeps klines ascending, one per open time, in their newest state", () => {
    const view = createView();
    view.apply([at(3600, 1), at(7200), at(3600, 2)]);
    expect(times(view)).toEqual([3600, 7200]);
    expect(view.recentKlines("EURUSD", "H1")[0]?.close).toBe(2);
  });

  test("a correction replaces a kline that the view has or removes it, and adds none: older ones are in the store", () => {
    const view = createView();
    view.apply([at(7200), at(14_400)]);
    const before = view.revision("EURUSD", "H1");
    const corrected = [3600, 7200, 10_800].map((time) => ({ ...at(time, 3), closed: true, corrected: true }) as MarketEvent);
    view.apply(corrected);
    expect(times(view)).toEqual([7200, 14_400]);
    expect(view.recentKlines("EURUSD", "H1").map(({ close }) => close)).toEqual([3, 1]);
    expect(view.revision("EURUSD", "H1")).toBeGreaterThan(before);
    view.apply([{ ...at(7200, 3), closed: true, corrected: true, removed: true } as MarketEvent]);
    expect(times(view)).toEqual([14_400]);
  });

  test("the view's revision of a series rises with each of its klines and with no other", () => {
    const view = createView();
    view.apply([at(3600)]);
    const before = view.revision("EURUSD", "H1");
    view.apply([eventOf(quoteExample)]);
    expect(view.revision("EURUSD", "H1")).toBe(before);
    view.apply([at(3600, 2)]);
    expect(view.revision("EURUSD", "H1")).toBeGreaterThan(before);
    expect(view.revision("XAUUSD", "H1")).toBe(0);
  });

  test("the view keeps a bounded number of klines per series, the newest", () => {
    const view = createView();
    view.apply(Array.from({ length: 200 }, (_, index) => at(index * 3600)));
    expect(times(view)).toHaveLength(64);
    expect(times(view).at(-1)).toBe(199 * 3600);
  });

  test("forgetting drops what the store has newer states of, of this ticker alone, and raises the revision even if all is kept", () => {
    const view = createView();
    const other = eventOf({ ...klineExample, ticker: "XAUUSD", time: 3600 });
    view.apply([at(3600), at(7200), other]);
    const before = view.revision("EURUSD", "H1");
    view.forget("EURUSD", ({ time }) => time >= 7200);
    expect([times(view), view.recentKlines("XAUUSD", "H1")]).toEqual([[7200], [other.record]]);
    expect(view.revision("EURUSD", "H1")).toBe(before + 1);
    view.forget("EURUSD", () => true);
    expect(view.revision("EURUSD", "H1")).toBe(before + 2);
    expect(view.revision("XAUUSD", "H1")).toBe(1);
  });
});
