import fc from "fast-check";
import { expect, test } from "vitest";
import { DAY_MS, HOUR_MS } from "#lib/units";
import { sessionFinder, type WallRange } from "./session-finder";
import { type Zone, zone } from "./zone";

const LAST_YEAR = 1974;
const WALL_DAY: WallRange = [0, DAY_MS];
const day = (date: string) => Date.parse(`${date}T00:00:00Z`) / DAY_MS;
const UTC = zone("UTC");

/** Changes its clock at 02:00, at midnight, and in the opposite seasons. */
const anyZone = fc.constantFrom("UTC", "America/New_York", "Asia/Beirut", "Australia/Sydney").map(zone);
const hour = fc.integer({ min: 0, max: 24 }).map((hours) => hours * HOUR_MS);
const range = fc.tuple(hour, hour).map(([open, close]): WallRange => [open, close]);
const anyRanges = fc.oneof(
  fc.constantFrom([], [WALL_DAY]),
  fc.array(range, { maxLength: 4 }).map((ranges) => ranges.sort((a, b) => a[0] - b[0])),
);
/** The days around the turns of years, and those of clock changes. */
const specialDay = fc.oneof(
  fc
    .tuple(fc.integer({ min: 1969, max: LAST_YEAR + 1 }), fc.integer({ min: -2, max: 2 }))
    .map(([year, shift]) => Date.UTC(year, 0, 1) / DAY_MS + shift),
  fc.constantFrom("1971-04-25", "1971-10-31", "1972-05-01", "1972-10-01", "1973-04-29", "1973-10-28").map(day),
);
/** The open wall times of any day: the same by weekday, other ones on a few days. */
const anyDays = fc
  .record({
    week: fc.oneof(
      anyRanges.map((ranges) => Array<readonly WallRange[]>(7).fill(ranges)),
      fc.array(anyRanges, { minLength: 7, maxLength: 7 }),
    ),
    special: fc.array(fc.tuple(specialDay, anyRanges), { maxLength: 4 }).map((days) => new Map(days)),
  })
  .map(
    ({ week, special }) =>
      (date: number) =>
        special.get(date) ?? week[((date % 7) + 7) % 7] ?? [],
  );

/** Every hour from the start of 1968 to the end of the last year in a zone: 1 while the market is open. */
function hoursOf(local: Zone, openOn: (date: number) => readonly WallRange[]): { startMs: number; open: Uint8Array } {
  const startMs = local.fromLocal(Date.UTC(1968, 0, 1));
  const open = new Uint8Array((local.fromLocal(Date.UTC(LAST_YEAR + 1, 0, 1)) - startMs) / HOUR_MS);
  for (let date = day("1968-01-01"); date < day(`${LAST_YEAR + 1}-01-01`); date += 1) {
    for (const [from, until] of openOn(date)) {
      const index = (wall: number) => (local.fromLocal(date * DAY_MS + wall) - startMs) / HOUR_MS;
      open.fill(1, index(from), Math.max(index(from), index(until)));
    }
  }
  return { startMs, open };
}

/** Walks hour by hour from an instant to both ends of the session or pause around it. */
function walk({ startMs, open }: ReturnType<typeof hoursOf>, searchedFromMs: number, atMs: number) {
  const at = Math.floor((atMs - startMs) / HOUR_MS);
  let [from, until] = [at, at + 1];
  while (from > 0 && open[from - 1] === open[at]) from -= 1;
  while (until < open.length && open[until] === open[at]) until += 1;
  const [fromMs, untilMs] = [startMs + from * HOUR_MS, startMs + until * HOUR_MS];
  const isOpen = open[at] === 1;
  const beforeSearch = isOpen ? fromMs < searchedFromMs : fromMs <= searchedFromMs;
  return {
    open: isOpen,
    fromMs: beforeSearch ? Number.NEGATIVE_INFINITY : fromMs,
    // A session ends with the years searched; a pause does not, as nothing opens after it.
    untilMs: until === open.length && !isOpen ? Number.POSITIVE_INFINITY : untilMs,
  };
}

test("the session or pause around any instant is that of a walk hour by hour, over New Year and over clock changes", () => {
  const instant = fc.oneof(
    fc.integer({ min: Date.UTC(1969, 0, 2), max: Date.UTC(LAST_YEAR, 11, 30) }),
    fc
      .tuple(specialDay, fc.integer({ min: -DAY_MS, max: DAY_MS }))
      .map(([date, shift]) => date * DAY_MS + shift)
      .filter((atMs) => atMs >= Date.UTC(1969, 0, 2) && atMs < Date.UTC(LAST_YEAR, 11, 31)),
  );
  fc.assert(
    fc.property(anyZone, anyDays, fc.array(instant, { minLength: 5, maxLength: 10 }), (local, openOn, instants) => {
      const finder = sessionFinder(local, openOn, LAST_YEAR);
      const hours = hoursOf(local, openOn);
      const searchedFromMs = local.fromLocal(Date.UTC(1969, 0, 1));
      for (const atMs of instants) expect(finder.around(atMs)).toEqual(walk(hours, searchedFromMs, atMs));
    }),
    { numRuns: 150 },
  );
});

test("sessions that overlap or touch are one, even when the clock change turns their ends around", () => {
  const around = (ranges: WallRange[], at: string) =>
    sessionFinder(zone("America/New_York"), (date) => (date === day("2026-03-08") ? ranges : []), 2026).around(Date.parse(at));
  const both = { open: true, fromMs: Date.parse("2026-03-08T06:00Z"), untilMs: Date.parse("2026-03-08T07:30Z") };
  // 02:30 is skipped and means 03:30.
  const ranges: WallRange[] = [
    [HOUR_MS, 2.5 * HOUR_MS],
    [3 * HOUR_MS, 3.25 * HOUR_MS],
  ];
  expect(around(ranges, "2026-03-08T07:20Z")).toEqual(both);
});

test("a year is computed on first use only: instants in the middle of one need no other", () => {
  const asked: number[] = [];
  const finder = sessionFinder(
    UTC,
    (date) => {
      asked.push(date);
      return [[8 * HOUR_MS, 20 * HOUR_MS]];
    },
    2027,
  );
  for (const at of ["2026-01-03", "2026-06-01", "2026-12-30"])
    for (const hours of [4, 12, 22]) finder.around(Date.parse(`${at}T00:00Z`) + hours * HOUR_MS);
  expect(asked).toEqual(Array.from({ length: 365 }, (_, date) => day("2026-01-01") + date));
});
