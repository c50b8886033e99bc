"use client";

import { useState } from "react";
import { type AdminOverride, OVERRIDE_NOTE_MAX_CHARACTERS } from "#lib/contract/portal-admin";
import { callPortal } from "../portal/api";
import { instantOf } from "../portal/local-time";
import { useTimeZone } from "../portal/time";
import { textOf, useSubmit } from "../portal/use-submit";
import { Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { TextField } from "../ui/field";
import { InstantField } from "../ui/instant-field";
import { Radio } from "../ui/select";
import { useToast } from "../ui/toast";

const WORDS = {
  closed: {
    title: "Close",
    now: "Close now",
    done: "closed",
    effect: "All instruments on this calendar close within a second.",
  },
  open: { title: "Open", now: "Open now", done: "open", effect: "All instruments on this calendar open within a second." },
} as const;

interface OverrideDialogProps {
  /** Name of the calendar. */
  readonly name: string;
  readonly state: AdminOverride["state"];
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** Opens or closes a calendar from now on. */
export function OverrideDialog({ name, state, onClose, onChange }: OverrideDialogProps) {
  const announce = useToast();
  const [timed, setTimed] = useState(false);
  const words = WORDS[state];
  const zone = useTimeZone();
  const bodyOf = (form: FormData) => ({
    state,
    starts_at: null,
    ends_at: timed ? instantOf(textOf(form, "ends_at"), zone) : null,
    note: textOf(form, "note"),
  });
  const { busy, errorOf, failure, formProps } = useSubmit({
    fields: ["ends_at", "note"],
    form: "override",
    bodyOf,
    send: (form) => callPortal("POST", `admin/calendars/${encodeURIComponent(name)}/overrides`, bodyOf(form)),
    done: () => {
      onClose();
      onChange();
      announce(`${name} is ${words.done}.`);
    },
  });
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`${words.title} ${name}`}
      description={`${words.effect} Its rules and holidays don't apply while the override is in effect.`}
    >
      <form {...formProps} className="space-y-5">
        <fieldset>
          <legend className="mb-1.5 font-medium text-sm">How long</legend>
          <div className="grid gap-2 sm:grid-cols-2">
            <Radio
              name="until"
              label={state === "closed" ? "Until I reopen it" : "Until I close it"}
              checked={!timed}
              onChange={() => setTimed(false)}
            />
            <Radio name="until" label="Until a set time" checked={timed} onChange={() => setTimed(true)} />
          </div>
        </fieldset>
        {timed ? <InstantField label="Ends" name="ends_at" required error={errorOf("ends_at")} /> : null}
        <TextField
          label="Note"
          name="note"
          maxLength={OVERRIDE_NOTE_MAX_CHARACTERS}
          autoComplete="off"
          hint="Shown to other operators and recorded in the audit log."
          error={errorOf("note")}
        />
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose} kind={state === "closed" ? "danger" : "primary"}>
          {words.now}
        </DialogSubmit>
      </form>
    </Dialog>
  );
}
