import type { CalendarDefinitionSchema, CalendarException } from "#lib/contract/calendar";

/** A calendar of weekly sessions and dated exceptions. */
export type WeeklyDefinition = Extract<CalendarDefinitionSchema, { kind: "weekly" }>;

/** The order of the rows that share a date. */
export const EXCEPTION_KINDS = [
  { value: "closed", label: "Closed all day" },
  { value: "early_close", label: "Closes early" },
  { value: "late_open", label: "Opens late" },
] as const satisfies readonly { readonly value: CalendarException["kind"]; readonly label: string }[];

/** Local weekdays by the number that a session has. */
export const DAY_NAMES = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;

const rank = (kind: CalendarException["kind"]) => EXCEPTION_KINDS.findIndex(({ value }) => value === kind);

function sorted(rows: readonly CalendarException[]): readonly CalendarException[] {
  return rows.toSorted((a, b) => (a.date === b.date ? rank(a.kind) - rank(b.kind) : a.date < b.date ? -1 : 1));
}

/** The dated exceptions of a calendar as rows, by date. A date that closes early and opens again later has two. */
export function exceptionsOf({ holidays, earlyCloses, lateOpens, names }: WeeklyDefinition): readonly CalendarException[] {
  const nameOf = (date: string) => names?.[date] ?? "";
  return sorted([
    ...[...new Set(holidays)].map((date) => ({ date, kind: "closed", time: "", name: nameOf(date) }) as const),
    ...Object.entries(earlyCloses).map(([date, time]) => ({ date, kind: "early_close", time, name: nameOf(date) }) as const),
    ...Object.entries(lateOpens).map(([date, time]) => ({ date, kind: "late_open", time, name: nameOf(date) }) as const),
  ]);
}

/** The calendar with these rows in place of its dated exceptions. */
export function withExceptions(weekly: WeeklyDefinition, rows: readonly CalendarException[]): WeeklyDefinition {
  const holidays: string[] = [];
  const earlyCloses: Record<string, string> = {};
  const lateOpens: Record<string, string> = {};
  const names: Record<string, string> = {};
  for (const { date, kind, time, name } of sorted(rows)) {
    if (kind === "closed") holidays.push(date);
    else if (kind === "early_close") earlyCloses[date] = time;
    else lateOpens[date] = time;
    if (name !== "") names[date] = name;
  }
  return { ...weekly, holidays, earlyCloses, lateOpens, names: Object.keys(names).length === 0 ? undefined : names };
}

/**
 * The rows with one more. It replaces what it excludes on its date: a row of the same kind, all rows when the day is closed,
 * a closed day otherwise. The rows of a date share its name.
 * @param replaced the row that was edited, which it replaces too
 */
export function putException(
  rows: readonly CalendarException[],
  row: CalendarException,
  replaced?: CalendarException,
): readonly CalendarException[] {
  const excluded = (other: CalendarException) =>
    other.date === row.date && (row.kind === "closed" || other.kind === "closed" || other.kind === row.kind);
  const kept = rows.filter((other) => !isSame(other, replaced) && !excluded(other));
  return sorted([...kept.map((other) => (other.date === row.date ? { ...other, name: row.name } : other)), row]);
}

/** True for the same kind of exception on the same date. */
export function isSame(row: CalendarException, other: CalendarException | undefined): boolean {
  return row.date === other?.date && row.kind === other.kind;
}

/** The rows after an import: on each imported date the imported rows replace all others. */
export function mergeExceptions(
  rows: readonly CalendarException[],
  imported: readonly CalendarException[],
): readonly CalendarException[] {
  const dates = new Set(imported.map(({ date }) => date));
  return sorted([...rows.filter(({ date }) => !dates.has(date)), ...imported]);
}

function effectOf({ kind, time }: CalendarException): string {
  return kind === "closed" ? "closed" : `${kind === "early_close" ? "closes" : "opens"} ${time}`;
}

/** What happens on each date, as text: "closes 13:00, opens 18:00 (Labor Day)". */
export function datesText(rows: readonly CalendarException[]): Readonly<Record<string, string>> {
  const effects = new Map<string, string>();
  const names = new Map<string, string>();
  for (const row of sorted(rows)) {
    const before = effects.get(row.date);
    effects.set(row.date, before === undefined ? effectOf(row) : `${before}, ${effectOf(row)}`);
    if (row.name !== "") names.set(row.date, ` (${row.name})`);
  }
  return Object.fromEntries([...effects].map(([date, effect]) => [date, effect + (names.get(date) ?? "")]));
}

/** The first date from `today` on whose hours differ between two weekly definitions; undefined where none does. */
export function firstChangedDate(
  before: CalendarDefinitionSchema,
  after: CalendarDefinitionSchema,
  today: string,
): string | undefined {
  if (before.kind !== "weekly" || after.kind !== "weekly") return undefined;
  const [old, young] = [datesText(exceptionsOf(before)), datesText(exceptionsOf(after))];
  const dates = Object.keys({ ...old, ...young }).filter((date) => date >= today && old[date] !== young[date]);
  return dates.sort()[0];
}

/** A definition in the words of its form, so that a diff of two reads well. */
export function readableOf(definition: CalendarDefinitionSchema): object {
  if (definition.kind !== "weekly") return definition;
  const { kind, zone, week, coveredUntil } = definition;
  const days = DAY_NAMES.map((name, day) => {
    const sessions = week.filter((session) => session.day === day).map(({ open, close }) => `${open}–${close}`);
    return [name, sessions] as const;
  });
  return {
    kind,
    "time zone": zone,
    ...Object.fromEntries(days),
    ...datesText(exceptionsOf(definition)),
    "covered until": coveredUntil,
  };
}
