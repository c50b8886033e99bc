"use client";

import { useState } from "react";
import type { IncidentImpact, IncidentNote } from "#lib/contract/uptime";
import { callPortal } from "../portal/api";
import { instantOf, localText } from "../portal/local-time";
import { usePortal } from "../portal/read";
import { Instant } from "../portal/time";
import { textOf, useSubmit } from "../portal/use-submit";
import { Badge } from "../ui/badge";
import { Button } from "../ui/button";
import { ConfirmDialog } from "../ui/confirm-dialog";
import { Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { FailureNotice } from "../ui/failure";
import { Field, TextArea, TextField } from "../ui/field";
import { Select } from "../ui/select";
import { Skeleton } from "../ui/skeleton";
import { useToast } from "../ui/toast";

const PATH = "admin/incident-notes";
const IMPACTS: readonly { readonly value: IncidentImpact; readonly label: string }[] = [
  { value: "none", label: "Notice: everything works" },
  { value: "degraded", label: "Degraded" },
  { value: "down", label: "Down" },
];

interface NoteDialogProps {
  /** Undefined for a new note. */
  readonly note: IncidentNote | undefined;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

function NoteDialog({ note, onClose, onChange }: NoteDialogProps) {
  const announce = useToast();
  const [impact, setImpact] = useState<IncidentImpact>(note?.impact ?? "degraded");
  const bodyOf = (form: FormData) => {
    const end = textOf(form, "ends_at");
    return {
      title: textOf(form, "title"),
      text: textOf(form, "text"),
      impact,
      starts_at: instantOf(textOf(form, "starts_at")),
      ends_at: end === "" ? null : instantOf(end),
    };
  };
  const { busy, errorOf, failure, formProps } = useSubmit({
    fields: ["title", "text", "impact", "starts_at", "ends_at"],
    form: "incidentNote",
    bodyOf,
    send: (form) =>
      note === undefined ? callPortal("POST", PATH, bodyOf(form)) : callPortal("PUT", `${PATH}/${note.id}`, bodyOf(form)),
    done: () => {
      onClose();
      onChange();
      announce("The status page shows your note.");
    },
  });
  const zone = `Your time, ${Intl.DateTimeFormat().resolvedOptions().timeZone}.`;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={note === undefined ? "Add a note" : "Edit the note"}
      description="Everybody can read it on the status page and in its feed. While it applies, its impact sets the headline."
    >
      <form {...formProps} className="space-y-5">
        <TextField label="Title" name="title" required autoComplete="off" defaultValue={note?.title} error={errorOf("title")} />
        <TextArea
          label="What happens, and what to do (optional)"
          name="text"
          rows={4}
          defaultValue={note?.text}
          error={errorOf("text")}
        />
        <Field label="Impact" error={errorOf("impact")}>
          {(control) => <Select {...control} options={IMPACTS} value={impact} onChange={setImpact} />}
        </Field>
        <div className="grid gap-5 sm:grid-cols-2">
          <TextField
            label="Starts"
            name="starts_at"
            type="datetime-local"
            required
            defaultValue={localText(note?.starts_at ?? new Date().toISOString())}
            hint={zone}
            error={errorOf("starts_at")}
          />
          <TextField
            label="Ends (optional)"
            name="ends_at"
            type="datetime-local"
            defaultValue={localText(note?.ends_at ?? null)}
            hint="Empty while it lasts."
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

/** Notes of the status page, with a form to add and edit them. */
export function IncidentNotes() {
  const { data, error, mutate } = usePortal<{ items: readonly IncidentNote[] }>(PATH);
  const [edited, setEdited] = useState<{ readonly note: IncidentNote | undefined }>();
  const [deleted, setDeleted] = useState<IncidentNote>();
  const reload = () => void mutate();
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
                </p>
                <p className="text-ink-faint text-xs leading-5">
                  <Instant at={note.starts_at} /> to {note.ends_at === null ? "now" : <Instant at={note.ends_at} />}
                </p>
              </div>
              <div className="flex gap-2">
                <Button onClick={() => setEdited({ note })}>Edit</Button>
                <Button kind="ghost" onClick={() => setDeleted(note)}>
                  Delete
                </Button>
              </div>
            </li>
          ))}
        </ul>
      )}
      {edited === undefined ? null : <NoteDialog note={edited.note} onClose={() => setEdited(undefined)} onChange={reload} />}
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
