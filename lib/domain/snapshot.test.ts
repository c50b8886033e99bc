import fc from "fast-check";
import { expect, test } from "vitest";
import { Quote } from "#lib/contract/quote";
import { Snapshot } from "#lib/contract/snapshot";
import { compileCalendar } from "./calendar";
import { SEED_CALENDARS } from "./calendars/index";
import { foldQuote, type Kline } from "./kline";
import { toQuote } from "./quote";
import { type DayState, foldDay, hydrateDay, toSnapshot } from "./snapshot";
import { createAlignment } from "./timeframe";

const ALIGNMENT = createAlignment();
const FOREX = compileCalendar(SEED_CALENDARS.forex, []);
const DIGITS = 5;

function quoteAt(at: string, bid: number, ask = bid + 0.0001): Quote {
  return toQuote({ ticker: "EURUSD", time_msc: Date.parse(at), bid, ask }, DIGITS);
}

function dayOf(quotes: readonly Quote[], day?: DayState): DayState | undefined {
  return quotes.reduce<DayState | undefined>((state, quote) => foldDay(state, quote, ALIGNMENT, FOREX), day);
}

/** The snapshot after the last of some quotes. */
function snapshotOf(quotes: readonly Quote[], day?: DayState): Snapshot {
  return toSnapshot(quotes.at(-1) as Quote, dayOf(quotes, day), DIGITS);
}

