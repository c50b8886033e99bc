"use client";

import { type ReactNode, useId, useMemo } from "react";
import type { CalendarDefinitionSchema } from "#lib/contract/calendar";
import { Field, TextArea, TextField } from "../../ui/field";
import { Select } from "../../ui/select";
import { DatesForm } from "./dates-form";
import { JSON_NAME, nameOf, type useDraft } from "./draft";
import { exceptionsOf, type WeeklyDefinition, withExceptions } from "./exceptions";
import { ImportForm } from "./import-form";
import { SessionsForm } from "./sessions-form";

type Draft = ReturnType<typeof useDraft>;
type Cycle = Extract<CalendarDefinitionSchema, { kind: "cycle" }>;

const KINDS = [
  { value: "weekly", label: "Weekly sessions" },
  { value: "always", label: "Always open" },
  { value: "never", label: "Always closed" },
  { value: "cycle", label: "Repeating cycle" },
] as const satisfies readonly { readonly value: CalendarDefinitionSchema["kind"]; readonly label: string }[];
const CYCLE_FIELDS = [
  { field: "anchorS", label: "First open", hint: "Unix seconds." },
  { field: "openS", label: "Open for", hint: "Seconds." },
  { field: "closedS", label: "Closed for", hint: "Seconds. 0 stays open." },
] as const satisfies readonly { readonly field: keyof Cycle; readonly label: string; readonly hint: string }[];

function Part({ title, note, children }: { title: string; note?: ReactNode; children: ReactNode }) {
  return (
    <section className="space-y-3">
      <div>
        <h3 className="font-medium">{title}</h3>
        {note === undefined ? null : <p className="text-ink-faint text-xs leading-5">{note}</p>}
      </div>
      {children}
    </section>
  );
}

function Folded({ title, children }: { title: string; children: ReactNode }) {
  return (
    <details className="rounded-md border border-line">
      <summary className="cursor-pointer px-3 py-2 font-medium text-sm hover:bg-sunken">{title}</summary>
      <div className="border-line border-t p-3">{children}</div>
    </details>
  );
}

function WeeklyParts({ weekly, draft: { issues, change } }: { weekly: WeeklyDefinition; draft: Draft }) {
  const rows = useMemo(() => exceptionsOf(weekly), [weekly]);
  const replaceRows = (next: typeof rows) => change(withExceptions(weekly, next));
  return (
    <>
      <Part
        title="Weekly sessions"
        note={`Local times in ${weekly.zone || "the time zone"}. A session that crosses midnight is two, which meet at 24:00.`}
      >
        <SessionsForm
          week={weekly.week}
          error={issues.at("week")}
          errorAt={(index, end) => issues.at("week", index, end)}
          onChange={(week) => change({ ...weekly, week })}
        />
      </Part>
      <Part title="Holidays and other hours" note="They change the weekly sessions on single dates.">
        <DatesForm rows={rows} coveredUntil={weekly.coveredUntil} onChange={replaceRows} />
        <Folded title="Import a list">
          <ImportForm rows={rows} onImport={replaceRows} />
        </Folded>
      </Part>
    </>
  );
}

function CycleFields({ cycle, draft: { issues, change } }: { cycle: Cycle; draft: Draft }) {
  return (
    <div className="grid gap-5 sm:grid-cols-3">
      {CYCLE_FIELDS.map(({ field, label, hint }) => (
        <TextField
          key={field}
          label={label}
          name={nameOf(field)}
          hint={hint}
          type="number"
          inputMode="numeric"
          value={cycle[field]}
          onChange={({ target }) => change({ ...cycle, [field]: Number(target.value) })}
          error={issues.at(field)}
          className="font-mono tabular-nums"
        />
      ))}
    </div>
  );
}

/** A definition as a form, and as JSON under "Advanced"; both show and change the same draft. */
export function DefinitionForm({ draft }: { draft: Draft }) {
  const { definition, issues, change, choose, fieldProps } = draft;
  const zones = useId();
  return (
    <div {...fieldProps} className="space-y-6">
      <div className="grid gap-5 sm:grid-cols-3">
        <Field label="Hours">
          {(control) => <Select {...control} options={KINDS} value={definition.kind} onChange={choose} />}
        </Field>
        {definition.kind === "weekly" ? (
          <>
            <TextField
              label="Time zone"
              name={nameOf("zone")}
              list={zones}
              value={definition.zone}
              onChange={({ target }) => change({ ...definition, zone: target.value })}
              error={issues.at("zone")}
              autoComplete="off"
              spellCheck={false}
            />
            <TextField
              label="Covered until"
              name={nameOf("coveredUntil")}
              type="date"
              value={definition.coveredUntil}
              onChange={({ target }) => change({ ...definition, coveredUntil: target.value })}
              hint="After this day the state is unknown."
              error={issues.at("coveredUntil")}
            />
            <datalist id={zones}>
              {Intl.supportedValuesOf("timeZone").map((zone) => (
                <option key={zone} value={zone} />
              ))}
            </datalist>
          </>
        ) : null}
      </div>
      {definition.kind === "weekly" ? <WeeklyParts weekly={definition} draft={draft} /> : null}
      {definition.kind === "cycle" ? <CycleFields cycle={definition} draft={draft} /> : null}
      <Folded title="Advanced">
        <TextArea
          label="Definition as JSON"
          name={JSON_NAME}
          rows={14}
          spellCheck={false}
          value={draft.json}
          onChange={({ target }) => draft.write(target.value)}
          hint="The form follows as you type. Days start at 0 (Sunday)."
          error={draft.jsonProblem}
          className="font-mono text-[13px]!"
        />
      </Folded>
    </div>
  );
}
