import type { Clock } from "#lib/clock";
import type { IncidentNoteForm } from "#lib/contract/incidents";
import {
  INCIDENT_NOTES_MAX_COUNT,
  INCIDENTS_MAX_COUNT,
  type IncidentImpact,
  type IncidentNote,
  type IncidentPart,
} from "#lib/contract/uptime";
import { Fault } from "#lib/fault";
import type { Database } from "#server/store/database/db";

interface NoteChange {
  readonly action: "incident.add" | "incident.edit" | "incident.delete";
  readonly target: string;
  readonly before?: object;
  readonly after?: object;
}

/** What notes are changed with. */
export interface NotesAdmin {
  readonly db: Pick<Database, "prisma">;
  readonly clock: Clock;
  /** Writes the audit entry. It is part of the change's transaction: both are stored, or neither. */
  record(transaction: Pick<Database["prisma"], "auditEntry">, change: NoteChange): Promise<void>;
}

type Row = NonNullable<Awaited<ReturnType<Database["prisma"]["incidentNote"]["findUnique"]>>>;

const toNote = ({ id, title, text, impact, startsAt, endsAt, updatedAt, part, measuredFrom, automatic }: Row): IncidentNote => ({
  id,
  key: measuredFrom === null ? `note-${id}` : `${part}-${measuredFrom.getTime()}`,
  part: part as IncidentPart | null,
  automatic,
  title,
  text,
  impact: impact as IncidentImpact,
  starts_at: startsAt.toISOString(),
  ends_at: endsAt?.toISOString() ?? null,
  updated_at: updatedAt.toISOString(),
});

const dataOf = ({ title, text, impact, starts_at, ends_at }: IncidentNoteForm, clock: Clock) => ({
  title,
  text,
  impact,
  startsAt: new Date(starts_at),
  endsAt: ends_at === null ? null : new Date(ends_at),
  updatedAt: new Date(clock.now()),
  automatic: false,
});

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** @throws Fault not_found */
async function requireNote(prisma: Pick<Database["prisma"], "incidentNote">, id: string): Promise<IncidentNote> {
  const row = UUID.test(id) ? await prisma.incidentNote.findUnique({ where: { id } }) : null;
  if (row === null) throw new Fault("not_found", { detail: "There is no such note." });
  return toNote(row);
}

/** The newest notes: those that last first, then the latest end. */
export async function listNotes({ prisma }: Pick<Database, "prisma">): Promise<IncidentNote[]> {
  const orderBy = [{ endsAt: { sort: "desc", nulls: "first" } } as const, { startsAt: "desc" } as const, { id: "desc" } as const];
  const rows = await prisma.incidentNote.findMany({ orderBy, take: INCIDENTS_MAX_COUNT });
  return rows.map(toNote);
}

/**
 * Adds a note. One about a part changes the incident of that part that goes on, if there is one.
 * @throws Fault invalid_parameter when INCIDENT_NOTES_MAX_COUNT are stored
 */
export async function addNote(admin: NotesAdmin, form: IncidentNoteForm): Promise<IncidentNote> {
  const { db, clock, record } = admin;
  const { part } = form;
  const open = part && (await db.prisma.incidentNote.findFirst({ where: { part, endsAt: null } }));
  if (open) return await editNote(admin, open.id, form);
  const measured = new Date(clock.now());
  return await db.prisma.$transaction(async (tx) => {
    if ((await tx.incidentNote.count({ where: { automatic: false } })) >= INCIDENT_NOTES_MAX_COUNT) {
      const detail = `At most ${INCIDENT_NOTES_MAX_COUNT} notes are kept. Delete one first.`;
      throw new Fault("invalid_parameter", { parameter: "title", detail });
    }
    const about = part && { part, measuredFrom: measured, measuredUntil: measured };
    const made = toNote(await tx.incidentNote.create({ data: { ...dataOf(form, clock), ...about } }));
    await record(tx, { action: "incident.add", target: made.id, after: made });
    return made;
  });
}

/** Changes a note. One that the service noticed is the operator's from then on. @throws Fault not_found */
export async function editNote({ db, clock, record }: NotesAdmin, id: string, form: IncidentNoteForm): Promise<IncidentNote> {
  return await db.prisma.$transaction(async (tx) => {
    const before = await requireNote(tx, id);
    const after = toNote(await tx.incidentNote.update({ where: { id }, data: dataOf(form, clock) }));
    await record(tx, { action: "incident.edit", target: id, before, after });
    return after;
  });
}

/** Deletes a note and returns it. @throws Fault not_found; invalid_parameter for what the service noticed */
export async function deleteNote({ db, record }: NotesAdmin, id: string): Promise<IncidentNote> {
  return await db.prisma.$transaction(async (tx) => {
    const before = await requireNote(tx, id);
    if (before.part !== null) {
      const detail = "The service measured this incident, so it stays listed. Edit it to say more about it.";
      throw new Fault("invalid_parameter", { parameter: "id", detail });
    }
    await tx.incidentNote.delete({ where: { id } });
    await record(tx, { action: "incident.delete", target: id, before });
    return before;
  });
}
