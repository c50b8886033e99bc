"use client";

import { useState } from "react";
import { ASSET_CLASSES } from "#lib/contract/instrument";
import { PERMISSION_TICKERS_MAX_COUNT, type PortalAccount } from "#lib/contract/portal-admin";
import { countText } from "../portal/numbers";
import { textOf } from "../portal/use-submit";
import { TextArea, TextField } from "../ui/field";
import { Checkbox, Radio } from "../ui/select";

type Permissions = PortalAccount["permissions"];
type Kind = Permissions["kind"];

const KINDS: readonly { value: Kind; label: string; hint: string }[] = [
  { value: "all", label: "Everything", hint: "All instruments, including ones added later." },
  { value: "asset_classes", label: "Asset classes", hint: "All instruments in the selected classes." },
  { value: "tickers", label: "Specific tickers", hint: "Only the tickers you list." },
];

/** The choice that PermissionFields offers, as a body. */
export function permissionsOf(form: FormData): { kind: string; values?: unknown } {
  const kind = textOf(form, "kind");
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

/** The fields of a choice of instruments. @param wrong whether the service refused it */
export function PermissionFields({ start, wrong }: { readonly start: Permissions; readonly wrong: boolean }) {
  const [kind, setKind] = useState(start.kind);
  const error = `Tickers are 3 to 20 letters and digits, at most ${countText(PERMISSION_TICKERS_MAX_COUNT)} of them.`;
  return (
    <>
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
      <Values kind={kind} start={start} error={wrong ? error : undefined} />
    </>
  );
}

/** The field of the days of history that a plan or an account may read. @param narrowed what else counts, in words */
export function HistoryField({
  days,
  error,
  narrowed = "",
}: {
  days: number | null;
  error: string | undefined;
  narrowed?: string;
}) {
  return (
    <TextField
      type="number"
      inputMode="numeric"
      min={1}
      step={1}
      label="Days of history"
      name="history_days"
      hint={`Whole UTC days before today. Empty: all of it${narrowed}.`}
      defaultValue={days ?? ""}
      error={error}
      className="font-mono tabular-nums"
    />
  );
}
