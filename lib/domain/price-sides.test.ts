import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MINUTE_MS, MINUTE_S } from "#lib/units";
import { aggregateColumns, columnsOf, joinColumns, type KlineColumns, NO_SIDES, SIDES, type Side, sideOf } from "./columns";
import { foldQuote, type Kline } from "./kline";
import { sidesFromTicks } from "./price-sides";
import { toQuote } from "./quote";
import { createAlignment } from "./timeframe";

const DIGITS = 5;
/** Ticks of ten minutes: a time and prices in points. */
const someTicks = fc
  .array(fc.record({ ms: fc.nat(10 * MINUTE_MS - 1), bid: fc.integer({ min: 100_000, max: 100_050 }), spread: fc.nat(20) }), {
    minLength: 1,
    maxLength: 60,
  })
  .map((ticks) => ticks.toSorted((a, b) => a.ms - b.ms));
type Ticks = typeof someTicks extends fc.Arbitrary<infer Value> ? Value : never;

const columnsOfTicks = (ticks: Ticks) => ({
  time: Float64Array.from(ticks, ({ ms }) => ms),
  bid: Float64Array.from(ticks, ({ bid }) => bid / 1e5),
  ask: Float64Array.from(ticks, ({ bid, spread }) => (bid + spread) / 1e5),
});

/** The klines of a price by the naive way: the bid klines of quotes whose bid is that price. */
function naive(ticks: Ticks, price: Side | "bid", minutesLong = 1): Kline[] {
  const klines = new Map<number, Kline>();
  for (const { ms, bid, spread } of ticks) {
    const quote = toQuote({ ticker: "EURUSD", time_msc: ms, bid: bid / 1e5, ask: (bid + spread) / 1e5 }, DIGITS);
    const time = Math.floor(ms / (minutesLong * MINUTE_MS)) * minutesLong * MINUTE_S;
    klines.set(time, foldQuote(klines.get(time), { ...quote, bid: quote[price] }, undefined, "M1", time));
  }
  return [...klines.values()];
}

function minutesOf(ticks: Ticks): KlineColumns {
  const bids = columnsOf(naive(ticks, "bid"));
  return { ...bids, ...sidesFromTicks(columnsOfTicks(ticks), bids, DIGITS) };
}

const prices = ({ open, high, low, close }: KlineColumns) => [open, high, low, close].map((column) => [...column]);

describe("ask and mid prices of minutes", () => {
  test("are those of the ticks that made them, and so are those of longer klines", () => {
    fc.assert(
      fc.property(someTicks, fc.constantFrom<Side>("ask", "mid"), (ticks, side) => {
        const minutes = minutesOf(ticks);
        expect(prices(sideOf(minutes, side))).toEqual(prices(columnsOf(naive(ticks, side))));
        const five = sideOf(aggregateColumns(minutes, "M5", createAlignment()), side);
        expect(prices(five)).toEqual(prices(columnsOf(naive(ticks, side, 5))));
      }),
    );
  });

  test("of a minute are unknown where a tick of it is missing, or one is too many; klines without them are left out", () => {
    const ticks = [0, 10, MINUTE_MS, MINUTE_MS + 10, 2 * MINUTE_MS].map((ms) => ({ ms, bid: 100_000, spread: 5 }));
    const bids = columnsOf(naive(ticks, "bid"));
    const some = [ticks[0], ...ticks.slice(2), { ms: 2 * MINUTE_MS + 1, bid: 1, spread: 1 }] as typeof ticks;
    const known = { ...bids, ...sidesFromTicks(columnsOfTicks(some), bids, DIGITS) };
    expect([...known.askClose]).toEqual([Number.NaN, 1.00005, Number.NaN]);
    const asks = sideOf(known, "ask");
    expect([...asks.time]).toEqual([MINUTE_S]);
    expect([...asks.tickVolume]).toEqual([2]);
    expect(asks.askClose).toHaveLength(0);
    expect(sideOf(bids, "mid").time).toHaveLength(0);
    // An hour of which only a part has them has none.
    expect([...sideOf(aggregateColumns(known, "H1", createAlignment()), "ask").close]).toEqual([]);
  });

  test("stay with their rows where klines with and without them are joined", () => {
    const ticks = [0, MINUTE_MS].map((ms) => ({ ms, bid: 100_000, spread: 5 }));
    const known = minutesOf(ticks);
    const others = { ...known, ...NO_SIDES, time: known.time.map((time) => time + 600) };
    const joined = joinColumns([others, known, others]);
    expect([...joined[SIDES.mid[0]]]).toEqual([Number.NaN, Number.NaN, 1.000025, 1.000025, Number.NaN, Number.NaN]);
    expect(joinColumns([others, others]).askOpen).toHaveLength(0);
  });
});
