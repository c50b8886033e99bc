import { z } from "zod";
import type { Clock } from "#lib/clock";
import { CalendarDefinitionSchema } from "#lib/contract/calendar";
import { type AdminCalendar, type AdminOverride, OVERRIDES_MAX_COUNT, type OverrideForm } from "#lib/contract/portal-admin";
import { Fault } from "#lib/fault";
import type { Database } from "#server/store/database/db";

/** How much of an unknown name an error repeats. */
const REPEATED_MAX_CHARACTERS = 80;

/** What calendars are read with. */
interface CalendarContext {
  readonly db: Pick<Database, "prisma" | "control">;
  readonly clock: Clock;
}

/** Enough of a transaction to write an audit entry in it. */
type Transaction = Pick<Database["prisma"], "auditEntry">;

/** A change to a calendar. */
interface CalendarChange {
  readonly action: "calendar.define" | "calendar.override" | "calendar.lift";
  /** The calendar's name. */
  readonly target: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** What calendars are changed with. */
export interface CalendarAdmin extends CalendarContext {
  /** Writes the audit entry. It is part of the change's transaction: both are stored, or neither. */
  record(transaction: Transaction, change: CalendarChange): Promise<void>;
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
      listings: { where: { retiredAt: null, venue: "live" }, take: 1 },
      _count: { select: { listings: { where: { retiredAt: null } } } },
    },
  });
  return rows.map(({ name, definition, updatedAt, overrides, listings, _count }) => ({
    name,
    definition: CalendarDefinitionSchema.parse(definition),
    updated_at: updatedAt.toISOString(),
    overrides: overrides.map(toOverride),
    listings: _count.listings,
    sandbox: _count.listings > 0 && listings.length === 0,
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
  { db, record }: CalendarAdmin,
  name: string,
  definition: CalendarDefinitionSchema,
): Promise<{ before: CalendarDefinitionSchema; after: CalendarDefinitionSchema }> {
  const change = await db.prisma.$transaction(async (tx) => {
    const row = await tx.calendar.findUnique({ where: { name } });
    if (row === null) throw unknownCalendar(name);
    await tx.calendar.update({ where: { name }, data: { definition: structuredClone(definition) as object } });
    const change = { before: CalendarDefinitionSchema.parse(row.definition), after: definition };
    await record(tx, { action: "calendar.define", target: name, ...change });
    return change;
  });
  await db.control.publish({ kind: "calendars" });
  return change;
}

/**
 * Forces a calendar open or closed, whatever its rules and holidays say; every process applies it within a second.
 * @throws Fault not_found; invalid_parameter for an override that ends before now or before it starts, and when
 * OVERRIDES_MAX_COUNT overrides have not ended
 */
export async function addOverride(
  { db, clock, record }: CalendarAdmin,
  name: string,
  form: OverrideForm,
): Promise<AdminOverride> {
  const now = new Date(clock.now());
  const startsAt = form.starts_at === null ? now : new Date(form.starts_at);
  const endsAt = form.ends_at === null ? null : new Date(form.ends_at);
  if (endsAt !== null && endsAt <= now)
    throw new Fault("invalid_parameter", { parameter: "ends_at", detail: "`ends_at` must be in the future." });
  const { state, note } = form;
  const override = await db.prisma.$transaction(async (tx) => {
    const known = await tx.calendar.count({ where: { name } });
    if (known === 0) throw unknownCalendar(name);
    const count = await tx.calendarOverride.count({ where: { calendarName: name, ...running(now) } });
    if (count >= OVERRIDES_MAX_COUNT)
      throw new Fault("invalid_parameter", {
        parameter: "state",
        detail: `A calendar takes at most ${OVERRIDES_MAX_COUNT} overrides at a time; lift one first.`,
      });
    const data = { calendarName: name, createdAt: now, state, startsAt, endsAt, note };
    const made = toOverride(await tx.calendarOverride.create({ data }));
    await record(tx, { action: "calendar.override", target: name, after: made });
    return made;
  });
  await db.control.publish({ kind: "calendars" });
  return override;
}

/**
 * Ends an override now. One that has already ended stays unchanged; one that has not started never takes effect. Returns it.
 * @throws Fault not_found
 */
export async function liftOverride({ db, clock, record }: CalendarAdmin, id: string): Promise<AdminOverride> {
  const now = new Date(clock.now());
  const notFound = new Fault("not_found", { detail: "There is no override with this ID." });
  if (!z.uuid().safeParse(id).success) throw notFound;
  const override = await db.prisma.$transaction(async (tx) => {
    const row = await tx.calendarOverride.findUnique({ where: { id } });
    if (row === null) throw notFound;
    if (row.startsAt > now) await tx.calendarOverride.deleteMany({ where: { id } });
    else if (row.endsAt === null || row.endsAt > now) await tx.calendarOverride.update({ where: { id }, data: { endsAt: now } });
    const lifted = toOverride(row);
    await record(tx, { action: "calendar.lift", target: row.calendarName, before: lifted });
    return lifted;
  });
  await db.control.publish({ kind: "calendars" });
  return override;
}
