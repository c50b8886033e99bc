"use client";

import { CONTROL, Field } from "../ui/field";
import type { PlayField } from "./model";

export interface FieldControlProps {
  readonly field: PlayField;
  readonly value: string;
  readonly issue: string | undefined;
  readonly onChange: (value: string) => void;
}

const SECONDS = /^\d{1,11}$/;
const MINUTES_TEXT = "YYYY-MM-DDTHH:MM".length;

/** What a picker shows for a value: UTC, by the minute; empty for what is no instant. */
export function pickerText(kind: PlayField["kind"], value: string): string {
  const ms = kind === "seconds" ? (SECONDS.test(value) ? Number(value) * 1_000 : Number.NaN) : Date.parse(value);
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9_999 ? "" : date.toISOString().slice(0, MINUTES_TEXT);
}

/** What a picked minute (UTC) is as a value of the parameter: Unix seconds, or an ISO 8601 instant. */
export function pickedValue(kind: PlayField["kind"], text: string): string {
  if (text === "") return "";
  return kind === "seconds" ? String(Date.parse(`${text}Z`) / 1_000) : `${text}:00Z`;
}

/** An instant: typed as the service takes it, or picked from a calendar that writes it so. */
export function TimeField({ field, value, issue, onChange }: FieldControlProps) {
  const { name, kind, description, required } = field;
  return (
    <Field label={<FieldName name={name} required={required} />} hint={description} error={issue}>
      {(control) => (
        <div className="grid grid-cols-[7.5rem_minmax(0,1fr)] gap-2">
          <input
            {...control}
            name={name}
            value={value}
            onChange={(event) => onChange(event.target.value)}
            inputMode={kind === "seconds" ? "numeric" : "text"}
            autoComplete="off"
            spellCheck={false}
            placeholder={kind === "seconds" ? "seconds" : "ISO 8601"}
            className={`${CONTROL} font-mono`}
          />
          <input
            type="datetime-local"
            aria-label={`Pick ${name} (UTC)`}
            value={pickerText(kind, value)}
            max="2100-01-01T00:00"
            onChange={(event) => onChange(pickedValue(kind, event.target.value))}
            className={`${CONTROL} tabular-nums text-ink-soft`}
          />
        </div>
      )}
    </Field>
  );
}

/** A parameter's name as it stands in a query, and whether it may be left out. */
export function FieldName({ name, required }: { name: string; required: boolean }) {
  return (
    <span className="flex items-baseline justify-between gap-2">
      <code className="font-mono text-[13px]">{name}</code>
      {required ? null : <span className="font-normal text-ink-faint text-xs">optional</span>}
    </span>
  );
}
