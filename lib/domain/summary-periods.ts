import type { Centre } from "#lib/contract/primitives";
import type { SummaryBy, SummaryEvent } from "#lib/operations/marketSummary/declaration";
import { DAY_MS, HOUR_MS, HOUR_S, isoDate, SECOND_MS } from "#lib/units";
import type { Calendar } from "./calendar";
import type { TradingAlignment } from "./timeframe";
import { CENTRES_ORDER, officeHours } from "./world-sessions";
import type { Zone } from "./zone";

export interface SummaryPlan {
  readonly by: SummaryBy;
  /** Only the office hours of this centre. */
  readonly session: Centre | undefined;
  /** Only the first or last clock hour of a day or session in which the market is open. */
  readonly part: "open" | "close" | undefined;
  /** Of the hours. */
  readonly zone: Zone;
  /** Undefined where it is not known when the market is open. */
  readonly calendar: Calendar | undefined;
  readonly alignment: TradingAlignment;
  /** Unix seconds; periods that begin later are left out. */
  readonly nowS: number;
}

/** A stretch of time of which a summary measures the range and change. */
export interface SummaryPeriod {
  /** Midnight UTC of its date, Unix milliseconds. */
  readonly dateMs: number;
  /** Unix seconds, `toS` excluded. */
  readonly fromS: number;
  readonly toS: number;
  /** The rows that count it, and where each is in their order. */
  readonly groups: readonly SummaryGroup[];
}

interface SummaryGroup {
  readonly name: string;
  readonly order: number;
}

interface Span {
  readonly fromS: number;
  readonly toS: number;
}

const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/** Of the month of a date in ISO 8601, and of its year. */
const MONTH_CHARACTERS = 7;
const YEAR_CHARACTERS = 4;
/** Days in which the trading day next to another one is looked for: longer than any closure of a market that trades. */
const NEXT_DAY_MAX_DAYS = 10;
/** In the order of the rows. */
const EVENTS_ORDER: readonly SummaryEvent[] = [
  "week_open",
  "week_close",
  "holiday_eve",
  "after_holiday",
  "short_day",
  "ordinary",
];
/** Closures of a day of which the reason is looked at; only markets that open and close by the minute have more. */
const CLOSURES_MAX_COUNT = 8;
/** The reasons for closures that are no part of an ordinary week. */
const EXCEPTIONS: ReadonlySet<string | null> = new Set(["holiday", "early_close", "late_open"]);

const weekdayOf = (dateMs: number) => (new Date(dateMs).getUTCDay() + 6) % 7;

/** The trading day of a date, [open, open of the next). */
function tradingDay(dateMs: number, alignment: TradingAlignment): Span {
  const midnightS = dateMs / SECOND_MS;
  return { fromS: alignment.tradingDayOpen(midnightS), toS: alignment.nextOpenTime("D1", midnightS) };
}

/** When the market is open in a span; null where the calendar does not say. */
export const sessionsIn = (calendar: Calendar | undefined, { fromS, toS }: Span) =>
  calendar?.sessionsBetween(fromS * SECOND_MS, toS * SECOND_MS) ?? null;

/** The clock hours of a span in which the market is open first and last; the span itself where the calendar does not say. */
function partOf(part: "open" | "close", span: Span, calendar: Calendar | undefined): Span | undefined {
  const sessions = sessionsIn(calendar, span) ?? [{ openMs: span.fromS * SECOND_MS, closeMs: span.toS * SECOND_MS }];
  const atMs = part === "open" ? sessions[0]?.openMs : sessions.at(-1)?.closeMs;
  if (atMs === undefined) return undefined;
  const hourS = (part === "open" ? Math.floor(atMs / HOUR_MS) : Math.ceil(atMs / HOUR_MS) - 1) * HOUR_S;
  return { fromS: Math.max(span.fromS, hourS), toS: Math.min(span.toS, hourS + HOUR_S) };
}

/** Says what kind of trading day a date is. */
function eventFinder({ calendar, alignment }: SummaryPlan) {
  const known = new Map<number, ReturnType<typeof readDay>>();

  /** Whether the market opens on a date, and whether a holiday closes or shortens it; null where the calendar does not say. */
  function readDay(dateMs: number): { readonly opens: boolean; readonly short: boolean } | null {
    const day = tradingDay(dateMs, alignment);
    const sessions = sessionsIn(calendar, day);
    if (calendar === undefined || sessions === null) return null;
    const starts = [day.fromS * SECOND_MS, ...sessions.slice(0, CLOSURES_MAX_COUNT).map(({ closeMs }) => closeMs)];
    const short = starts.some((atMs) => atMs < day.toS * SECOND_MS && EXCEPTIONS.has(calendar.sessionAt(atMs).reason));
    return { opens: sessions.length > 0, short };
  }

  function dayOf(dateMs: number) {
    const day = known.get(dateMs);
    if (day !== undefined) return day;
    const read = readDay(dateMs);
    known.set(dateMs, read);
    return read;
  }

  /** The next day, or the one before, on which the market opens or would but for a holiday. */
  function nextTo(dateMs: number, step: 1 | -1) {
    for (let days = 1; days <= NEXT_DAY_MAX_DAYS; days += 1) {
      const day = dayOf(dateMs + step * days * DAY_MS);
      if (day === null || day.opens || day.short) return day;
    }
    return null;
  }

  /** Whether the market opens on a day of the same week from `first` to `last`, days from its Monday. */
  function opensIn(dateMs: number, first: number, last: number): boolean {
    const mondayMs = dateMs - weekdayOf(dateMs) * DAY_MS;
    for (let day = first; day <= last; day += 1) if (dayOf(mondayMs + day * DAY_MS)?.opens) return true;
    return false;
  }

  return (dateMs: number): SummaryEvent[] => {
    const day = dayOf(dateMs);
    if (day === null) return [];
    const weekday = weekdayOf(dateMs);
    const found: (SummaryEvent | false | undefined)[] = [
      !opensIn(dateMs, 0, weekday - 1) && "week_open",
      !opensIn(dateMs, weekday + 1, WEEKDAYS.length - 1) && "week_close",
      nextTo(dateMs, 1)?.short && "holiday_eve",
      nextTo(dateMs, -1)?.short && "after_holiday",
      day.short && "short_day",
    ];
    const events = found.filter((event) => typeof event === "string");
    return events.length === 0 ? ["ordinary"] : events;
  };
}

