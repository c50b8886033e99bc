import fc from "fast-check";
import { expect, test } from "vitest";
import { TIMEFRAMES } from "#lib/contract/primitives";
import { DAY_S, HOUR_S } from "#lib/units";
import { createAlignment, NEW_YORK_CLOSE, TIMEFRAME_SECONDS, TIMEFRAMES_ORDER, timeframeOfMinutes } from "./timeframe";
import { wallTimeMs, zone } from "./zone";

const RULES = {
  "New York 17:00": NEW_YORK_CLOSE,
  "UTC midnight": { zone: "UTC", dayStart: "00:00" },
  "Athens midnight": { zone: "Europe/Athens", dayStart: "00:00" },
  "Chicago 16:30": { zone: "America/Chicago", dayStart: "16:30" },
  "London 08:00": { zone: "Europe/London", dayStart: "08:00" },
  // These two change at midnight, so that some midnights do not exist and some come twice.
  "Beirut midnight": { zone: "Asia/Beirut", dayStart: "00:00" },
  "Azores midnight": { zone: "Atlantic/Azores", dayStart: "00:00" },
};
const ALIGNMENTS = Object.entries(RULES).map(([name, rule]) => [name, rule] as const);
const NEW_YORK = createAlignment();

const seconds = (iso: string) => Date.parse(iso) / 1000;
const iso = (atS: number) => new Date(atS * 1000).toISOString().replace(":00.000Z", "Z");
const timeframe = fc.constantFrom(...TIMEFRAMES_ORDER);
const instant = fc.integer({ min: seconds("1971-01-01T00:00Z"), max: seconds("2060-01-01T00:00Z") });

test("the order of timeframes is that of the contract, from the shortest to the longest", () => {
  expect(TIMEFRAMES_ORDER).toEqual(TIMEFRAMES);
  const lengths = TIMEFRAMES_ORDER.map((name) => TIMEFRAME_SECONDS[name]);
  expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
});

test("a timeframe is known by its minutes, a month by those of 30 days", () => {
  expect([1, 5, 15, 30, 60, 240, 1_440, 10_080, 43_200].map(timeframeOfMinutes)).toEqual(TIMEFRAMES_ORDER);
  expect([0, 2, 120, 44_640].map(timeframeOfMinutes)).toEqual([undefined, undefined, undefined, undefined]);
});

test.each(ALIGNMENTS)("intervals tile time without gap or overlap: %s", (_, rule) => {
  const alignment = createAlignment(rule);
  fc.assert(
    fc.property(timeframe, instant, (name, atS) => {
      const open = alignment.openTime(name, atS);
      const next = alignment.nextOpenTime(name, atS);
      expect(open).toBeLessThanOrEqual(atS);
      expect(next).toBeGreaterThan(atS);
      expect(alignment.openTime(name, open)).toBe(open);
      expect(alignment.openTime(name, next - 1)).toBe(open);
      expect(alignment.openTime(name, next)).toBe(next);
      expect(alignment.nextOpenTime(name, open)).toBe(next);
    }),
    { numRuns: 300 },
  );
});

test.each(ALIGNMENTS)("the interval of an instant does not depend on earlier calls: %s", (_, rule) => {
  const alignment = createAlignment(rule);
  fc.assert(
    fc.property(timeframe, fc.array(instant, { minLength: 1, maxLength: 5 }), (name, instants) => {
      const answers = instants.map((atS) => alignment.openTime(name, atS));
      const fresh = createAlignment(rule);
      const backwards = instants.toReversed().map((atS) => fresh.openTime(name, atS));
      expect(backwards.toReversed()).toEqual(answers);
    }),
    { numRuns: 50 },
  );
});

