"use client";

import { useState } from "react";
import {
  CORRECTION_REASON_MAX_CHARACTERS,
  type CorrectionMade,
  type DataMinute,
  STRIKE_MAX_MINUTES,
} from "#lib/contract/portal-corrections";
import { SECOND_MS } from "#lib/units";
import { callPortal } from "../../portal/api";
import { instantText, useTimeZone } from "../../portal/time";
import { numberOf, textOf, useSubmit } from "../../portal/use-submit";
import { Dialog } from "../../ui/dialog";
import { DialogSubmit } from "../../ui/dialog-submit";
import { TextField } from "../../ui/field";
import { Radio } from "../../ui/select";
import { useToast } from "../../ui/toast";

const FIELDS = ["open", "high", "low", "close", "tick_volume", "spread"] as const;
const LABELS: Record<(typeof FIELDS)[number], string> = {
  open: "Open",
  high: "High",
  low: "Low",
  close: "Close",
  tick_volume: "Tick volume",
  spread: "Spread",
};

interface CorrectionDialogProps {
  readonly ticker: string;
  readonly digits: number;
  readonly minute: DataMinute;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** Replaces the kline of a minute, or strikes it and the following ones out. */
export function CorrectionDialog({ ticker, digits, minute, onClose, onChange }: CorrectionDialogProps) {
  const announce = useToast();
  const zone = useTimeZone();
  const { time, kline } = minute;
  const [action, setAction] = useState<"replace" | "strike">(kline === null ? "replace" : "strike");
  const bodyOf = (form: FormData) => {
    const common = { action, time, reason: textOf(form, "reason") };
    if (action === "strike") return { ...common, minutes: numberOf(form, "minutes") ?? undefined };
    const given = FIELDS.map((name) => [name, numberOf(form, name) ?? (name === "spread" ? null : undefined)]);
    return { ...common, ...Object.fromEntries(given) };
  };
  const { busy, errorOf, failure, formProps } = useSubmit<CorrectionMade>({
    fields: [...FIELDS, "minutes", "reason"],
    form: "correction",
    bodyOf,
    send: (form) => callPortal("POST", `admin/data/${ticker}/minutes`, bodyOf(form)),
    done: ({ number, minutes }) => {
      onClose();
      onChange();
      announce(
        action === "replace"
          ? `Corrected as import ${number}.`
          : `${minutes === 1 ? "1 minute is" : `${minutes} minutes are`} struck out as import ${number}.`,
      );
    },
  });
  const textFor = (name: (typeof FIELDS)[number]) => {
    const value = kline?.[name];
    if (value === null || value === undefined) return "";
    return name === "tick_volume" || name === "spread" ? String(value) : value.toFixed(digits);
  };
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Correct ${ticker}, ${instantText(new Date(time * SECOND_MS).toISOString(), zone)}`}
      description="M5 to MN1 are computed with it, and subscribers receive the change at once. No feed, push, repair or import shows over it. You can undo it on Feeds."
    >
      <form {...formProps} className="space-y-5">
        {kline === null ? null : (
          <fieldset>
            <legend className="mb-1.5 font-medium text-sm">Change</legend>
            <div className="grid gap-2 sm:grid-cols-2">
              <Radio name="action" label="Strike out" checked={action === "strike"} onChange={() => setAction("strike")} />
              <Radio name="action" label="New values" checked={action === "replace"} onChange={() => setAction("replace")} />
            </div>
          </fieldset>
        )}
        {action === "strike" ? (
          <TextField
            label="Minutes"
            name="minutes"
            type="number"
            min={1}
            max={STRIKE_MAX_MINUTES}
            defaultValue={1}
            required
            hint="This minute and those that follow."
            error={errorOf("minutes")}
          />
        ) : (
          <div className="grid grid-cols-2 gap-4">
            {FIELDS.map((name) => (
              <TextField
                key={name}
                label={LABELS[name]}
                name={name}
                inputMode="decimal"
                autoComplete="off"
                defaultValue={textFor(name)}
                required={name !== "spread"}
                hint={name === "spread" ? "Optional." : undefined}
                error={errorOf(name)}
                className="font-mono"
              />
            ))}
          </div>
        )}
        <TextField
          label="Reason"
          name="reason"
          required
          maxLength={CORRECTION_REASON_MAX_CHARACTERS}
          autoComplete="off"
          hint="Shown to other operators and recorded in the audit log."
          error={errorOf("reason")}
        />
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose} kind={action === "strike" ? "danger" : "primary"}>
          {action === "strike" ? "Strike out" : "Save values"}
        </DialogSubmit>
      </form>
    </Dialog>
  );
}
