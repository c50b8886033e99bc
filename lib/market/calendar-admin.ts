import { z } from "zod";
import type { Clock } from "#lib/clock";
import { CalendarDefinitionSchema } from "#lib/contract/calendar";
import { type AdminCalendar, type AdminOverride, OVERRIDES_MAX_COUNT, type OverrideForm } from "#lib/contract/portal-admin";
import type { Database } from "#lib/db";
import { Fault } from "#lib/fault";

/** How much of an unknown name an error repeats. */
const REPEATED_MAX_CHARACTERS = 80;

/** What the calendar functions need. */
export interface CalendarContext {
  readonly db: Pick<Database, "prisma" | "control">;
  readonly clock: Clock;
}

type Row = NonNullable<Awaited<ReturnType<Database["prisma"]["calendarOverride"]["findUnique"]>>>;

const toOverride = ({ id, state, startsAt, endsAt, note }: Row): AdminOverride => ({
  id,
  state: state === "open" ? "open" : "closed",
  starts_at: startsAt.toISOString(),
  ends_at: endsAt?.toISOString() ?? null,
  note,
});

const running = (now: Date) => ({ OR: [{ endsAt: null }, { endsAt: { gt: now } }] });

function unknownCalendar(name: string): Fault {
  return new Fault("not_found", { detail: `There is no calendar ${name.slice(0, REPEATED_MAX_CHARACTERS)}.` });
}

/** All calendars by name. */
export async function listCalendars({ db, clock }: CalendarContext): Promise<AdminCalendar[]> {
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
    updated_at: updatedAt.toISOString(),
    overrides: overrides.map(toOverride),
    listings: _count.listings,
  }));
}

/**
 * The overrides of a calendar that have not ended, in order of creation.
 * @throws Fault not_found
 */
export async function overridesOf({ db, clock }: CalendarContext, name: string): Promise<AdminOverride[]> {
  const calendar = await db.prisma.calendar.findUnique({
    where: { name },
    include: { overrides: { where: running(new Date(clock.now())), orderBy: [{ createdAt: "asc" }, { id: "asc" }] } },
  });
  if (calendar === null) throw unknownCalendar(name);
  return calendar.overrides.map(toOverride);
}

/**
 * Replaces the definition of a calendar; every process applies it within a second.
 * @throws Fault not_found
 */
export async function putDefinition(
  { db }: CalendarContext,
  name: string,
  definition: CalendarDefinitionSchema,
): Promise<{ before: CalendarDefinitionSchema; after: CalendarDefinitionSchema }> {
  const row = await db.prisma.calendar.findUnique({ where: { name } });
  if (row === null) throw unknownCalendar(name);
  await db.prisma.calendar.update({ where: { name }, data: { definition: structuredClone(definition) as object } });
  await db.control.publish({ kind: "calendars" });
  return { before: CalendarDefinitionSchema.parse(row.definition), after: definition };
}

/**
 * Forces a calendar open or closed, whatever its rules and holidays say; every process applies it within a second.
 * @throws Fault not_found; invalid_parameter for an override that ends before now or before it starts, and when
 * OVERRIDES_MAX_COUNT overrides have not ended
 */
export async function addOverride({ db, clock }: CalendarContext, name: string, form: OverrideForm): Promise<AdminOverride> {
  const now = new Date(clock.now());
  const startsAt = form.starts_at === null ? now : new Date(form.starts_at);
  const endsAt = form.ends_at === null ? null : new Date(form.ends_at);
  if (endsAt !== null && endsAt <= now)
    throw new Fault("invalid_parameter", { parameter: "ends_at", detail: "`ends_at` must be in the future." });
  const known = await db.prisma.calendar.count({ where: { name } });
  if (known === 0) throw unknownCalendar(name);
  const count = await db.prisma.calendarOverride.count({ where: { calendarName: name, ...running(now) } });
  if (count >= OVERRIDES_MAX_COUNT)
    throw new Fault("invalid_parameter", {
      parameter: "state",
      detail: `A calendar takes at most ${OVERRIDES_MAX_COUNT} overrides at a time; lift one first.`,
    });
  const { state, note } = form;
  const row = await db.prisma.calendarOverride.create({
    data: { calendarName: name, createdAt: now, state, startsAt, endsAt, note },
  });
  await db.control.publish({ kind: "calendars" });
  return toOverride(row);
}

/**
 * Ends an override now. One that has already ended stays unchanged; one that has not started never takes effect. Returns it.
 * @throws Fault not_found
 */
export async function liftOverride(
  { db, clock }: CalendarContext,
  id: string,
): Promise<{ calendar: string; override: AdminOverride }> {
  const now = new Date(clock.now());
  const row = z.uuid().safeParse(id).success ? await db.prisma.calendarOverride.findUnique({ where: { id } }) : null;
  if (row === null) throw new Fault("not_found", { detail: "There is no override with this ID." });
  if (row.startsAt > now) await db.prisma.calendarOverride.deleteMany({ where: { id } });
  else if (row.endsAt === null || row.endsAt > now)
    await db.prisma.calendarOverride.update({ where: { id }, data: { endsAt: now } });
  await db.control.publish({ kind: "calendars" });
  return { calendar: row.calendarName, override: toOverride(row) };
}