/** Names the rows that count a period of a date which begins at `fromS`. */
function groupsOf(plan: SummaryPlan): (dateMs: number, fromS: number, centre: Centre | undefined) => SummaryGroup[] {
  const { by, zone } = plan;
  const cut = (characters?: number) => (dateMs: number) => [{ name: isoDate(dateMs).slice(0, characters), order: dateMs }];
  switch (by) {
    case "day":
      return cut();
    case "week":
      return (dateMs) => cut()(dateMs - weekdayOf(dateMs) * DAY_MS);
    case "month":
      return cut(MONTH_CHARACTERS);
    case "year":
      return cut(YEAR_CHARACTERS);
    case "all":
      return () => [{ name: "all", order: 0 }];
    case "weekday":
      return (dateMs) => [{ name: WEEKDAYS[weekdayOf(dateMs)] as string, order: weekdayOf(dateMs) }];
    case "hour_of_day":
      return (_, fromS) => {
        const hour = new Date(zone.toLocal(fromS * SECOND_MS)).getUTCHours();
        return [{ name: `${String(hour).padStart(2, "0")}:00`, order: hour }];
      };
    case "session":
      return (_, __, centre) => [{ name: centre as string, order: CENTRES_ORDER.indexOf(centre as Centre) }];
    case "event": {
      const eventsOf = eventFinder(plan);
      return (dateMs) => eventsOf(dateMs).map((name) => ({ name, order: EVENTS_ORDER.indexOf(name) }));
    }
  }
}

/**
 * The periods of some dates, ascending, in lanes: those of one lane do not overlap. There is a lane for each centre of `by: "session"`,
 * else there is one. A period is, of each date, its trading day or the session of a centre, or the part of it, or each of its clock
 * hours. Each week, month or year is one period, cut to the given dates, unless a session or a part is requested.
 * Periods in which the market never opens are left out. Makes one date after the other, as it is read.
 * @param fromMs midnight UTC of the first date, `toMs` of the one after the last, Unix milliseconds
 */
export function summaryLanes(plan: SummaryPlan, fromMs: number, toMs: number): Generator<SummaryPeriod>[] {
  const { by, session, part, calendar, alignment, nowS } = plan;
  const groups = groupsOf(plan);
  const isWhole = session === undefined && part === undefined && (by === "week" || by === "month" || by === "year");

  /** What is measured of a date. */
  function spanOf(dateMs: number, centre: Centre | undefined): Span | undefined {
    const office = centre && officeHours(centre, dateMs);
    if (centre !== undefined && office === undefined) return undefined;
    const whole = office ? { fromS: office.openMs / SECOND_MS, toS: office.closeMs / SECOND_MS } : tradingDay(dateMs, alignment);
    if (sessionsIn(calendar, whole)?.length === 0) return undefined;
    const span = part === undefined ? whole : partOf(part, whole, calendar);
    return span !== undefined && span.fromS <= nowS ? span : undefined;
  }

  function* lane(centre: Centre | undefined): Generator<SummaryPeriod> {
    let running: SummaryPeriod | undefined;
    for (let dateMs = fromMs; dateMs < toMs; dateMs += DAY_MS) {
      const span = spanOf(dateMs, centre);
      if (span === undefined) continue;
      if (by === "hour_of_day") {
        for (let { fromS } = span; fromS < span.toS && fromS <= nowS; fromS += HOUR_S) {
          const hour = { dateMs, fromS, toS: Math.min(span.toS, fromS + HOUR_S) };
          if (sessionsIn(calendar, hour)?.length !== 0) yield { ...hour, groups: groups(dateMs, fromS, centre) };
        }
        continue;
      }
      const period = { dateMs, ...span, groups: groups(dateMs, span.fromS, centre) };
      if (!isWhole) yield period;
      else if (running !== undefined && running.groups[0]?.name === period.groups[0]?.name)
        running = { ...running, toS: span.toS };
      else {
        if (running !== undefined) yield running;
        running = period;
      }
    }
    if (running !== undefined) yield running;
  }

  return by === "session" && session === undefined ? CENTRES_ORDER.map(lane) : [lane(session)];
}
