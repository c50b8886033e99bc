import { z } from "zod";

/** Maximum segments per week; no market has more than a few a day. */
const WEEK_MAX_SEGMENTS = 100;
/** Maximum exceptions of one kind: a dozen a year for over a century. */
export const EXCEPTIONS_MAX_COUNT = 2_000;
const EXCEPTION_NAME_MAX_CHARACTERS = 80;
/** A later year must be a typing error, and every year up to it may have to be computed. */
const COVERED_UNTIL_MAX_YEAR = 2100;
const DATE_MIN_YEAR = 1970;
/** Maximum length of the open or closed part of a cycle: a century. */
const CYCLE_MAX_S = 3_155_760_000;

const WALL_TIME = /^(?:(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?|24:00(?::00)?)$/;

const WallTimeText = z.string().regex(WALL_TIME, "must be a local time, HH:MM or HH:MM:SS, at most 24:00.");

const LocalDateText = z.iso.date().refine((date) => {
  const year = Number(date.slice(0, 4));
  return year >= DATE_MIN_YEAR && year <= COVERED_UNTIL_MAX_YEAR;
}, `must be a date between the years ${DATE_MIN_YEAR} and ${COVERED_UNTIL_MAX_YEAR}.`);

/** Whether the runtime knows a time zone of this name. */
export function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Wall times can be compared as text once all have seconds. */
function withSeconds(time: string): string {
  return time.length === 5 ? `${time}:00` : time;
}

const Segment = z
  .strictObject({ day: z.literal([0, 1, 2, 3, 4, 5, 6]), open: WallTimeText, close: WallTimeText })
  .readonly()
  .refine(({ open, close }) => withSeconds(open) < withSeconds(close), {
    message: "must be later than `open`; split a session that crosses midnight into two segments that meet at 24:00.",
    path: ["close"],
  });

/** Values by local date. */
const dated = <Value extends z.ZodType>(value: Value) =>
  z
    .record(LocalDateText, value)
    .refine((values) => Object.keys(values).length <= EXCEPTIONS_MAX_COUNT, `takes at most ${EXCEPTIONS_MAX_COUNT} dates.`)
    .readonly();

const DatedTimes = dated(WallTimeText);
const ExceptionName = z.string().max(EXCEPTION_NAME_MAX_CHARACTERS);

/** One row of a list of holidays, as operators enter and import it; `time` is local, and empty when the whole day is closed. */
export const CalendarException = z.discriminatedUnion("kind", [
  z.strictObject({
    date: LocalDateText,
    kind: z.literal("closed"),
    time: z.literal("", "must be empty when the whole day is closed."),
    name: ExceptionName,
  }),
  z.strictObject({ date: LocalDateText, kind: z.enum(["early_close", "late_open"]), time: WallTimeText, name: ExceptionName }),
]);
export type CalendarException = z.infer<typeof CalendarException>;

const Weekly = z
  .strictObject({
    kind: z.literal("weekly"),
    zone: z.string().max(64).refine(isZone, "must be an IANA time zone, for example America/New_York."),
    week: z.array(Segment).max(WEEK_MAX_SEGMENTS).readonly(),
    holidays: z.array(LocalDateText).max(EXCEPTIONS_MAX_COUNT).readonly(),
    earlyCloses: DatedTimes,
    lateOpens: DatedTimes,
    names: dated(ExceptionName).optional(),
    coveredUntil: LocalDateText,
  })
  .readonly();

const Cycle = z
  .strictObject({
    kind: z.literal("cycle"),
    anchorS: z.int().min(0).max(CYCLE_MAX_S),
    openS: z.int().min(1).max(CYCLE_MAX_S),
    closedS: z.int().min(0).max(CYCLE_MAX_S),
  })
  .readonly();

/**
 * A calendar as operators edit it and the database stores it; it has the shape of the domain's CalendarDefinition.
 * Unknown keys are rejected, so that a misspelt "holiday" does not silently open a market.
 */
export const CalendarDefinitionSchema = z.discriminatedUnion("kind", [
  Weekly,
  z.strictObject({ kind: z.literal("always") }).readonly(),
  z.strictObject({ kind: z.literal("never") }).readonly(),
  Cycle,
]);
export type CalendarDefinitionSchema = z.infer<typeof CalendarDefinitionSchema>;
