import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TIMEFRAMES } from "#lib/contract/primitives";
import { quoteExample } from "#lib/contract/quote";
import { snapshotExample } from "#lib/contract/snapshot";
import type { Listing } from "#lib/domain/instrument";
import { aggregate, isClosed, type Kline } from "#lib/domain/kline";
import { type DayState, hydrateDay } from "#lib/domain/snapshot";
import { createAlignment, TIMEFRAMES_ORDER } from "#lib/domain/timeframe";
import type { KlineStore, LastQuote, StoredKlines } from "#lib/market/ports";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { DAY_S, MINUTE_S } from "#lib/units";
import { eventOf } from "#server/testing/events";
import { testKline } from "#server/testing/market";
import { createMemoryKlines } from "#server/testing/memory-klines";
import { createView } from "#server/view/view";
import type { RestoredTicker } from "./engine";
import { hydrateAll } from "./hydrate";

const alignment = createAlignment();
const TICKER = "EURUSD";
const LISTING: Listing = { ...(createSandboxCatalogue().find(TICKER) as Listing), timeframes: TIMEFRAMES };
/** A Wednesday, in the middle of a month. */
const FROM_S = Date.UTC(2026, 0, 14, 12) / 1_000;

const closesOf = (minutes: readonly Kline[]) =>
  TIMEFRAMES_ORDER.flatMap((timeframe) => (timeframe === "M1" ? minutes : aggregate(minutes, timeframe, alignment)));
const byName = (klines: readonly Kline[]) => new Map(klines.map((kline) => [`${kline.timeframe} ${kline.time}`, kline]));
const quoteAt = (timeMs: number): LastQuote => ({ ...quoteExample, time_msc: timeMs, ask_high: 1.3, ask_low: 1.1 });

interface Scene {
  readonly store: KlineStore;
  readonly view?: ReturnType<typeof createView>;
  readonly nowMs: number;
  readonly closedMs?: number;
}

/** What is restored of the ticker, and the minutes that a crash prevented from being written. */
async function hydrate({ store, view = createView(), nowMs, closedMs = nowMs }: Scene) {
  const restored: RestoredTicker[] = [];
  const latest: Kline[] = [];
  const missed = await hydrateAll([LISTING], {
    store,
    view,
    alignment,
    nowMs,
    calendarOf: () => undefined,
    closedMs: () => closedMs,
    restore: (one, latestClosed) => {
      restored.push(one);
      latest.push(...latestClosed);
    },
  });
  return { restored, latest, missed };
}

