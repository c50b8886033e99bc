import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { klineExample } from "#lib/contract/kline";
import { quoteExample } from "#lib/contract/quote";
import { snapshotExample } from "#lib/contract/snapshot";
import type { Kline } from "#lib/domain/kline";
import type { MarketEvent } from "#server/events/event";
import { eventOf } from "#server/testing/events";
import { createView } from "./view";

/** Klines of a series that a view keeps. */
const KEPT_COUNT = 64;
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

  test("the view keeps the newest klines of a series, ascending, one per open time, in their newest state, in whatever order they come", () => {
    const hour = fc.integer({ min: 1, max: 90 });
    fc.assert(
      fc.property(fc.array(hour, { minLength: 1, maxLength: 200, size: "max" }), (hours) => {
        const view = createView();
        let expected: { time: number; close: number }[] = [];
        hours.forEach((each, close) => {
          view.apply([at(each * 3600, close)]);
          const others = expected.filter(({ time }) => time !== each * 3600);
          expected = [...others, { time: each * 3600, close }].sort((a, b) => a.time - b.time).slice(-KEPT_COUNT);
        });
        expect(view.recentKlines("EURUSD", "H1").map(({ time, close }) => ({ time, close }))).toEqual(expected);
      }),
    );
  });

  test("a correction replaces a kline that the view has or removes it, and adds none: older ones are in the store", () => {
    const view = createView();
    const corrected = [3600, 7200, 10_800].map((time) => ({ ...at(time, 3), closed: true, corrected: true }) as MarketEvent);
    view.apply(corrected);
    expect([times(view), view.revision("EURUSD", "H1")]).toEqual([[], 0]);
    view.apply([at(7200), at(14_400)]);
    const before = view.revision("EURUSD", "H1");
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

  test("klines that came with no event are shown as if they had come with one", () => {
    const [told, filled] = [createView(), createView()];
    const events = [at(7200), at(3600), at(7200, 2)];
    told.apply(events);
    filled.fill(events.map(({ record }) => record as Kline));
    expect(filled.recentKlines("EURUSD", "H1")).toEqual(told.recentKlines("EURUSD", "H1"));
    expect(filled.revision("EURUSD", "H1")).toBe(told.revision("EURUSD", "H1"));
  });

  test("a view adopts what another one shows of the tickers that are named, and nothing else", () => {
    const [other, view] = [createView(), createView()];
    const minute = eventOf({ ...klineExample, timeframe: "M1", time: 3600 });
    const strange = [
      { ...quoteExample, ticker: "XAUUSD" },
      { ...klineExample, ticker: "XAUUSD" },
    ].map((record) => eventOf(record));
    other.apply([eventOf(quoteExample), eventOf(snapshotExample), at(3600), at(7200), minute, ...strange]);
    view.adopt(other, ["EURUSD", "GBPUSD"]);
    expect(view.quote("EURUSD")).toEqual(quoteExample);
    expect(view.snapshot("EURUSD")).toEqual(snapshotExample);
    expect([times(view), view.recentKlines("EURUSD", "M1")]).toEqual([[3600, 7200], [minute.record]]);
    expect([view.quote("XAUUSD"), view.recentKlines("XAUUSD", "H1")]).toEqual([undefined, []]);
    view.adopt(createView(), ["EURUSD"]);
    expect([view.quote("EURUSD"), view.snapshot("EURUSD")]).toEqual([quoteExample, snapshotExample]);
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
