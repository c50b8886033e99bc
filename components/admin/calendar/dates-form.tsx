"use client";

import { useState } from "react";
import { CalendarException } from "#lib/contract/calendar";
import { validate } from "#lib/contract/validate";
import { DAY_MS } from "#lib/units";
import { timeText } from "../../portal/date-format";
import { countText } from "../../portal/numbers";
import { refused, textOf, useSubmit } from "../../portal/use-submit";
import { Button } from "../../ui/button";
import { Field, TextField } from "../../ui/field";
import { Select } from "../../ui/select";
import { EXCEPTION_KINDS, isSame, putException } from "./exceptions";

const labelOf = (kind: CalendarException["kind"]) => EXCEPTION_KINDS.find(({ value }) => value === kind)?.label;

/** "Fri 25 Dec 2026" */
const dayText = (date: string) => `${timeText(date, "weekday", "UTC")} ${timeText(date, "day", "UTC")}`;

interface EntryFormProps {
  /** The row to change; undefined adds one. */
  readonly row: CalendarException | undefined;
  readonly onDone: (row: CalendarException) => void;
  readonly onCancel: () => void;
}

function EntryForm({ row, onDone, onCancel }: EntryFormProps) {
  const [kind, setKind] = useState(row?.kind ?? "closed");
  const closed = kind === "closed";
  const bodyOf = (form: FormData) => ({
    date: textOf(form, "date"),
    kind,
    time: closed ? "" : textOf(form, "time").trim(),
    name: textOf(form, "name").trim(),
  });
  const { errorOf, formProps } = useSubmit<CalendarException>({
    fields: ["date", "time", "name"],
    form: "calendarException",
    bodyOf,
    // The page keeps it until the calendar is saved.
    send: async (form) => {
      const validated = validate(CalendarException, bodyOf(form));
      if ("data" in validated) return validated;
      const [{ path, detail }] = validated.refusals;
      return refused(String(path[0]), detail);
    },
    done: (entered, form) => {
      form.reset();
      setKind("closed");
      onDone(entered);
    },
  });

  return (
    <form
      {...formProps}
      className="grid grid-cols-2 items-start gap-3 rounded-md border border-line bg-sunken p-3 md:grid-cols-[10rem_10rem_6rem_minmax(0,1fr)_auto]"
    >
      <TextField label="Date" name="date" type="date" defaultValue={row?.date} error={errorOf("date")} />
      <Field label="Trading">
        {(control) => <Select {...control} options={EXCEPTION_KINDS} value={kind} onChange={setKind} />}
      </Field>
      <TextField
        label="Time"
        name="time"
        placeholder={closed ? "–" : "HH:MM"}
        disabled={closed}
        key={closed ? "closed" : "timed"}
        defaultValue={closed ? "" : row?.time}
        error={closed ? undefined : errorOf("time")}
        autoComplete="off"
        className="font-mono text-[13px]! tabular-nums"
      />
      <TextField
        label="Name"
        name="name"
        placeholder="Optional"
        defaultValue={row?.name}
        error={errorOf("name")}
        autoComplete="off"
      />
      <div className="flex gap-2 max-md:col-span-2 md:pt-7">
        <Button type="submit">{row === undefined ? "Add date" : "Save date"}</Button>
        {row === undefined ? null : (
          <Button kind="ghost" onClick={onCancel}>
            Cancel
          </Button>
        )}
      </div>
    </form>
  );
}

interface DateRowProps {
  readonly row: CalendarException;
  readonly late: boolean;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

function DateRow({ row: { date, kind, time, name }, late, onEdit, onRemove }: DateRowProps) {
  const what = `${date} ${labelOf(kind)?.toLowerCase()}`;
  return (
    <li className="flex items-center gap-x-3 px-3 py-1 text-sm">
      <div className="grid min-w-0 flex-1 gap-x-3 sm:grid-cols-[9rem_9rem_minmax(0,1fr)]">
        <span className="tabular-nums leading-6">{dayText(date)}</span>
        <span className="leading-6">
          {labelOf(kind)} <span className="font-mono text-[13px] tabular-nums">{time}</span>
        </span>
        <span className="text-ink-soft leading-6 [overflow-wrap:anywhere]">
          {name}
          {late ? <span className="text-warning"> After “Covered until”</span> : null}
        </span>
      </div>
      <div className="flex shrink-0">
        <Button kind="ghost" aria-label={`Edit ${what}`} onClick={onEdit} className="px-2.5!">
          Edit
        </Button>
        <Button kind="ghost" aria-label={`Remove ${what}`} onClick={onRemove} className="px-2.5!">
          <span aria-hidden="true">×</span>
        </Button>
      </div>
    </li>
  );
}

interface DatesFormProps {
  readonly rows: readonly CalendarException[];
  readonly coveredUntil: string;
  readonly onChange: (rows: readonly CalendarException[]) => void;
}

/** The dates on which other hours apply; past ones are folded. */
export function DatesForm({ rows, coveredUntil, onChange }: DatesFormProps) {
  const [edited, setEdited] = useState<CalendarException>();
  const [everything, setEverything] = useState(false);
  // Yesterday by UTC is still today somewhere.
  const today = new Date(Date.now() - DAY_MS).toISOString().slice(0, "YYYY-MM-DD".length);
  const past = everything ? 0 : rows.filter(({ date }) => date < today).length;
  const shown = rows.slice(past);
  const remove = (row: CalendarException) => {
    if (isSame(row, edited)) setEdited(undefined);
    onChange(rows.filter((other) => !isSame(other, row)));
  };
  return (
    <div className="space-y-3">
      <EntryForm
        key={edited === undefined ? "new" : `${edited.date} ${edited.kind}`}
        row={edited}
        onCancel={() => setEdited(undefined)}
        onDone={(row) => {
          setEdited(undefined);
          onChange(putException(rows, row, edited));
        }}
      />
      {past === 0 ? null : (
        <Button kind="ghost" onClick={() => setEverything(true)}>
          Show {countText(past)} past {past === 1 ? "date" : "dates"}
        </Button>
      )}
      {shown.length === 0 ? (
        <p className="text-ink-soft text-sm">No dates {past === 0 ? "yet" : "from today on"}.</p>
      ) : (
        <ul
          aria-label="Holidays and other hours"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled has to be reached by the keyboard
          tabIndex={0}
          className="max-h-80 divide-y divide-line overflow-y-auto rounded-md border border-line"
        >
          {shown.map((row) => (
            <DateRow
              key={`${row.date} ${row.kind}`}
              row={row}
              late={coveredUntil !== "" && row.date > coveredUntil}
              onEdit={() => setEdited(row)}
              onRemove={() => remove(row)}
            />
          ))}
        </ul>
      )}
    </div>
  );
}