/** Days, weeks and months that would open while the clock skips an hour, as in Athens in 1980, are left out. */
test.each([
  ...ALIGNMENTS.slice(0, 5),
  ["New York 12:00", { zone: "America/New_York", dayStart: "12:00" }] as const,
  ["New York 11:59", { zone: "America/New_York", dayStart: "11:59" }] as const,
])("days, weeks and months open on the wall clock, a day from noon on under the date of the next: %s", (_, rule) => {
  const alignment = createAlignment(rule);
  const clock = zone(rule.zone);
  const dayStartS = wallTimeMs(rule.dayStart) / 1000;
  const nextDate = dayStartS >= 12 * HOUR_S;
  fc.assert(
    fc.property(fc.oneof(instant, fc.integer({ min: -DAY_S, max: DAY_S })), (atS) => {
      /** The wall clock at the open of a timeframe's kline, in seconds since midnight and as a date. */
      const open = (name: "H4" | "D1" | "W1" | "MN1") => {
        const wallMs = clock.toLocal(alignment.openTime(name, atS) * 1000);
        return {
          sinceMidnightS: (((wallMs / 1000) % DAY_S) + DAY_S) % DAY_S,
          date: new Date(wallMs + (nextDate ? DAY_S * 1000 : 0)),
        };
      };
      for (const name of ["D1", "W1", "MN1"] as const) {
        const wallMs = clock.toLocal(alignment.openTime(name, atS) * 1000);
        const boundaryMs = Math.floor(wallMs / (DAY_S * 1000)) * DAY_S * 1000 + dayStartS * 1000;
        fc.pre(clock.toLocal(clock.fromLocal(boundaryMs)) === boundaryMs);
      }
      expect((open("H4").sinceMidnightS + DAY_S - dayStartS) % (4 * HOUR_S)).toBe(0);
      for (const name of ["D1", "W1", "MN1"] as const) expect(open(name).sinceMidnightS).toBe(dayStartS);
      // A week opens on Sunday by the wall clock, whichever date its first day has.
      expect(open("W1").date.getUTCDay()).toBe(nextDate ? 1 : 0);
      expect(open("MN1").date.getUTCDate()).toBe(1);
      expect(alignment.tradingDayOpen(atS)).toBe(alignment.openTime("D1", atS));
      expect(alignment.nextOpenTime("D1", atS) - alignment.openTime("D1", atS)).toBeLessThanOrEqual(25 * HOUR_S);
      expect(alignment.nextOpenTime("MN1", atS) - alignment.openTime("MN1", atS)).toBeLessThan(32 * DAY_S);
    }),
  );
});

test("a longer kline begins and ends with klines of every shorter timeframe that it is built from", () => {
  const nested = [
    ["M1", "M5"],
    ["M5", "M15"],
    ["M15", "M30"],
    ["M30", "H1"],
    ["H1", "H4"],
    ["H4", "D1"],
    ["D1", "W1"],
    ["D1", "MN1"],
  ] as const;
  fc.assert(
    fc.property(fc.constantFrom(...nested), instant, ([shorter, longer], atS) => {
      const open = NEW_YORK.openTime(longer, atS);
      expect(NEW_YORK.openTime(shorter, open)).toBe(open);
    }),
  );
});

test("M1 to H1 open on UTC multiples", () => {
  const at = seconds("2026-03-08T06:59:59Z");
  const opens = (["M1", "M5", "M15", "M30", "H1"] as const).map((name) => iso(NEW_YORK.openTime(name, at)).slice(11));
  expect(opens).toEqual(["06:59Z", "06:55Z", "06:45Z", "06:30Z", "06:00Z"]);
});

