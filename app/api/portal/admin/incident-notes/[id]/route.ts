import { IncidentNoteForm } from "#lib/contract/incidents";
import { deleteNote, editNote } from "#lib/market/incident-notes";
import { notesAdmin } from "#lib/portal/changed-by";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Changes a note. */
export const PUT = portalRoute({ input: IncidentNoteForm, user: "operator" }, async (call) => ({
  note: await editNote(notesAdmin(call), call.params.id ?? "", call.input),
}));

/** Deletes a note. */
export const DELETE = portalRoute({ user: "operator" }, async (call) => ({
  note: await deleteNote(notesAdmin(call), call.params.id ?? ""),
}));

export const { GET, HEAD, OPTIONS, PATCH, POST } = otherMethods({ DELETE, PUT });
