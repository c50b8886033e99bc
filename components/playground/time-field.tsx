"use client";

import { SECOND_MS } from "#lib/units";
import { dateFormat } from "../portal/date-format";
import { useTimeZone } from "../portal/time";
import { CONTROL } from "../ui/field";
import type { PlayField } from "./model";
import { ParameterField } from "./parameter-field";

export interface FieldControlProps {
  readonly field: PlayField;
  readonly value: string;
  readonly issue: string | undefined;
  readonly onChange: (value: string) => void;
}

const SECONDS = /^\d{1,11}$/;
const MINUTES_TEXT = "YYYY-MM-DDTHH:MM".length;

/** The picker's text for a value: UTC, to the minute; empty for an invalid instant. */
export function pickerText(kind: PlayField["kind"], value: string): string {
  const ms = kind === "seconds" ? (SECONDS.test(value) ? Number(value) * SECOND_MS : Number.NaN) : Date.parse(value);
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9_999 ? "" : date.toISOString().slice(0, MINUTES_TEXT);
}

/** The value of a picked minute (UTC): Unix seconds, or an ISO 8601 instant. */
export function pickedValue(kind: PlayField["kind"], text: string): string {
  if (text === "") return "";
  return kind === "seconds" ? String(Date.parse(`${text}Z`) / SECOND_MS) : `${text}:00Z`;
}

const LOCAL = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;

/** A value in the viewer's own time zone; undefined for an invalid instant. */
function localText(kind: PlayField["kind"], value: string, timeZone: string): string | undefined {
  const picked = pickerText(kind, value);
  if (picked === "") return undefined;
  return `${dateFormat({ ...LOCAL, timeZone }).format(new Date(`${picked}Z`))}, ${timeZone}`;
}

/** An instant: typed in the service's format, or picked from a calendar that writes it. */
export function TimeField({ field, value, issue, onChange }: FieldControlProps) {
  const { name, kind } = field;
  const local = localText(kind, value, useTimeZone());
  return (
    <ParameterField field={field} issue={issue} note={local === undefined ? undefined : `In your time: ${local}.`}>
      {(control) => (
        <div className={`grid gap-2 ${kind === "seconds" ? "grid-cols-[7.5rem_minmax(0,1fr)] lg:max-xl:grid-cols-1" : ""}`}>
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
          <div className="flex items-center gap-2">
            <input
              type="datetime-local"
              aria-label={`Pick ${name} (UTC)`}
              value={pickerText(kind, value)}
              max="2100-01-01T00:00"
              onChange={(event) => onChange(pickedValue(kind, event.target.value))}
              className={`${CONTROL} min-w-0 flex-1 tabular-nums text-ink-soft`}
            />
            <span aria-hidden="true" className="shrink-0 text-ink-faint text-xs">
              UTC
            </span>
          </div>
        </div>
      )}
    </ParameterField>
  );
}
