import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CONVERSION_AMOUNT_MAX, CONVERSION_AMOUNT_MIN } from "#lib/contract/limits";
import { Conversion } from "#lib/operations/conversion/declaration";
import { convert, type Pair, stepsOf } from "./conversion";
import { currencyCalled } from "./instrument-name";
import { roundTo } from "./price";
import { toQuote } from "./quote";

const CURRENCIES = ["EUR", "USD", "JPY", "XAU", "CZK"] as const;

/** A pair with prices as the service quotes them. */
function pair(ticker: string, bid: number, ask: number, more: Partial<Pair> & { time_msc?: number; digits?: number } = {}): Pair {
  const { time_msc = 1_000, digits = 5, ...rest } = more;
  const price = toQuote({ ticker, bid, ask, time_msc }, digits);
  return { ticker, base: ticker.slice(0, 3), quote: ticker.slice(3), price, stale: false, ...rest };
}

function converted(pairs: readonly Pair[], from: string, to: string, amount = 1): Conversion {
  const found = convert(stepsOf(pairs), { from, to, amount });
  if (typeof found === "string") throw new Error(found);
  return found;
}

const tickersOf = ({ legs }: Conversion) => legs.map(({ ticker, inverted }) => (inverted ? `1/${ticker}` : ticker));

const anyPair = fc
  .record({
    ends: fc.uniqueArray(fc.constantFrom(...CURRENCIES), { minLength: 2, maxLength: 2 }),
    digits: fc.integer({ min: 2, max: 5 }),
    bid: fc.double({ min: 0.05, max: 5_000, noNaN: true }),
    points: fc.integer({ min: 0, max: 500 }),
    stale: fc.boolean(),
    quoted: fc.boolean(),
    time_msc: fc.integer({ min: 1, max: 1_000_000 }),
  })
  .map(({ ends: [base = "", quote = ""], digits, bid, points, stale, quoted, time_msc }): Pair => {
    const made = pair(base + quote, bid, roundTo(bid, digits) + points / 10 ** digits, { stale, digits, time_msc });
    return quoted ? made : { ...made, price: undefined, stale: false };
  });
const anyPairs = fc.array(anyPair, { minLength: 1, maxLength: 12 });
const anyAmount = fc.oneof(fc.integer({ min: 1, max: 1_000_000 }), fc.double({ min: 1e-6, max: 1e12, noNaN: true }));
const anyCurrency = fc.constantFrom(...CURRENCIES);

/** Every conversion between any currencies over any pairs. */
function forAny(check: (there: Conversion, back: Conversion, pairs: readonly Pair[]) => void): void {
  fc.assert(
    fc.property(anyPairs, anyCurrency, anyCurrency, anyAmount, (pairs, from, to, amount) => {
      const there = convert(stepsOf(pairs), { from, to, amount });
      const back = convert(stepsOf(pairs), { from: to, to: from, amount });
      expect(typeof back).toBe(typeof there);
      if (typeof there === "string" || typeof back === "string") return;
      check(there, back, pairs);
    }),
    { numRuns: 500 },
  );
}

describe("any conversion", () => {
  test("is a record of the contract with bid <= mid <= ask, for a unit and for the amount", () => {
    forAny((there) => {
      expect(Conversion.parse(there)).toEqual(there);
      expect(there.bid).toBeLessThanOrEqual(there.mid);
      expect(there.mid).toBeLessThanOrEqual(there.ask);
      expect(there.bid_amount).toBeLessThanOrEqual(there.mid_amount);
      expect(there.mid_amount).toBeLessThanOrEqual(there.ask_amount);
    });
  });

  test("there and back gains nothing and loses no more than the spread of its legs", () => {
    forAny((there, back) => {
      const kept = there.legs.reduce((share, { bid, ask }) => share * (bid / ask), 1);
      expect(there.bid * back.bid).toBeLessThanOrEqual(1 + Number.EPSILON);
      expect(there.bid * back.bid).toBeGreaterThanOrEqual(kept * (1 - 3e-11));
    });
  });

  test("takes the same legs back in the opposite order, at the inverse of its prices", () => {
    forAny((there, back) => {
      const turned = there.legs.map((leg) => ({ ...leg, inverted: !leg.inverted })).reverse();
      // Two paths with the same tickers in another order of legs are the same path.
      expect(back.legs).toEqual(turned);
      expect(back.mid * there.mid).toBeCloseTo(1, 9);
      expect(back.bid * there.ask).toBeCloseTo(1, 9);
    });
  });

  test("chains from one currency to the other in at most two legs, none of which could be left out for less", () => {
    forAny((there, _, pairs) => {
      let at: string = there.from;
      for (const { ticker, inverted } of there.legs) {
        const [base, quote] = [ticker.slice(0, 3), ticker.slice(3)];
        expect(at).toBe(inverted ? quote : base);
        at = inverted ? base : quote;
      }
      expect(at).toBe(there.to);
      const cost = there.legs.reduce((ratio, { bid, ask }) => ratio * (ask / bid), 1);
      for (const one of pairs) {
        const direct = [one.base, one.quote].sort().join() === [there.from, there.to].sort().join();
        if (!direct || one.price === undefined || (one.stale && there.market_data_state === "live")) continue;
        if (one.stale === (there.market_data_state === "stale"))
          expect(cost).toBeLessThanOrEqual((one.price.ask / one.price.bid) * (1 + 1e-12));
      }
    });
  });

  test("has at most twelve significant digits in every number", () => {
    forAny(({ bid, ask, mid, bid_amount, ask_amount, mid_amount }) => {
      for (const value of [bid, ask, mid, bid_amount, ask_amount, mid_amount]) expect(Number(value.toPrecision(12))).toBe(value);
    });
  });
});

