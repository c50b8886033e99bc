"use client";

import { useState } from "react";
import type { IncidentImpact, IncidentNote, IncidentPart } from "#lib/contract/uptime";
import { isCurrent } from "#lib/service-state";
import { type ApiFailure, callPortal } from "../portal/api";
import { instantOf } from "../portal/local-time";
import { usePortal } from "../portal/read";
import { Instant, useNow, useTimeZone } from "../portal/time";
import { textOf, useSubmit } from "../portal/use-submit";
import { Badge } from "../ui/badge";
import { Button } from "../ui/button";
import { ConfirmDialog } from "../ui/confirm-dialog";
import { Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { FailureNotice } from "../ui/failure";
import { Field, TextArea, TextField } from "../ui/field";
import { InstantField } from "../ui/instant-field";
import { Select } from "../ui/select";
import { Skeleton } from "../ui/skeleton";
import { useToast } from "../ui/toast";

const PATH = "admin/incident-notes";
const IMPACTS: readonly { readonly value: IncidentImpact; readonly label: string }[] = [
  { value: "none", label: "Notice: everything works" },
  { value: "degraded", label: "Degraded" },
  { value: "down", label: "Down" },
];

/** What a new note begins with. */
interface NoteDraft extends Pick<IncidentNote, "title" | "text" | "impact"> {
  readonly starts_at: string | undefined;
  /** What fails; undefined where nothing of it is measured. */
  readonly part: IncidentPart | undefined;
}

interface NoteDialogProps {
  /** Undefined for a new note. */
  readonly note: IncidentNote | undefined;
  readonly draft?: NoteDraft | undefined;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

function NoteDialog({ note, draft, onClose, onChange }: NoteDialogProps) {
  const start: Partial<Omit<NoteDraft, "part">> = note ?? draft ?? {};
  const announce = useToast();
  const [impact, setImpact] = useState<IncidentImpact>(start.impact ?? "degraded");
  const zone = useTimeZone();
  const bodyOf = (form: FormData) => {
    const end = textOf(form, "ends_at");
    return {
      title: textOf(form, "title"),
      text: textOf(form, "text"),
      impact,
      starts_at: instantOf(textOf(form, "starts_at"), zone),
      ends_at: end === "" ? null : instantOf(end, zone),
    };
  };
  const { busy, errorOf, failure, formProps } = useSubmit({
    fields: ["title", "text", "impact", "starts_at", "ends_at"],
    form: "incidentNote",
    bodyOf,
    send: (form) =>
      note === undefined
        ? callPortal("POST", PATH, { ...bodyOf(form), part: draft?.part })
        : callPortal("PUT", `${PATH}/${note.id}`, bodyOf(form)),
    done: () => {
      onClose();
      onChange();
      announce("The status page shows your note.");
    },
  });
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={note === undefined ? "Add a note" : note.part === null ? "Edit the note" : "Edit the incident"}
      description={
        note?.automatic === true
          ? "The service opened this incident. Once you save, it is yours: the service no longer changes or closes it."
          : "Everybody can read it on the status page and in its feed. While it applies, its impact sets the headline."
      }
    >
      <form {...formProps} className="space-y-5">
        <TextField label="Title" name="title" required autoComplete="off" defaultValue={start.title} error={errorOf("title")} />
        <TextArea
          label="What happens, and what to do (optional)"
          name="text"
          rows={4}
          defaultValue={start.text}
          error={errorOf("text")}
        />
        <Field label="Impact" error={errorOf("impact")}>
          {(control) => <Select {...control} options={IMPACTS} value={impact} onChange={setImpact} />}
        </Field>
        <div className="grid gap-5 sm:grid-cols-2">
          <InstantField
            label="Starts"
            name="starts_at"
            required
            start={start.starts_at ?? new Date().toISOString()}
            error={errorOf("starts_at")}
          />
          <InstantField
            label="Ends (optional)"
            name="ends_at"
            start={note?.ends_at ?? null}
            hint="Leave empty if ongoing."
            error={errorOf("ends_at")}
          />
        </div>
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose}>
          {note === undefined ? "Publish" : "Save"}
        </DialogSubmit>
      </form>
    </Dialog>
  );
}

