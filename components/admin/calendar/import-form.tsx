"use client";

import { type ChangeEvent, useMemo, useState } from "react";
import type { CalendarException } from "#lib/contract/calendar";
import { Changes } from "../../portal/changes";
import { changesOf } from "../../portal/diff";
import { countText } from "../../portal/numbers";
import { Button, buttonClass } from "../../ui/button";
import { TextArea } from "../../ui/field";
import { Prose } from "../../ui/prose";
import { datesText, mergeExceptions } from "./exceptions";
import { HOLIDAY_LIST_MAX_CHARACTERS, readHolidayList } from "./holiday-list";

const EXAMPLE = "date,kind,time,name\n2026-12-24,early_close,13:00,Christmas Eve\n2026-12-25,closed,,Christmas Day";
const SHOWN_PROBLEMS_COUNT = 10;
const SHOWN_CHANGES_COUNT = 8;

const datesCount = (count: number) => (count === 1 ? "1 date" : `${countText(count)} dates`);

function Problems({ list }: { list: ReturnType<typeof readHolidayList> }) {
  const { problems, refused } = list;
  if (refused === 0) return null;
  const shown = problems.slice(0, SHOWN_PROBLEMS_COUNT);
  return (
    <div role="alert" className="rounded-md border border-danger/40 px-3 py-2 text-sm leading-6">
      <p className="font-medium">{refused === 1 ? "1 line was not read" : `${countText(refused)} lines were not read`}</p>
      <ul className="text-ink-soft">
        {shown.map(({ line, detail }) => (
          <li key={`${line} ${detail}`} className="[overflow-wrap:anywhere]">
            {line === null ? "" : `Line ${line}: `}
            <Prose text={detail} />
          </li>
        ))}
      </ul>
      {refused > shown.length ? <p className="text-ink-faint">and {countText(refused - shown.length)} more</p> : null}
    </div>
  );
}

interface ImportFormProps {
  readonly rows: readonly CalendarException[];
  readonly onImport: (rows: readonly CalendarException[]) => void;
}

/** Reads a list of holidays, shows what it would change, and merges it into the rows date by date. */
export function ImportForm({ rows, onImport }: ImportFormProps) {
  const [text, setText] = useState("");
  const [fileError, setFileError] = useState<string>();
  const list = useMemo(() => readHolidayList(text), [text]);
  const merged = useMemo(() => mergeExceptions(rows, list.rows), [rows, list]);
  const [before, after] = useMemo(() => [datesText(rows), datesText(merged)], [rows, merged]);
  const changed = useMemo(() => changesOf(before, after).length, [before, after]);
  const found = new Set(list.rows.map(({ date }) => date)).size;

  async function open({ target }: ChangeEvent<HTMLInputElement>): Promise<void> {
    const [file] = target.files ?? [];
    setFileError(undefined);
    if (file === undefined) return;
    // The same file can be chosen again after it was corrected.
    target.value = "";
    if (file.size > HOLIDAY_LIST_MAX_CHARACTERS)
      return setFileError(`${file.name} is too large: a list has at most ${countText(HOLIDAY_LIST_MAX_CHARACTERS)} bytes.`);
    const read = await file.text().catch(() => undefined);
    if (read === undefined) setFileError(`${file.name} can't be read.`);
    else setText(read);
  }

  return (
    <div className="space-y-3">
      <TextArea
        label="CSV or iCalendar"
        rows={5}
        spellCheck={false}
        placeholder={EXAMPLE}
        value={text}
        onChange={(event) => setText(event.target.value)}
        error={fileError}
        hint="CSV: the kind is closed, early_close or late_open. iCalendar: all-day events are closed days."
        className="font-mono text-[13px]!"
      />
      <label
        className={`${buttonClass("secondary")} relative cursor-pointer has-focus-visible:outline-2 has-focus-visible:outline-accent has-focus-visible:outline-offset-2`}
      >
        Choose a file…
        <input type="file" accept=".csv,.ics,text/csv,text/calendar" onChange={open} className="sr-only" />
      </label>
      <Problems list={list} />
      {text.trim() === "" ? null : (
        <div aria-live="polite" className="space-y-3">
          <p className="text-ink-soft text-sm">
            Found {datesCount(found)}. {changed === 0 ? "Nothing changes." : `Changes ${datesCount(changed)}:`}
          </p>
          {changed === 0 ? null : <Changes before={before} after={after} shown={SHOWN_CHANGES_COUNT} />}
          <Button
            disabled={changed === 0}
            onClick={() => {
              onImport(merged);
              setText("");
            }}
          >
            {changed === 0 ? "Apply" : `Apply to ${datesCount(changed)}`}
          </Button>
        </div>
      )}
    </div>
  );
}
