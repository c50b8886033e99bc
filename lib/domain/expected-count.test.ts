import fc from "fast-check";
import { expect, test } from "vitest";
import { DAY_MS, DAY_S, HOUR_MS, HOUR_S } from "#lib/units";
import { createAlignment, TIMEFRAMES_ORDER, type TradingAlignment } from "./timeframe";
import { expectedCount, expectedSpan, type OpenRange } from "./window";

const ALIGNMENT = createAlignment();
const START = Date.parse("2026-03-01T00:00Z");

/** Counts interval by interval, as the definition says. */
function countOneByOne(timeframe: (typeof TIMEFRAMES_ORDER)[number], from: number, to: number, sessions: readonly OpenRange[]) {
  let count = 0;
  for (let open = ALIGNMENT.openTime(timeframe, from); open < to; open = ALIGNMENT.nextOpenTime(timeframe, open)) {
    const end = ALIGNMENT.nextOpenTime(timeframe, open);
    const overlaps = sessions.some(({ openMs, closeMs }) => openMs < end * 1000 && closeMs > open * 1000);
    if (open >= from && overlaps) count += 1;
  }
  return count;
}

/** Sessions of any length down to milliseconds, with pauses as short. */
const sessions = fc
  .array(fc.tuple(fc.integer({ min: 1, max: DAY_MS }), fc.integer({ min: 1, max: DAY_MS }), fc.constantFrom(1, 100, 10_000)), {
    maxLength: 12,
  })
  .map((parts) => {
    let at = START;
    return parts.map(([pause, length, divisor]): OpenRange => {
      const openMs = at + Math.ceil(pause / divisor);
      at = openMs + Math.ceil(length / divisor);
      return { openMs, closeMs: at };
    });
  });
const instant = fc.integer({ min: START / 1000 - DAY_S, max: START / 1000 + 14 * DAY_S });

test("the expected count has every kline of the window that overlaps a session, once", () => {
  fc.assert(
    fc.property(fc.constantFrom(...TIMEFRAMES_ORDER.slice(1)), sessions, instant, instant, (timeframe, open, a, b) => {
      const [from, to] = a < b ? [a, b] : [b, a + 1];
      expect(expectedCount(timeframe, from, to, open, ALIGNMENT)).toBe(countOneByOne(timeframe, from, to, open));
    }),
  );
});

/** An edge of a kline of any timeframe or a second beside it, on the days of the clock changes of New York as often as on others. */
const nearEdge = fc
  .tuple(
    fc.constantFrom(...TIMEFRAMES_ORDER),
    fc.oneof(
      instant,
      fc.constantFrom("2026-03-08T07:00Z", "2026-11-01T06:00Z").map((at) => Date.parse(at) / 1000),
    ),
    fc.integer({ min: -3 * DAY_S, max: 3 * DAY_S }),
    fc.integer({ min: -1, max: 1 }),
  )
  .map(([timeframe, atS, shift, beside]) => ALIGNMENT.openTime(timeframe, atS + shift) + beside);

test("a session that lasts through clock changes has exactly the klines whose intervals tile it, at any edges", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("M30", "H1", "H4", "D1", "W1", "MN1"),
      fc.uniqueArray(nearEdge, { minLength: 4, maxLength: 4 }),
      fc.nat(3),
      (timeframe, edges, windowEdges) => {
        const [a = 0, b = 0, c = 0, d = 0] = edges.sort((one, other) => one - other);
        // The window begins before or in the session, and ends in it or after.
        const [from, open] = windowEdges % 2 === 0 ? [a, b] : [b, a];
        const [to, close] = windowEdges < 2 ? [c, d] : [d, c];
        const session = [{ openMs: open * 1000, closeMs: close * 1000 }];
        expect(expectedCount(timeframe, from, to, session, ALIGNMENT)).toBe(countOneByOne(timeframe, from, to, session));
      },
    ),
    { numRuns: 300 },
  );
});

test("the sessions asked for begin with the first kline that opens in the window and end with the last, or now", () => {
  fc.assert(
    fc.property(fc.constantFrom("H1", "H4", "D1", "W1"), nearEdge, nearEdge, nearEdge, (timeframe, a, b, nowS) => {
      const [from, to] = a < b ? [a, b] : [b, a + 1];
      const opens: number[] = [];
      for (let open = ALIGNMENT.openTime(timeframe, from); open < to; open = ALIGNMENT.nextOpenTime(timeframe, open))
        if (open >= from) opens.push(open);
      const [first] = opens;
      const last = opens.at(-1);
      const span =
        first === undefined || last === undefined || nowS <= first
          ? null
          : { fromMs: first * 1000, toMs: Math.min(ALIGNMENT.nextOpenTime(timeframe, last), nowS) * 1000 };
      expect(expectedSpan(timeframe, from, to, nowS * 1000, ALIGNMENT)).toEqual(span);
    }),
    { numRuns: 300 },
  );
});

