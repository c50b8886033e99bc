"use client";

import { useState } from "react";
import type { RotationGrace } from "#lib/contract/limits";
import type { PortalKey } from "#lib/contract/portal";
import { callPortal } from "../portal/api";
import { Countdown, useTimeZone } from "../portal/time";
import { textOf, useSubmit } from "../portal/use-submit";
import { ConfirmDialog } from "../ui/confirm-dialog";
import { Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { Checkbox, Radio } from "../ui/select";
import { useToast } from "../ui/toast";
import { replacedInGrace } from "./arrange";
import { ExpiryField, expiryOf } from "./expiry-field";
import { KeySettings, SETTING_FIELDS, settingsOf } from "./key-settings";
import { KeyMark } from "./key-text";
import { type MadeKey, Secret } from "./secret";

interface KeyDialogProps {
  readonly apiKey: PortalKey;
  /** All keys of the account. */
  readonly keys: readonly PortalKey[];
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
  const zone = useTimeZone();
  const bodyOf = (form: FormData) => ({ ...settingsOf(form, apiKey, zone), expires_at: expiryOf(form, zone) });
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
                <Radio key={grace.value} {...grace} name="grace" defaultChecked={grace.value === USUAL_GRACE} />
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

/** Offers to end the keys that one replaced, by name and how long each still works. The field is `replaced`. */
function AlsoReplaced({ keys }: { keys: readonly PortalKey[] }) {
  const plural = keys.length > 1;
  return (
    <div className="space-y-3 rounded-md border border-warning/40 bg-sunken p-3 text-sm leading-6">
      <p>{plural ? "Older keys that it replaced still work:" : "The older key that it replaced still works:"}</p>
      <ul className="space-y-1">
        {keys.map((key) => (
          <li key={key.id} className="flex flex-wrap gap-x-2 [overflow-wrap:anywhere]">
            {key.name} <KeyMark apiKey={key} />
            {key.grace_until === null ? null : (
              <span className="text-ink-soft">
                <Countdown until={key.grace_until} /> left
              </span>
            )}
          </li>
        ))}
      </ul>
      <Checkbox
        name="replaced"
        label={plural ? "Revoke these too" : "Revoke this one too"}
        hint="Otherwise it works until its grace period ends."
      />
    </div>
  );
}

/** Revokes a key for good, once its name was typed, and those that it replaced if asked to. `path` is that of the keys it is among. */
export function RevokeKey({ apiKey, keys, path = "keys", onClose, onChange }: KeyDialogProps & { readonly path?: string }) {
  const announce = useToast();
  const replaced = replacedInGrace(keys, apiKey);
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
      send={(form) => {
        const body = { confirm: textOf(form, "confirm"), replaced: form.has("replaced") };
        return callPortal("POST", `${path}/${apiKey.id}/revoke`, body);
      }}
      onClose={onClose}
      onDone={() => {
        onClose();
        onChange();
        announce(`${apiKey.name} was revoked.`);
      }}
    >
      {replaced.length === 0 ? null : <AlsoReplaced keys={replaced} />}
    </ConfirmDialog>
  );
}
