"use client";

import { useState } from "react";
import type { RotationGrace } from "#lib/contract/limits";
import type { PortalKey } from "#lib/contract/portal";
import { callPortal } from "../portal/api";
import { textOf, useSubmit } from "../portal/use-submit";
import { ConfirmDialog } from "../ui/confirm-dialog";
import { Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { Radio } from "../ui/select";
import { useToast } from "../ui/toast";
import { ExpiryField, expiryOf } from "./expiry-field";
import { KeySettings, SETTING_FIELDS, settingsOf } from "./key-settings";
import { KeyMark } from "./key-text";
import { type MadeKey, Secret } from "./secret";

interface KeyDialogProps {
  readonly apiKey: PortalKey;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

const GRACES: readonly { value: RotationGrace; label: string; hint: string }[] = [
  { value: "now", label: "None", hint: "The old key stops working within a second." },
  { value: "1h", label: "1 hour", hint: "Both keys work until then." },
  { value: "24h", label: "24 hours", hint: "Both keys work until then." },
  { value: "7d", label: "7 days", hint: "Both keys work until then." },
];

const USUAL_GRACE: RotationGrace = "24h";

/** Changes the settings of a key. */
export function EditKey({ apiKey, onClose, onChange }: KeyDialogProps) {
  const announce = useToast();
  const bodyOf = (form: FormData) => ({ ...settingsOf(form, apiKey), expires_at: expiryOf(form) });
  const { busy, errorOf, failure, formProps } = useSubmit({
    fields: [...SETTING_FIELDS, "expires_at"],
    form: "editKey",
    bodyOf,
    send: (form) => callPortal("PATCH", `keys/${apiKey.id}`, bodyOf(form)),
    done: () => {
      onClose();
      onChange();
      announce("Saved. Takes effect within a second.");
    },
  });
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Edit ${apiKey.name}`}
      description={
        <>
          <KeyMark apiKey={apiKey} /> stays the same.
        </>
      }
    >
      <form {...formProps} className="space-y-5">
        <KeySettings start={apiKey} errorOf={errorOf} />
        <ExpiryField current={apiKey.expires_at} error={errorOf("expires_at")} />
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose}>
          Save
        </DialogSubmit>
      </form>
    </Dialog>
  );
}

/** Replaces a key; the old one keeps working for the chosen grace period. */
export function RotateKey({ apiKey, onClose, onChange }: KeyDialogProps) {
  const [made, setMade] = useState<MadeKey>();
  const { busy, failure, formProps } = useSubmit<MadeKey>({
    fields: [],
    send: (form) => callPortal("POST", `keys/${apiKey.id}/rotate`, { grace: textOf(form, "grace") }),
    done: (rotated) => {
      setMade(rotated);
      onChange();
    },
  });
  const description =
    made === undefined
      ? "Replaces the key with a new one that has the same settings."
      : "Deploy it before the old key's grace period ends.";
  return (
    <Dialog
      open
      onOpenChange={onClose}
      sticky={made !== undefined}
      wide={made !== undefined}
      title={made === undefined ? `Rotate ${apiKey.name}` : "Your new key"}
      description={description}
    >
      {made !== undefined ? (
        <Secret made={made} onDone={onClose} />
      ) : (
        <form {...formProps} className="space-y-4">
          <fieldset>
            <legend className="mb-1.5 font-medium text-sm">Keep the old key working for</legend>
            <div className="grid gap-2 sm:grid-cols-2">
              {GRACES.map((grace) => (
                <Radio
                  key={grace.value}
                  {...grace}
                  name="grace"
                  defaultChecked={grace.value === USUAL_GRACE}
                  // With the first option focused, the space bar would choose "None" and end the old key at once.
                  data-autofocus={grace.value === USUAL_GRACE || undefined}
                />
              ))}
            </div>
          </fieldset>
          <DialogSubmit failure={failure} busy={busy} onCancel={onClose}>
            Rotate
          </DialogSubmit>
        </form>
      )}
    </Dialog>
  );
}

/** Revokes a key for good, once its name was typed. */
export function RevokeKey({ apiKey, onClose, onChange }: KeyDialogProps) {
  const announce = useToast();
  return (
    <ConfirmDialog
      title={`Revoke ${apiKey.name}`}
      description={
        <>
          Requests with <KeyMark apiKey={apiKey} /> are rejected and its streams close within a second. This cannot be undone.
        </>
      }
      word={apiKey.name}
      action="Revoke key"
      send={(form) => callPortal("POST", `keys/${apiKey.id}/revoke`, { confirm: textOf(form, "confirm") })}
      onClose={onClose}
      onDone={() => {
        onClose();
        onChange();
        announce(`${apiKey.name} was revoked.`);
      }}
    />
  );
}