/** Quotes in ascending time, hours to days apart. */
const quotes = fc
  .array(
    fc.record({
      wait: fc.oneof(fc.integer({ min: 0, max: 30_000_000 }), fc.integer({ min: 0, max: 300_000_000 })),
      bid: fc.integer({ min: 1, max: 200_000 }),
      spread: fc.integer({ min: 0, max: 100 }),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((steps) => {
    let time_msc = Date.parse("2026-03-05T12:00Z");
    return steps.map(({ wait, bid, spread }) => {
      time_msc += wait;
      return toQuote({ ticker: "EURUSD", time_msc, bid: bid / 1e5, ask: (bid + spread) / 1e5 }, DIGITS);
    });
  });

test("quote and snapshot are records of the contract, and their prices print without rounding noise", () => {
  fc.assert(
    fc.property(quotes, (all) => {
      const snapshot = snapshotOf(all);
      const quote = all.at(-1) as Quote;
      expect(Quote.parse(quote)).toEqual(quote);
      expect(Snapshot.parse(snapshot)).toEqual(snapshot);
      for (const value of [...Object.values(quote), ...Object.values(snapshot)]) {
        if (typeof value === "number" && Math.abs(value) > 1e-6) expect(String(value)).toMatch(/^-?\d+(\.\d{1,6})?$/);
      }
      expect(quote.mid * 2).toBeCloseTo(quote.bid + quote.ask, 9);
    }),
  );
});

test("mid and spread are those of the rounded prices, to one digit more", () => {
  const tick = { ticker: "EURUSD", time_msc: 0, bid: 1.0854300000000001, ask: 1.0855149 };
  expect(toQuote(tick, DIGITS)).toMatchObject({ bid: 1.08543, ask: 1.08551, mid: 1.08547, spread: 0.00008 });
  expect(toQuote({ ...tick, ask: 1.08552 }, DIGITS)).toMatchObject({ mid: 1.085475, spread: 0.00009 });
});

/** The weekday on which a trading day ends. */
const weekdayOf = (dayOpenS: number) => new Date((ALIGNMENT.nextOpenTime("D1", dayOpenS) - 1) * 1000).getUTCDay();

/** The trading day before, from Monday to Friday; the tests of this file have no holiday. */
function weekdayBefore(dayOpenS: number): number {
  const before = ALIGNMENT.tradingDayOpen(dayOpenS - 1);
  return [0, 6].includes(weekdayOf(before)) ? weekdayBefore(before) : before;
}

test("the day of the snapshot is the D1 kline: same open, high and low, and the close of the trading day before it", () => {
  fc.assert(
    fc.property(quotes, (all) => {
      const days: Kline[] = [];
      for (const quote of all) {
        const time = ALIGNMENT.tradingDayOpen(Math.floor(quote.time_msc / 1000));
        const last = days.at(-1)?.time === time ? days.pop() : undefined;
        days.push(foldQuote(last, quote, undefined, "D1", time));
      }
      const snapshot = snapshotOf(all);
      const today = days.at(-1);
      const before = weekdayBefore(today?.time ?? 0);
      const close = days.find(({ time }) => time === before)?.close ?? null;
      expect(snapshot).toMatchObject({ open: today?.open, bid_high: today?.high, bid_low: today?.low, close });

      // After a restart all fields are the same; without the stored asks, the ask range of the unseen day is unknown.
      const last = all.at(-1) as Quote;
      expect(toSnapshot(last, hydrateDay(days, snapshot, ALIGNMENT, FOREX), DIGITS)).toEqual(snapshot);
      const unseen = toSnapshot(last, hydrateDay(days, undefined, ALIGNMENT, FOREX), DIGITS);
      expect(unseen).toEqual({ ...snapshot, ask_high: null, ask_low: null });
    }),
  );
});

test("the ask range holds every ask of the day and touches two of them", () => {
  fc.assert(
    fc.property(quotes, (all) => {
      const day = dayOf(all);
      const asks = all.filter(({ time_msc }) => time_msc >= (day?.dayOpenS ?? 0) * 1000).map(({ ask }) => ask);
      expect(day).toMatchObject({ askHigh: Math.max(...asks), askLow: Math.min(...asks) });
    }),
  );
});

test("change is relative to the last bid of the previous trading day, even over a weekend", () => {
  const friday = quoteAt("2026-01-09T21:59:59.999Z", 1.08);
  const sunday = quoteAt("2026-01-11T22:00:00Z", 1.0854);
  expect(snapshotOf([friday, sunday])).toMatchObject({ open: 1.0854, close: 1.08, change: 0.0054, change_pct: 0.5 });
});

test("a trading day without a quote leaves the previous close unknown, however old the last one is", () => {
  const thursday = quoteAt("2026-01-08T12:00Z", 1.08);
  for (const later of ["2026-01-11T22:00Z", "2026-03-10T12:00Z"])
    expect(snapshotOf([thursday, quoteAt(later, 0.3)])).toMatchObject({ open: 0.3, close: null, change: null, change_pct: null });
});

test("days on which the market is closed do not come between a day and the one before it", () => {
  const friday = quoteAt("2026-01-09T12:00Z", 1.08);
  const stray = quoteAt("2026-01-10T12:00Z", 1.2);
  expect(snapshotOf([friday, stray, quoteAt("2026-01-12T12:00Z", 1.09)])).toMatchObject({ close: 1.08, change: 0.01 });
  // New Year 2026 is a Thursday without a session.
  expect(snapshotOf([quoteAt("2025-12-31T12:00Z", 1.07), quoteAt("2026-01-02T12:00Z", 1.09)])).toMatchObject({ close: 1.07 });
});

test("without a calendar, only the day next to it counts as the one before", () => {
  const close = (first: string, second: string) =>
    foldDay(foldDay(undefined, quoteAt(first, 1.08), ALIGNMENT, undefined), quoteAt(second, 1.09), ALIGNMENT, undefined)
      .previousClose;
  expect(close("2026-01-08T12:00Z", "2026-01-09T12:00Z")).toBe(1.08);
  expect(close("2026-01-09T12:00Z", "2026-01-12T12:00Z")).toBeNull();
});

test("without a previous close, change and change_pct are null, and last is never invented", () => {
  expect(snapshotOf([quoteAt("2026-01-09T12:00Z", 1.08)])).toMatchObject({
    open: 1.08,
    close: null,
    change: null,
    change_pct: null,
    last: null,
    last_high: null,
    last_low: null,
  });
});

test("the ask range of a partly seen day stays unknown until the next day opens", () => {
  const kline = foldQuote(undefined, quoteAt("2026-01-08T12:00Z", 1.08), undefined, "D1", Date.parse("2026-01-07T22:00Z") / 1000);
  const restored = hydrateDay([kline], undefined, ALIGNMENT, FOREX);
  const sameDay = quoteAt("2026-01-08T13:00Z", 1.09);
  expect(snapshotOf([sameDay], restored)).toMatchObject({ bid_high: 1.09, bid_low: 1.08, ask_high: null, ask_low: null });
  const nextDay = quoteAt("2026-01-08T22:00Z", 1.07);
  expect(snapshotOf([sameDay, nextDay], restored)).toMatchObject({ ask_high: nextDay.ask, ask_low: nextDay.ask, close: 1.09 });
});

test("the ask range stored on another day is not used for this one", () => {
  const day = Date.parse("2026-01-07T22:00Z") / 1000;
  const kline = foldQuote(undefined, quoteAt("2026-01-08T12:00Z", 1.08), undefined, "D1", day);
  const stored = (at: string) => ({ time_msc: Date.parse(at), ask_high: 1.1, ask_low: 1.05 });
  const askHigh = (at: string) => hydrateDay([kline], stored(at), ALIGNMENT, FOREX)?.askHigh;
  expect(["2026-01-07T21:59:59.999Z", "2026-01-08T22:00Z"].map(askHigh)).toEqual([null, null]);
  expect(["2026-01-07T22:00Z", "2026-01-08T21:59:59.999Z"].map(askHigh)).toEqual([1.1, 1.1]);
});

test("the snapshot of a quote without its trading day has only the fields of the quote", () => {
  const quote = quoteAt("2026-01-09T12:00Z", 1.08);
  const other = dayOf([quoteAt("2026-01-07T12:00Z", 1.07)]);
  expect(hydrateDay([], undefined, ALIGNMENT, FOREX)).toBeUndefined();
  for (const day of [undefined, other]) {
    expect(toSnapshot(quote, day, DIGITS)).toMatchObject({ bid: 1.08, open: null, bid_high: null, ask_low: null, close: null });
  }
});

test("a quote belongs to a trading day from its open to the last millisecond before the next", () => {
  const day = dayOf([quoteAt("2026-01-08T12:00Z", 1.08)]);
  const open = (at: string) => toSnapshot(quoteAt(at, 1.09), day, DIGITS).open;
  expect(["2026-01-07T21:59:59.999Z", "2026-01-08T22:00Z"].map(open)).toEqual([null, null]);
  expect(["2026-01-07T22:00Z", "2026-01-08T21:59:59.999Z"].map(open)).toEqual([1.08, 1.08]);
});

test("the change since a close that rounds to 0 is no percentage", () => {
  const quotes = [quoteAt("2026-01-08T12:00Z", 0.000001), quoteAt("2026-01-09T12:00Z", 0.5)];
  expect(snapshotOf(quotes)).toMatchObject({ close: 0, change: 0.5, change_pct: null });
});

test("folding a quote into a day does not change the given state", () => {
  const day = Object.freeze(dayOf([quoteAt("2026-01-09T12:00Z", 1.08)]) as DayState);
  expect(foldDay(day, quoteAt("2026-01-09T12:01Z", 1.09), ALIGNMENT, FOREX).bidHigh).toBe(1.09);
  expect(day.bidHigh).toBe(1.08);
});
