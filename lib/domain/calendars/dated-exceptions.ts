import type { LocalDate, WallTime, WeeklyCalendar } from "#lib/domain/calendar";

/**
 * One line of a holiday table: the date, the local time at which that day's trading ends ("00:00": the day does not
 * begin), the local time at which trading begins again on the same date (null: not on that date), and why.
 */
export type DatedException = readonly [date: LocalDate, ends: WallTime, begins: WallTime | null, why: string];

/** The three kinds of dated exceptions of a weekly calendar with their names, from one table. */
export function datedExceptions(
  table: readonly DatedException[],
): Pick<WeeklyCalendar, "holidays" | "earlyCloses" | "lateOpens" | "names"> {
  const holidays: LocalDate[] = [];
  const earlyCloses: Record<LocalDate, WallTime> = {};
  const lateOpens: Record<LocalDate, WallTime> = {};
  const names: Record<LocalDate, string> = {};
  for (const [date, ends, begins, why] of table) {
    names[date] = why;
    if (ends !== "00:00") earlyCloses[date] = ends;
    if (begins !== null) lateOpens[date] = begins;
    if (ends === "00:00" && begins === null) holidays.push(date);
  }
  return { holidays, earlyCloses, lateOpens, names };
}
