import type { TradingHours } from "#lib/operations/marketHours/declaration";
import { DAY_S, HOUR_S, MINUTE_S } from "#lib/units";
import { AHEAD_S, tradingClock } from "../trading-date";

/** The session of a symbol as the Charting Library writes it. */
interface SessionTexts {
  readonly session: string;
  readonly session_holidays: string;
  readonly corrections: string;
}

/** An open part of a trading day, in seconds since its start. */
type Part = readonly [from: number, to: number];

const DAYS_OF_WEEK = 7;
/** 1970-01-01, day 0, was a Thursday; the library counts from 1, Sunday. */
const WEEKDAY_OF_DAY_0 = 4;
/** More parts than any market has on a day: it opens and closes by the minute, and is drawn as always open. */
const PARTS_MAX_COUNT = 8;
/** Open at any time; also what is assumed when no hours are known. */
const ALWAYS: SessionTexts = { session: "1700-1700:1234567", session_holidays: "", corrections: "" };

const two = (value: number) => String(value).padStart(2, "0");

/** A time of a trading day on New York's clock, as HHMM. */
function wallText(inDayS: number): string {
  const wallS = (inDayS - AHEAD_S + DAY_S) % DAY_S;
  return `${two(Math.floor(wallS / HOUR_S))}${two(Math.floor((wallS % HOUR_S) / MINUTE_S))}`;
}

/** A part as `HHMM-HHMM`. One that begins later than it ends begins on the day before; F1 says so where it also ends there. */
function partText([from, to]: Part): string {
  const eve = to < AHEAD_S ? "F1" : "";
  return `${wallText(from)}${eve}-${wallText(to)}${eve}`;
}

const textOf = (parts: readonly Part[]) => parts.map(partText).join(",");

/** The open parts of each trading day, by its number since 1970-01-01. */
function partsByDay(sessions: TradingHours["sessions"]): Map<number, Part[]> {
  const days = new Map<number, Part[]>();
  for (const session of sessions) {
    const [from, to] = [tradingClock(session.from), tradingClock(session.to)];
    for (let day = Math.floor(from / DAY_S); day * DAY_S < to; day += 1) {
      const part: Part = [Math.max(0, from - day * DAY_S), Math.min(DAY_S, to - day * DAY_S)];
      days.set(day, [...(days.get(day) ?? []), part]);
    }
  }
  return days;
}

const weekdayOf = (day: number) => ((day + WEEKDAY_OF_DAY_0) % DAYS_OF_WEEK) + 1;
const dateText = (day: number) => new Date(day * DAY_S * 1000).toISOString().slice(0, 10).replaceAll("-", "");

/** The most frequent text. */
function usual(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "";
}

/** Adds a value to the list of a key. */
function file<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  lists.set(key, [...(lists.get(key) ?? []), value]);
}

/**
 * The week of a market and its exceptions, found in its sessions: the usual day of each weekday, and every date that differs. The
 * first and last day of the range are cut, so they do not count.
 */
export function sessionTexts({ from, to, sessions }: Pick<TradingHours, "from" | "to" | "sessions">): SessionTexts {
  const parts = partsByDay(sessions);
  if ([...parts.values()].some((day) => day.length > PARTS_MAX_COUNT)) return ALWAYS;
  const [first, last] = [Math.floor(tradingClock(from) / DAY_S) + 1, Math.floor(tradingClock(to) / DAY_S) - 1];
  const days = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
    const day = first + index;
    return { day, weekday: weekdayOf(day), text: textOf(parts.get(day) ?? []) };
  });
  const week = Array.from({ length: DAYS_OF_WEEK }, (_, index) =>
    usual(days.flatMap(({ weekday, text }) => (weekday === index + 1 ? [text] : []))),
  );
  const weekdays = new Map<string, number[]>();
  for (const [index, text] of week.entries()) if (text !== "") file(weekdays, text, index + 1);
  if (weekdays.size === 0) return ALWAYS;
  const dates = new Map<string, string[]>();
  for (const { day, weekday, text } of days) if (text !== week[weekday - 1]) file(dates, text, dateText(day));
  const holidays = dates.get("") ?? [];
  dates.delete("");
  return {
    session: [...weekdays].map(([text, of]) => `${text}:${of.join("")}`).join("|"),
    session_holidays: holidays.join(","),
    corrections: [...dates].map(([text, of]) => `${text}:${of.join(",")}`).join(";"),
  };
}