test("an unknown calendar gives an unknown count, a closed one gives none", () => {
  expect(expectedCount("H1", 0, 1_000_000, null, ALIGNMENT)).toBeNull();
  expect(expectedCount("H1", 0, 1_000_000, [], ALIGNMENT)).toBe(0);
});

/** A week of forex: Sunday 17:00 to Friday 17:00 in New York. */
function weeks(from: string, count: number): OpenRange[] {
  return Array.from({ length: count }, (_, week) => {
    const openS = ALIGNMENT.openTime("W1", Date.parse(from) / 1000 + week * 7 * DAY_S + 43_200);
    const closeS = ALIGNMENT.openTime("D1", openS + 5 * DAY_S + 43_200);
    return { openMs: openS * 1000, closeMs: closeS * 1000 };
  });
}

test.each([
  ["M1", 7_200],
  ["M5", 1_440],
  ["H1", 120],
  ["H4", 30],
  ["D1", 5],
  ["W1", 1],
] as const)("a forex week has the expected number of %s klines: %i", (timeframe, count) => {
  const [week] = weeks("2026-01-11T22:00Z", 1);
  const from = (week?.openMs ?? 0) / 1000;
  expect(expectedCount(timeframe, from, from + 7 * DAY_S, week ? [week] : [], ALIGNMENT)).toBe(count);
});

test("the daily break of metals removes an hour of M1 klines and no D1 kline", () => {
  const open = Date.parse("2026-01-11T23:00Z");
  const days = Array.from({ length: 5 }, (_, day) => ({
    openMs: open + day * DAY_MS,
    closeMs: open + day * DAY_MS + 23 * HOUR_MS,
  }));
  const from = open / 1000 - HOUR_S;
  const count = (timeframe: (typeof TIMEFRAMES_ORDER)[number]) => expectedCount(timeframe, from, from + 604_800, days, ALIGNMENT);
  expect([count("M1"), count("H1"), count("H4"), count("D1"), count("MN1")]).toEqual([6_900, 115, 30, 5, 0]);
});

test("decades of minutes and hours are counted without iterating over them", () => {
  let asked = 0;
  const counting: TradingAlignment = {
    ...ALIGNMENT,
    openTime: (timeframe, atS) => {
      asked += 1;
      return ALIGNMENT.openTime(timeframe, atS);
    },
    nextOpenTime: (timeframe, atS) => {
      asked += 1;
      return ALIGNMENT.nextOpenTime(timeframe, atS);
    },
  };
  const open = weeks("1996-01-07T22:00Z", 1_565);
  expect(expectedCount("M1", 0, 2_000_000_000, open, counting)).toBe(1_565 * 7_200);
  expect(expectedCount("H1", 0, 2_000_000_000, open, counting)).toBe(1_565 * 120);
  expect(asked).toBeLessThan(3_200);
});

test("the sessions asked for reach from the first kline that opens in the window to the end of the last", () => {
  const from = Date.parse("2026-01-13T22:30Z") / 1000;
  const to = Date.parse("2026-01-15T22:00:01Z") / 1000;
  const span = (nowMs: number) => expectedSpan("D1", from, to, nowMs, ALIGNMENT);
  const iso = (ms: number | undefined) => new Date(ms ?? 0).toISOString();
  const whole = span(Date.parse("2026-02-01T00:00Z"));
  expect([iso(whole?.fromMs), iso(whole?.toMs)]).toEqual(["2026-01-14T22:00:00.000Z", "2026-01-16T22:00:00.000Z"]);
});

test("future klines cannot be missing: the requested sessions end now", () => {
  const from = Date.parse("2026-01-13T22:00Z") / 1000;
  const now = Date.parse("2026-01-13T22:30Z");
  expect(expectedSpan("D1", from, now / 1000 + 1, now, ALIGNMENT)).toEqual({ fromMs: from * 1000, toMs: now });
  // Metals open at 18:00: at 17:30 the day has begun, but no minute of it was open.
  expect(expectedCount("D1", from, now / 1000 + 1, [], ALIGNMENT)).toBe(0);
  expect(expectedSpan("D1", from, now / 1000 + 1, from * 1000, ALIGNMENT)).toBeNull();
});

test("a window in which no kline opens needs no sessions", () => {
  const from = Date.parse("2026-01-13T22:00:01Z") / 1000;
  expect(expectedSpan("D1", from, from + HOUR_S, (from + DAY_S) * 1000, ALIGNMENT)).toBeNull();
});
