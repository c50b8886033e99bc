import { z } from "zod";
import type { Clock } from "#lib/clock";
import { CalendarDefinitionSchema } from "#lib/contract/calendar";
import { publish } from "#lib/control";
import type { Database } from "#lib/db";
import { type CalendarOverride, compileCalendar, type SessionAnswer } from "#lib/domain/calendar";
import { Fault } from "#lib/fault";

/** What a preview shows. */
const PREVIEW_DAYS = 14;
const DAY_MS = 86_400_000;
/** Overrides of one calendar that have not ended. */
const OVERRIDES_MAX_COUNT = 50;
const NOTE_MAX_CHARACTERS = 200;

/** What calendars are managed with. */
export interface CalendarContext {
  readonly db: Pick<Database, "prisma" | "pool">;
  readonly clock: Clock;
}

/** An operator's word as it is stored. */
export interface StoredOverride {
  readonly id: string;
  readonly state: "open" | "closed";
  readonly startsAt: Date;
  /** Null: until it is lifted. */
  readonly endsAt: Date | null;
  readonly note: string;
}

/** A calendar as an operator sees it. */
export interface StoredCalendar {
  readonly name: string;
  readonly definition: CalendarDefinitionSchema;
  readonly updatedAt: Date;
  /** Those that have not ended, in the order they were made. */
  readonly overrides: readonly StoredOverride[];
  /** Listed instruments that follow it. */
  readonly listings: number;
}

/** What a calendar says of the coming fortnight. */
export interface CalendarPreview {
  readonly now: SessionAnswer;
  /** Open stretches in Unix milliseconds; null where part of the fortnight is not covered. */
  readonly sessions: readonly { readonly openMs: number; readonly closeMs: number }[] | null;
}

const NewOverride = z
  .strictObject({
    state: z.enum(["open", "closed"]),
    startsAt: z.date(),
    endsAt: z.date().nullable(),
    note: z.string().trim().max(NOTE_MAX_CHARACTERS, `At most ${NOTE_MAX_CHARACTERS} characters.`),
  })
  .refine(({ startsAt, endsAt }) => endsAt === null || startsAt < endsAt, {
    message: "Must end after it starts.",
    path: ["endsAt"],
  });
export type NewOverride = z.infer<typeof NewOverride>;

const stateOf = (state: string): "open" | "closed" => (state === "open" ? "open" : "closed");

function refuse(error: z.ZodError): never {
  const [issue] = error.issues;
  throw new Fault("invalid_parameter", { parameter: (issue?.path ?? []).join("."), detail: issue?.message ?? "Cannot be read." });
}

function unknownCalendar(name: string): Fault {
  return new Fault("not_found", { detail: `There is no calendar ${name.slice(0, 80)}.` });
}

const running = (now: Date) => ({ OR: [{ endsAt: null }, { endsAt: { gt: now } }] });

/** All calendars by name. */
export async function listCalendars({ db, clock }: CalendarContext): Promise<StoredCalendar[]> {
  const rows = await db.prisma.calendar.findMany({
    orderBy: { name: "asc" },
    include: {
      overrides: { where: running(new Date(clock.now())), orderBy: [{ createdAt: "asc" }, { id: "asc" }] },
      _count: { select: { listings: { where: { retiredAt: null } } } },
    },
  });
  return rows.map(({ name, definition, updatedAt, overrides, _count }) => ({
    name,
    definition: CalendarDefinitionSchema.parse(definition),
    updatedAt,
    overrides: overrides.map(({ id, state, startsAt, endsAt, note }) => ({ id, state: stateOf(state), startsAt, endsAt, note })),
    listings: _count.listings,
  }));
}

/** What a definition with these overrides would say from `fromMs` (Unix ms) on, before it is stored. */
export function previewCalendar(
  definition: CalendarDefinitionSchema,
  overrides: readonly CalendarOverride[],
  fromMs: number,
): CalendarPreview {
  const calendar = compileCalendar(definition, overrides);
  const sessions = calendar.sessionsBetween(fromMs, fromMs + PREVIEW_DAYS * DAY_MS);
  return { now: calendar.sessionAt(fromMs), sessions: sessions?.map(({ openMs, closeMs }) => ({ openMs, closeMs })) ?? null };
}

