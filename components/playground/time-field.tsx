"use client";

import { SECOND_MS } from "#lib/units";
import { instantOf, localText } from "../portal/local-time";
import { instantText, useOtherZone, useTimeZone, ZoneName } from "../portal/time";
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

/** The instant (ISO 8601) of a value; null for an invalid one. */
function instantIn(kind: PlayField["kind"], value: string): string | null {
  const ms = kind === "seconds" ? (SECONDS.test(value) ? Number(value) * SECOND_MS : Number.NaN) : Date.parse(value);
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9_998 ? null : date.toISOString();
}

/** The picker's text for a value: in a zone, to the minute; empty for an invalid instant. */
export const pickerText = (kind: PlayField["kind"], value: string, zone: string): string =>
  localText(instantIn(kind, value), zone);

/** The value of a minute that was picked in a zone: Unix seconds, or an ISO 8601 instant. */
export function pickedValue(kind: PlayField["kind"], text: string, zone: string): string {
  if (text === "") return "";
  const instant = instantOf(text, zone);
  return kind === "seconds" ? String(Date.parse(instant) / SECOND_MS) : instant.replace(".000Z", "Z");
}

/** An instant: typed in the service's format, or picked from a calendar that writes it. */
export function TimeField({ field, value, issue, onChange }: FieldControlProps) {
  const { name, kind } = field;
  const zone = useTimeZone();
  const other = useOtherZone();
  const instant = instantIn(kind, value);
  const note = instant === null || other === undefined ? undefined : `That is ${instantText(instant, other)}.`;
  return (
    <ParameterField field={field} issue={issue} note={note}>
      {(control) => (
        <div className="flex flex-wrap gap-2">
          <input
            {...control}
            name={name}
            value={value}
            onChange={(event) => onChange(event.target.value)}
            inputMode={kind === "seconds" ? "numeric" : "text"}
            autoComplete="off"
            spellCheck={false}
            placeholder={kind === "seconds" ? "seconds" : "ISO 8601"}
            className={`${CONTROL} font-mono ${kind === "seconds" ? "w-auto min-w-0 flex-[1_1_7.5rem]" : ""}`}
          />
          <div className="flex min-w-0 flex-[2_1_16rem] items-center gap-2">
            <input
              type="datetime-local"
              aria-label={`Pick ${name} (${zone})`}
              value={pickerText(kind, value, zone)}
              max="2100-01-01T00:00"
              onChange={(event) => onChange(pickedValue(kind, event.target.value, zone))}
              className={`${CONTROL} min-w-0 flex-1 tabular-nums text-ink-soft`}
            />
            <span aria-hidden="true" className="shrink-0 text-ink-faint text-xs">
              <ZoneName />
            </span>
          </div>
        </div>
      )}
    </ParameterField>
  );
}