describe("hydrating a ticker", () => {
  /** Minutes with pauses up to weeks; so many of the last ones only the view has. */
  const history = fc.record({
    pauses: fc.array(fc.oneof(fc.nat(4), fc.nat(400), fc.nat(30_000)), { minLength: 1, maxLength: 30 }),
    unwritten: fc.nat(3),
    sinceMs: fc.oneof(fc.nat(59_999), fc.nat(200_000), fc.nat(40 * DAY_S * 1_000)),
    lagMs: fc.nat(60_000),
  });

  /** The first minute of a day, while the view has only the last minutes of the day before, which is still open. */
  const DAY_BEGUN = {
    pauses: [2, 6536, 266, 199, 2, 238, 9, 317, 2, 217, 1],
    unwritten: 0,
    sinceMs: 0,
    lagMs: 0,
  };

  test("restores the open klines and the day of a plain aggregation, and finds the minutes that a crash prevented from being written", async () => {
    await fc.assert(
      fc.asyncProperty(history, async ({ pauses, unwritten, sinceMs, lagMs }) => {
        let time = FROM_S;
        const minutes = pauses.map((pause, index) => {
          time += (pause + 1) * MINUTE_S;
          return testKline(TICKER, "M1", time, 1.1 + (index % 7) / 100);
        });
        const nowMs = time * 1_000 + sinceMs;
        const closedMs = nowMs - lagMs;
        const all = closesOf(minutes);
        const closed = (kline: Kline) => isClosed(kline, closedMs, alignment);
        const written = minutes.slice(0, Math.max(0, minutes.length - unwritten));
        const store = createMemoryKlines(written);
        const quote = quoteAt(time * 1_000);
        await store.writeBatch([], [quote]);
        const view = createView();
        view.fill(minutes.slice(-3));
        const { restored, latest, missed } = await hydrate({ store, view, nowMs, closedMs });
        const days = all.filter(({ timeframe }) => timeframe === "D1");
        expect(restored).toHaveLength(1);
        expect(restored[0]).toMatchObject({
          ticker: TICKER,
          lastQuote: quote,
          day: hydrateDay(days, quote, alignment, undefined),
        });
        expect(byName(restored[0]?.openKlines ?? [])).toEqual(byName(all.filter((kline) => !closed(kline))));
        const newest = [...new Map(all.map((kline) => [kline.timeframe, kline])).values()];
        expect(byName(latest)).toEqual(byName(newest.filter(closed)));
        expect(missed).toEqual(minutes.slice(written.length));
      }),
      { numRuns: 200, examples: [[DAY_BEGUN]] },
    );
  });

  test("skips a ticker of which nothing is known, and empties one that is shown when all of its history is gone", async () => {
    const store = createMemoryKlines();
    const nowMs = FROM_S * 1_000;
    expect(await hydrate({ store, nowMs })).toEqual({ restored: [], latest: [], missed: [] });
    const view = createView();
    view.fill([testKline(TICKER, "H1", FROM_S)]);
    const { restored, latest, missed } = await hydrate({ store, view, nowMs });
    expect(restored).toEqual([{ ticker: TICKER, lastQuote: undefined, openKlines: [], day: undefined }]);
    expect([latest, missed]).toEqual([[], []]);
  });

  test("continues from the newer of the stored quote and the one that is shown, where there are no klines either", async () => {
    const nowMs = FROM_S * 1_000 + 5_000;
    const shownAt = async (storedMs: number | undefined, shownMs: number | undefined) => {
      const [store, view] = [createMemoryKlines(), createView()];
      if (storedMs !== undefined) await store.writeBatch([], [quoteAt(FROM_S * 1_000 + storedMs)]);
      if (shownMs !== undefined) view.apply([eventOf({ ...snapshotExample, time_msc: FROM_S * 1_000 + shownMs, bid_high: 7 })]);
      const { restored, missed } = await hydrate({ store, view, nowMs });
      expect(restored).toMatchObject([{ openKlines: [], day: undefined }]);
      expect(missed).toEqual([]);
      const { lastQuote } = restored[0] ?? {};
      return [(lastQuote?.time_msc ?? 0) - FROM_S * 1_000, lastQuote !== undefined && "bid_high" in lastQuote];
    };
    expect(await shownAt(1, undefined)).toEqual([1, false]);
    expect(await shownAt(undefined, 2)).toEqual([2, true]);
    expect(await shownAt(2, 1)).toEqual([2, false]);
    expect(await shownAt(1, 2)).toEqual([2, true]);
    // Of the same instant, the one that is shown may know more of its day.
    expect(await shownAt(2, 2)).toEqual([2, true]);
  });

  describe("with days that were imported as such", () => {
    const dayS = alignment.openTime("D1", FROM_S);
    const day = (days: number, close: number) => testKline(TICKER, "D1", alignment.openTime("D1", dayS + days * DAY_S), close);

    /** Imported days around one minute; those of the same day as the minute are not imported. */
    async function withDays(imported: readonly Kline[], computed: readonly Kline[] = []) {
      const memory = createMemoryKlines([...imported, ...computed, testKline(TICKER, "M1", FROM_S, 1.2)]);
      const asked: unknown[] = [];
      const importedTimes: StoredKlines["importedTimes"] = async (ticker, timeframe, from, to) => {
        asked.push([ticker, timeframe]);
        return imported.map(({ time }) => time).filter((time) => time >= from && time < to);
      };
      const { restored } = await hydrate({
        store: { ...memory, stored: { ...memory.stored, importedTimes } },
        nowMs: (FROM_S + 20 * DAY_S) * 1_000,
        closedMs: FROM_S * 1_000,
      });
      expect(asked).toEqual([[TICKER, "D1"]]);
      const open = restored[0]?.openKlines ?? [];
      return {
        day: restored[0]?.day as DayState,
        longer: open.filter(({ timeframe }) => timeframe === "W1" || timeframe === "MN1"),
      };
    }

    test("one gives the previous close, but is no part of a computed week or month", async () => {
      const found = await withDays([day(-1, 1.5)]);
      expect(found.day).toMatchObject({ dayOpenS: dayS, previousClose: 1.5, open: 1.1, bidHigh: 1.2 });
      expect(found.longer.map(({ high, tick_volume }) => [high, tick_volume])).toEqual([
        [1.2, 10],
        [1.2, 10],
      ]);
    });

    test("a day that was computed is a part of both, and gives the previous close as well", async () => {
      const found = await withDays([], [day(-1, 1.5)]);
      expect(found.day.previousClose).toBe(1.5);
      expect(found.longer.map(({ high, tick_volume }) => [high, tick_volume])).toEqual([
        [1.5, 20],
        [1.5, 20],
      ]);
    });

    test("one of the day that has minutes, or of a later one, is not the day", async () => {
      const found = await withDays([day(0, 1.7), day(1, 1.8), day(-1, 1.5)]);
      expect(found.day).toMatchObject({ dayOpenS: dayS, bidHigh: 1.2, lastBid: 1.2, previousClose: 1.5 });
    });
  });
});