/**
 * The same for a stored calendar, with the overrides it has.
 * @throws Fault not_found
 */
export async function previewOf(
  context: CalendarContext,
  name: string,
  definition: CalendarDefinitionSchema,
): Promise<CalendarPreview> {
  const calendar = (await listCalendars(context)).find((stored) => stored.name === name);
  if (calendar === undefined) throw unknownCalendar(name);
  const overrides = calendar.overrides.map(({ state, startsAt, endsAt }) => ({
    state,
    fromMs: startsAt.getTime(),
    untilMs: endsAt?.getTime() ?? null,
  }));
  return previewCalendar(definition, overrides, context.clock.now());
}

/**
 * Puts another definition in the place of a calendar's; every process follows it within a second.
 * @throws Fault not_found; invalid_parameter naming the part of the definition that cannot be
 */
export async function putDefinition(
  { db }: CalendarContext,
  name: string,
  input: unknown,
): Promise<{ before: CalendarDefinitionSchema; after: CalendarDefinitionSchema }> {
  const row = await db.prisma.calendar.findUnique({ where: { name } });
  if (row === null) throw unknownCalendar(name);
  const parsed = CalendarDefinitionSchema.safeParse(input);
  if (!parsed.success) refuse(parsed.error);
  await db.prisma.calendar.update({ where: { name }, data: { definition: structuredClone(parsed.data) as object } });
  await publish(db.pool, { kind: "calendars" });
  return { before: CalendarDefinitionSchema.parse(row.definition), after: parsed.data };
}

/**
 * Opens or closes a calendar by hand, against holidays and rules; every process follows it within a second.
 * @throws Fault not_found; invalid_parameter for times that cannot be, and past 50 overrides that have not ended
 */
export async function addOverride({ db, clock }: CalendarContext, name: string, input: NewOverride): Promise<StoredOverride> {
  const parsed = NewOverride.safeParse(input);
  if (!parsed.success) refuse(parsed.error);
  const now = new Date(clock.now());
  if (parsed.data.endsAt !== null && parsed.data.endsAt <= now)
    throw new Fault("invalid_parameter", { parameter: "endsAt", detail: "Must end in the future." });
  const known = await db.prisma.calendar.count({ where: { name } });
  if (known === 0) throw unknownCalendar(name);
  const count = await db.prisma.calendarOverride.count({ where: { calendarName: name, ...running(now) } });
  if (count >= OVERRIDES_MAX_COUNT)
    throw new Fault("invalid_parameter", {
      parameter: "state",
      detail: `At most ${OVERRIDES_MAX_COUNT} overrides at once; lift one first.`,
    });
  const row = await db.prisma.calendarOverride.create({ data: { calendarName: name, createdAt: now, ...parsed.data } });
  await publish(db.pool, { kind: "calendars" });
  return { id: row.id, state: stateOf(row.state), startsAt: row.startsAt, endsAt: row.endsAt, note: row.note };
}

/**
 * Ends an override now; one that has ended, or never began, counts no more. Gives what it was.
 * @throws Fault not_found
 */
export async function liftOverride({ db, clock }: CalendarContext, id: string): Promise<StoredOverride & { calendar: string }> {
  const now = new Date(clock.now());
  const row = z.uuid().safeParse(id).success ? await db.prisma.calendarOverride.findUnique({ where: { id } }) : null;
  if (row === null) throw new Fault("not_found", { detail: "There is no such override." });
  if (row.startsAt > now) await db.prisma.calendarOverride.delete({ where: { id } });
  else if (row.endsAt === null || row.endsAt > now)
    await db.prisma.calendarOverride.update({ where: { id }, data: { endsAt: now } });
  await publish(db.pool, { kind: "calendars" });
  const { calendarName, state, startsAt, endsAt, note } = row;
  return { id, calendar: calendarName, state: stateOf(state), startsAt, endsAt, note };
}
