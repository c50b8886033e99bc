import type { LocalDate, WallTime, WeeklyCalendar, WeeklySegment } from "#lib/domain/calendar";
import { zone } from "#lib/domain/zone";
import { DAY_MS } from "#lib/units";

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const;
type Weekday = (typeof WEEKDAYS)[number];

/** The session fields of an entry in QuantConnect Lean's market-hours-database.json. */
export type LeanEntry = {
  exchangeTimeZone: string;
  holidays: string[];
  earlyCloses?: Record<string, string>;
  lateOpens?: Record<string, string>;
} & Record<Weekday, { start: string; end: string }[]>;

/** The calendar fields of Dukascopy's instrument list, as dukascopy-node records it. */
export interface DukascopyInstrument {
  defaultTimezone: string;
  /** Closures in Unix milliseconds. */
  holidays: { from: number; till: number }[];
  tradeSchedule: {
    sessions: Record<string, { start: string; previousDayStart: boolean; end: string; previousDayEnd: boolean }[]>;
  }[];
}

function weekday(index: number): WeeklySegment["day"] {
  return (((index % 7) + 7) % 7) as WeeklySegment["day"];
}

/** Lean's zone names to IANA; POSIX signs of Etc zones are reversed. */
function leanZone(name: string): string {
  return name === "UTC-05" ? "Etc/GMT+5" : name;
}

/** "4/3/2026" to "2026-04-03". */
function leanDate(date: string): LocalDate {
  const [month = "", day = "", year = ""] = date.split("/");
  return `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
}

function leanTimes(times: Record<string, string> | undefined): Record<LocalDate, WallTime> {
  return Object.fromEntries(Object.entries(times ?? {}).map(([date, time]) => [leanDate(date), time]));
}

/**
 * The effective calendar of a Lean entry ("Future-comex-GC"): its own and its market's wildcard entry together. Own early
 * closes and late opens win; a date that has one of them is not a holiday, even if the wildcard lists it.
 */
export function leanCalendar(
  entries: Readonly<Record<string, LeanEntry>>,
  name: string,
  coveredUntil: LocalDate,
): WeeklyCalendar {
  const own = entries[name];
  if (own === undefined) throw new Error(`no entry ${name}`);
  const market = entries[name.replace(/-[^-]+$/, "-[*]")];
  const ownTimes = { ...leanTimes(own.earlyCloses), ...leanTimes(own.lateOpens) };
  const shared = (market?.holidays ?? []).map(leanDate).filter((date) => own === market || ownTimes[date] === undefined);
  return {
    kind: "weekly",
    zone: leanZone(own.exchangeTimeZone),
    week: WEEKDAYS.flatMap((day, index) =>
      own[day].map(({ start, end }) => ({ day: weekday(index), open: start, close: end === "1.00:00:00" ? "24:00" : end })),
    ),
    holidays: [...new Set([...own.holidays.map(leanDate), ...shared])],
    earlyCloses: { ...leanTimes(market?.earlyCloses), ...leanTimes(own.earlyCloses) },
    lateOpens: { ...leanTimes(market?.lateOpens), ...leanTimes(own.lateOpens) },
    coveredUntil,
  };
}

/** The calendar of a Dukascopy instrument; its closures are instants, and become dated exceptions of local days. */
export function dukascopyCalendar(instrument: DukascopyInstrument, coveredUntil: LocalDate): WeeklyCalendar {
  const week: WeeklySegment[] = [];
  for (const [name, sessions] of Object.entries(instrument.tradeSchedule[0]?.sessions ?? {})) {
    const index = WEEKDAYS.indexOf(name.toLowerCase() as Weekday);
    for (const { start, previousDayStart, end } of sessions) {
      if (previousDayStart) week.push({ day: weekday(index - 1), open: start, close: "24:00" });
      week.push({ day: weekday(index), open: previousDayStart ? "00:00" : start, close: end });
    }
  }
  const local = zone(instrument.defaultTimezone);
  const dateOf = (localMs: number) => new Date(localMs).toISOString().slice(0, 10);
  const timeOf = (localMs: number) => new Date(localMs).toISOString().slice(11, 19);
  const holidays: LocalDate[] = [];
  const earlyCloses: Record<LocalDate, WallTime> = {};
  const lateOpens: Record<LocalDate, WallTime> = {};
  for (const closure of instrument.holidays) {
    const from = local.toLocal(closure.from);
    const till = local.toLocal(closure.till);
    if (from % DAY_MS !== 0) earlyCloses[dateOf(from)] = timeOf(from);
    for (let day = Math.ceil(from / DAY_MS) * DAY_MS; day + DAY_MS <= till; day += DAY_MS) holidays.push(dateOf(day));
    if (till % DAY_MS !== 0) lateOpens[dateOf(till)] = timeOf(till);
  }
  return { kind: "weekly", zone: instrument.defaultTimezone, week, holidays, earlyCloses, lateOpens, coveredUntil };
}
