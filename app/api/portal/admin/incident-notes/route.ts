import { IncidentNoteForm } from "#lib/contract/incidents";
import { addNote, listNotes } from "#lib/market/incident-notes";
import { notesAdmin } from "#lib/portal/changed-by";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** The newest notes of the status page. */
export const GET = portalRoute({ user: "operator" }, async ({ running }) => ({ items: await listNotes(running.db) }));

/** Adds a note to the status page. */
export const POST = portalRoute({ input: IncidentNoteForm, user: "operator" }, async (call) => ({
  note: await addNote(notesAdmin(call), call.input),
}));

export const { DELETE, OPTIONS, PATCH, PUT } = otherMethods({ GET, POST });