describe("the numbers of a conversion", () => {
  const usdJpy = pair("USDJPY", 156.012, 156.021, { digits: 3 });
  const eurUsd = pair("EURUSD", 1.08543, 1.08551);

  test("direct prices are those of the quote, and amounts are exact decimals", () => {
    expect(converted([eurUsd], "EUR", "USD", 1_000)).toMatchObject({
      bid: 1.08543,
      ask: 1.08551,
      mid: 1.08547,
      bid_amount: 1_085.43,
      ask_amount: 1_085.51,
      mid_amount: 1_085.47,
    });
    expect(converted([eurUsd], "EUR", "USD", 0.1).bid_amount).toBe(0.108543);
    expect(converted([eurUsd], "EUR", "USD", CONVERSION_AMOUNT_MAX).bid_amount).toBe(1_085_430_000_000);
    expect(converted([eurUsd], "EUR", "USD", CONVERSION_AMOUNT_MIN).bid_amount).toBe(0.00000108543);
  });

  test("an inverse sells at 1 / ask, rounded down, and buys at 1 / bid, rounded up", () => {
    expect(converted([usdJpy], "JPY", "USD")).toMatchObject({
      bid: 0.00640939360727,
      ask: 0.00640976335154,
      mid: 0.00640957847407,
      legs: [{ ticker: "USDJPY", inverted: true, bid: 156.012, ask: 156.021 }],
    });
  });

  test("a cross multiplies its legs, and keeps the time of the older quote", () => {
    const late = { ...usdJpy, price: usdJpy.price && { ...usdJpy.price, time_msc: 2_000 } };
    const cross = converted([eurUsd, late], "EUR", "JPY");
    expect(tickersOf(cross)).toEqual(["EURUSD", "USDJPY"]);
    expect(cross).toMatchObject({ bid: 169.34010516, ask: 169.36235571, time_msc: 1_000, market_data_state: "live" });
  });

  test("gold converts to yen over the dollar", () => {
    const gold = pair("XAUUSD", 4_012.345, 4_012.845, { digits: 3 });
    const ounce = converted([gold, usdJpy], "XAU", "JPY", 0.5);
    expect(tickersOf(ounce)).toEqual(["XAUUSD", "USDJPY"]);
    expect(ounce.bid).toBe(625_973.96814);
    expect(ounce.bid_amount).toBe(312_986.98407);
  });

  test("a currency converts to itself one to one, without legs", () => {
    expect(converted([eurUsd], "USD", "USD", 5)).toMatchObject({
      bid: 1,
      ask: 1,
      mid: 1,
      bid_amount: 5,
      ask_amount: 5,
      mid_amount: 5,
      time_msc: null,
      market_data_state: "live",
      legs: [],
    });
  });
});