/** Ends a note of an operator that goes on. */
function ResolveNow({ note, onChange }: { readonly note: IncidentNote; readonly onChange: () => void }) {
  const announce = useToast();
  const [failure, setFailure] = useState<ApiFailure>();
  const resolve = async () => {
    const { title, text, impact, starts_at } = note;
    const ends_at = new Date().toISOString();
    const result = await callPortal("PUT", `${PATH}/${note.id}`, { title, text, impact, starts_at, ends_at });
    setFailure("failure" in result ? result.failure : undefined);
    if ("data" in result) announce("The status page shows it as resolved.");
    onChange();
  };
  return (
    <>
      <Button aria-label={`Resolve ${note.title} now`} onClick={resolve}>
        Resolve now
      </Button>
      <FailureNotice failure={failure} />
    </>
  );
}

interface IncidentNotesProps {
  /** Opens the form of a new note with it. */
  readonly draft: NoteDraft | undefined;
  /** Opens the form of the note with this id. */
  readonly noteId: string | undefined;
}

/** Notes of the status page, with a form to add and edit them, and a button that ends one. */
export function IncidentNotes({ draft, noteId }: IncidentNotesProps) {
  const { data, error, mutate } = usePortal<{ items: readonly IncidentNote[] }>(PATH);
  const [chosen, setEdited] = useState<Omit<NoteDialogProps, "onClose" | "onChange"> | undefined>(
    draft && { note: undefined, draft },
  );
  const [asked, setAsked] = useState(noteId);
  const note = data?.items.find(({ id }) => id === asked);
  const edited = chosen ?? (note && { note });
  const nowMs = useNow() ?? 0;
  const [deleted, setDeleted] = useState<IncidentNote>();
  const reload = () => void mutate();
  const close = () => {
    setEdited(undefined);
    setAsked(undefined);
    // A reload does not open it again.
    window.history.replaceState(null, "", window.location.pathname);
  };
  return (
    <section aria-labelledby="incident-notes" className="rounded-xl border border-line bg-surface text-sm">
      <div className="flex flex-wrap items-center justify-between gap-3 px-4 py-3 sm:px-5">
        <div>
          <h2 id="incident-notes" className="font-medium">
            Incident notes
          </h2>
          <p className="text-ink-faint text-xs leading-5">Shown on the status page, for incidents and planned maintenance.</p>
        </div>
        <Button onClick={() => setEdited({ note: undefined })}>Add a note</Button>
      </div>
      <FailureNotice failure={error} retry={reload} />
      {data === undefined && error === undefined ? <Skeleton className="m-4 h-10" /> : null}
      {data?.items.length === 0 ? (
        <p className="border-line border-t px-4 py-5 text-ink-soft sm:px-5">No notes yet.</p>
      ) : (
        <ul className="divide-y divide-line border-line border-t empty:hidden">
          {data?.items.map((note) => (
            <li key={note.id} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-4 py-3 sm:px-5">
              <div className="min-w-0">
                <p className="flex items-center gap-2 [overflow-wrap:anywhere]">
                  {note.title} <Badge tone={note.ends_at === null ? "warning" : "neutral"}>{note.impact}</Badge>
                  {note.automatic ? <Badge tone="neutral">automatic</Badge> : null}
                </p>
                <p className="text-ink-faint text-xs leading-5">
                  <Instant at={note.starts_at} /> to {note.ends_at === null ? "now" : <Instant at={note.ends_at} />}
                </p>
              </div>
              <div className="flex flex-wrap gap-2">
                {!note.automatic && note.ends_at === null && isCurrent(note, nowMs) ? (
                  <ResolveNow note={note} onChange={reload} />
                ) : null}
                <Button aria-label={`Edit ${note.title}`} onClick={() => setEdited({ note })}>
                  Edit
                </Button>
                {note.part === null ? (
                  <Button kind="ghost" aria-label={`Delete ${note.title}`} onClick={() => setDeleted(note)}>
                    Delete
                  </Button>
                ) : null}
              </div>
            </li>
          ))}
        </ul>
      )}
      {edited === undefined ? null : <NoteDialog {...edited} onClose={close} onChange={reload} />}
      {deleted === undefined ? null : (
        <ConfirmDialog
          title="Delete the note"
          description="The status page and its feed no longer show it. To end an incident, edit the note and set its end instead."
          word={deleted.title}
          action="Delete the note"
          send={() => callPortal("DELETE", `${PATH}/${deleted.id}`)}
          onDone={() => {
            setDeleted(undefined);
            reload();
          }}
          onClose={() => setDeleted(undefined)}
        />
      )}
    </section>
  );
}