test.each([
  ["winter", "2026-01-14T15:30Z", "2026-01-13T22:00Z", "2026-01-14T22:00Z"],
  ["summer", "2026-07-15T15:30Z", "2026-07-14T21:00Z", "2026-07-15T21:00Z"],
  ["the second before the day opens", "2026-07-15T20:59:59Z", "2026-07-14T21:00Z", "2026-07-15T21:00Z"],
  ["the second it opens", "2026-07-15T21:00Z", "2026-07-15T21:00Z", "2026-07-16T21:00Z"],
  ["Sunday evening is Monday's", "2026-01-11T23:00Z", "2026-01-11T22:00Z", "2026-01-12T22:00Z"],
  ["spring: the day of the switch has 23 hours", "2026-03-08T12:00Z", "2026-03-07T22:00Z", "2026-03-08T21:00Z"],
  ["autumn: the day of the switch has 25 hours", "2026-11-01T12:00Z", "2026-10-31T21:00Z", "2026-11-01T22:00Z"],
])("D1 opens at 17:00 in New York: %s", (_, at, open, next) => {
  expect(iso(NEW_YORK.openTime("D1", seconds(at)))).toBe(open);
  expect(iso(NEW_YORK.nextOpenTime("D1", seconds(at)))).toBe(next);
  expect(iso(NEW_YORK.tradingDayOpen(seconds(at)))).toBe(open);
});

/** Open times of all klines in a range. */
function opensOf(name: (typeof TIMEFRAMES_ORDER)[number], from: string, to: string): string[] {
  const opens: string[] = [];
  for (let open = seconds(from); open < seconds(to); open = NEW_YORK.nextOpenTime(name, open)) opens.push(iso(open));
  return opens;
}

test.each([
  ["winter", "2026-01-13T22", "2026-01-14T22", ["22", "02", "06", "10", "14", "18"]],
  ["summer", "2026-07-14T21", "2026-07-15T21", ["21", "01", "05", "09", "13", "17"]],
  // 01:00 to 05:00 in New York lasts three hours in spring and five in autumn.
  ["spring switch", "2026-03-07T22", "2026-03-08T21", ["22", "02", "06", "09", "13", "17"]],
  ["autumn switch", "2026-10-31T21", "2026-11-01T22", ["21", "01", "05", "10", "14", "18"]],
])("H4 opens at 17, 21, 01, 05, 09 and 13 in New York: %s", (_, from, to, hours) => {
  expect(opensOf("H4", `${from}:00Z`, `${to}:00Z`).map((open) => open.slice(11, 13))).toEqual(hours);
});

test("W1 opens on Sunday at 17:00 in New York, across both clock changes", () => {
  expect(opensOf("W1", "2026-03-01T22:00Z", "2026-03-16T00:00Z")).toEqual([
    "2026-03-01T22:00Z",
    "2026-03-08T21:00Z",
    "2026-03-15T21:00Z",
  ]);
  expect(iso(NEW_YORK.openTime("W1", seconds("2026-11-01T21:59:59Z")))).toBe("2026-10-25T21:00Z");
  expect(iso(NEW_YORK.openTime("W1", seconds("2026-11-01T22:00Z")))).toBe("2026-11-01T22:00Z");
});

test("MN1 opens at 17:00 in New York on the eve of the first, in every month of a leap year", () => {
  const opens = opensOf("MN1", "2027-12-31T22:00Z", "2028-12-31T22:00Z");
  expect(opens).toEqual([
    "2027-12-31T22:00Z",
    "2028-01-31T22:00Z",
    "2028-02-29T22:00Z",
    "2028-03-31T21:00Z",
    "2028-04-30T21:00Z",
    "2028-05-31T21:00Z",
    "2028-06-30T21:00Z",
    "2028-07-31T21:00Z",
    "2028-08-31T21:00Z",
    "2028-09-30T21:00Z",
    "2028-10-31T21:00Z",
    "2028-11-30T22:00Z",
  ]);
});

test("a source whose day opens at midnight labels weeks on Sunday and months on the first", () => {
  const athens = createAlignment(RULES["Athens midnight"]);
  const at = seconds("2019-07-17T12:00Z");
  expect(iso(athens.openTime("D1", at))).toBe("2019-07-16T21:00Z");
  expect(iso(athens.openTime("W1", at))).toBe("2019-07-13T21:00Z");
  expect(iso(athens.openTime("MN1", at))).toBe("2019-06-30T21:00Z");
});