describe("the path of a conversion", () => {
  const eurUsd = pair("EURUSD", 1.1, 1.1001);
  const usdJpy = pair("USDJPY", 150, 150.01, { digits: 3 });
  const tight = pair("EURJPY", 165, 165.001, { digits: 3 });
  const wide = pair("EURJPY", 165, 165.5, { digits: 3 });

  test("is direct if that has the smaller spread, otherwise the cross", () => {
    expect(tickersOf(converted([eurUsd, usdJpy, tight], "JPY", "EUR"))).toEqual(["1/EURJPY"]);
    expect(tickersOf(converted([eurUsd, usdJpy, wide], "JPY", "EUR"))).toEqual(["1/USDJPY", "1/EURUSD"]);
  });

  test("is direct if a cross has the same spread", () => {
    const none = [pair("EURUSD", 2, 2), pair("USDJPY", 3, 3), pair("EURJPY", 6, 6)];
    expect(tickersOf(converted(none, "EUR", "JPY"))).toEqual(["EURJPY"]);
  });

  test("of equal spreads is the live one, the one of fewer legs, the first in the alphabet, in any order of the pairs", () => {
    const anyEnds = fc
      .uniqueArray(fc.constantFrom(...CURRENCIES), { minLength: 2, maxLength: 2 })
      .map(([a = "", b = ""]) => a + b);
    const equals = fc
      .uniqueArray(fc.record({ ticker: anyEnds, stale: fc.boolean() }), { minLength: 4, selector: ({ ticker }) => ticker })
      .map((pairs) => pairs.map(({ ticker, stale }) => pair(ticker, 2, 2, { stale })));
    fc.assert(
      fc.property(equals, anyCurrency, anyCurrency, (pairs, from, to) => {
        fc.pre(from !== to);
        const joins = (one: Pair, a: string, b: string) => [a + b, b + a].includes(one.ticker);
        const direct = pairs.filter((one) => joins(one, from, to)).map((one) => [one]);
        const crosses = CURRENCIES.filter((middle) => middle !== from && middle !== to).flatMap((middle) =>
          pairs.flatMap((one) =>
            pairs.flatMap((other) => (joins(one, from, middle) && joins(other, middle, to) ? [[one, other]] : [])),
          ),
        );
        const ranks = [...direct, ...crosses].map((path) => {
          const tickers = path.map(({ ticker }) => ticker).sort();
          return `${path.some(({ stale }) => stale) ? "stale" : "live"} ${tickers.length} ${tickers.join(" ")}`;
        });
        for (const shuffled of [pairs, pairs.toReversed()]) {
          const found = convert(stepsOf(shuffled), { from, to, amount: 1 });
          if (typeof found === "string") expect([found, ranks]).toEqual(["unreachable", []]);
          else {
            const tickers = found.legs.map(({ ticker }) => ticker).sort();
            expect(`${found.market_data_state} ${tickers.length} ${tickers.join(" ")}`).toBe(ranks.sort()[0]);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  test("has no step from a currency to itself", () => {
    const selves = [pair("EUREUR", 1, 1), pair("JPYJPY", 1, 1)];
    expect(tickersOf(converted([...selves, tight], "EUR", "JPY"))).toEqual(["EURJPY"]);
    expect(convert(stepsOf([...selves, eurUsd]), { from: "EUR", to: "JPY", amount: 1 })).toBe("unreachable");
  });

  test("avoids a stale quote, however small its spread, and says so when there is no other", () => {
    const stale = { ...tight, stale: true };
    expect(tickersOf(converted([stale, eurUsd, usdJpy], "EUR", "JPY"))).toEqual(["EURUSD", "USDJPY"]);
    expect(converted([stale], "EUR", "JPY")).toMatchObject({
      market_data_state: "stale",
      legs: [{ ticker: "EURJPY", market_data_state: "stale" }],
    });
  });

  test("is missing without quotes, and unreachable past two legs", () => {
    const silent = { ...eurUsd, price: undefined };
    expect(convert(stepsOf([silent]), { from: "USD", to: "EUR", amount: 1 })).toBe("missing");
    expect(tickersOf(converted([{ ...tight, price: undefined }, eurUsd, usdJpy], "EUR", "JPY"))).toEqual(["EURUSD", "USDJPY"]);
    const far = stepsOf([pair("EURCZK", 24, 24.1), eurUsd, pair("XPDUSD", 1_400, 1_401)]);
    expect(convert(far, { from: "CZK", to: "XPD", amount: 1 })).toBe("unreachable");
    expect(convert(far, { from: "CZK", to: "USD", amount: 1 })).toMatchObject({ to: "USD" });
  });

  test("does not use a quote whose bid is zero", () => {
    expect(convert(stepsOf([pair("EURUSD", 0, 0.00001)]), { from: "USD", to: "EUR", amount: 1 })).toBe("missing");
  });
});

test("a currency is recognized by its name, or by a longer text that begins with its code, unless several are", () => {
  const codes = ["EUR", "USD", "AUD", "XAU", "JPY"];
  expect(["EURO", "GOLD", "YEN", "USDOLLAR", "DOLLAR", "ABC"].map((text) => currencyCalled(text, codes))).toEqual([
    "EUR",
    "XAU",
    "JPY",
    "USD",
    undefined,
    undefined,
  ]);
});
