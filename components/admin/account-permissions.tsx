"use client";

import { useState } from "react";
import { ASSET_CLASSES } from "#lib/contract/instrument";
import { PERMISSION_TICKERS_MAX_COUNT, type PortalAccount } from "#lib/contract/portal-admin";
import { callPortal } from "../portal/api";
import { countText } from "../portal/numbers";
import { textOf, useSubmit } from "../portal/use-submit";
import { Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { TextArea } from "../ui/field";
import { Checkbox, Radio } from "../ui/select";
import { useToast } from "../ui/toast";
import type { AccountDialogProps } from "./account-suspend";

type Permissions = PortalAccount["permissions"];
type Kind = Permissions["kind"];

/** Tickers listed in a cell of the table; further ones are counted. */
const NAMED_MAX_COUNT = 3;
const KINDS: readonly { value: Kind; label: string; hint: string }[] = [
  { value: "all", label: "Everything", hint: "All instruments, including ones added later." },
  { value: "asset_classes", label: "Asset classes", hint: "All instruments in the selected classes." },
  { value: "tickers", label: "Specific tickers", hint: "Only the tickers you list." },
];

/** A short description of what an account may read. */
export function permissionsText(permissions: Permissions): string {
  if (permissions.kind === "all") return "Everything";
  const { values } = permissions;
  if (values.length === 0) return "Nothing";
  const named = values.slice(0, NAMED_MAX_COUNT).join(", ");
  return values.length > NAMED_MAX_COUNT ? `${named} and ${countText(values.length - NAMED_MAX_COUNT)} more` : named;
}

function permissionsOf(form: FormData, kind: Kind): { kind: Kind; values?: unknown } {
  if (kind === "all") return { kind };
  if (kind === "asset_classes") return { kind, values: form.getAll("classes") };
  const words = textOf(form, "permissions")
    .toUpperCase()
    .split(/[\s,;]+/);
  return { kind, values: [...new Set(words.filter(Boolean))] };
}

/** The choice behind a kind of permission. */
function Values({ kind, start, error }: { kind: Kind; start: Permissions; error: string | undefined }) {
  const chosen: readonly string[] = start.kind === kind && start.kind !== "all" ? start.values : [];
  if (kind === "all") return null;
  if (kind === "tickers")
    return (
      <TextArea
        label="Tickers"
        name="permissions"
        hint="Separated by spaces, commas or line breaks. An empty list grants access to nothing."
        rows={5}
        spellCheck={false}
        defaultValue={chosen.join(" ")}
        error={error}
        className="font-mono text-[13px]!"
      />
    );
  return (
    <fieldset>
      <legend className="mb-1.5 font-medium text-sm">Asset classes</legend>
      <div className="grid gap-2 sm:grid-cols-3">
        {ASSET_CLASSES.map((name) => (
          <Checkbox key={name} name="classes" value={name} label={name} defaultChecked={chosen.includes(name)} />
        ))}
      </div>
    </fieldset>
  );
}

/** Chooses the instruments that an account may read. */
export function EditPermissions({ account, onClose, onChange }: AccountDialogProps) {
  const announce = useToast();
  const [kind, setKind] = useState(account.permissions.kind);
  const bodyOf = (form: FormData) => ({ permissions: permissionsOf(form, kind) });
  const { busy, errorOf, failure, formProps } = useSubmit({
    fields: kind === "tickers" ? ["permissions"] : [],
    form: "account",
    bodyOf,
    send: (form) => callPortal("PATCH", `admin/accounts/${account.id}`, bodyOf(form)),
    done: () => {
      onClose();
      onChange();
      announce(`Permissions of ${account.name} saved.`);
    },
  });
  const wrong =
    errorOf("permissions") === undefined
      ? undefined
      : `Tickers are 3 to 20 letters and digits, at most ${countText(PERMISSION_TICKERS_MAX_COUNT)} of them.`;
  return (
    <Dialog open onOpenChange={onClose} title={`Permissions of ${account.name}`} description="Apply to all keys of the account.">
      <form {...formProps} className="space-y-5">
        <fieldset>
          <legend className="mb-1.5 font-medium text-sm">Can read</legend>
          <div className="space-y-2">
            {KINDS.map(({ value, label, hint }) => (
              <Radio
                key={value}
                name="kind"
                value={value}
                label={label}
                hint={hint}
                checked={kind === value}
                onChange={() => setKind(value)}
              />
            ))}
          </div>
        </fieldset>
        <Values kind={kind} start={account.permissions} error={wrong} />
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose}>
          Save
        </DialogSubmit>
      </form>
    </Dialog>
  );
}
