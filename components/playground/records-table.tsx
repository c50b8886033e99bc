"use client";

import { useState } from "react";
import { fieldsOf } from "#lib/client/errors";
import { Button } from "../ui/button";
import { type Column, Table } from "../ui/table";

type RecordRow = Readonly<Record<string, unknown>> & { readonly row: number };

/** Rows rendered at first, and with each further step. */
const STEP_ROWS = 100;
/** The type of the records is the same in each row. */
const LEFT_OUT = new Set(["type"]);
const INSTANTS: Readonly<Record<string, number>> = { time: 1_000, time_msc: 1 };

/** Longer lists are shortened to their length and their ends. */
const LISTED_MAX_COUNT = 3;

/** A list in few characters: "quote, kline", or "9: M1…MN1". */
export function listText(list: readonly unknown[]): string {
  return list.length <= LISTED_MAX_COUNT ? list.join(", ") : `${list.length}: ${list[0]}…${list.at(-1)}`;
}

function Cell({ name, value }: { name: string; value: unknown }) {
  if (value === null || value === undefined) return <span className="text-ink-faint">–</span>;
  if (Array.isArray(value)) return <span title={value.join(", ")}>{listText(value)}</span>;
  const scale = INSTANTS[name];
  if (scale === undefined || typeof value !== "number") return String(value);
  const at = new Date(value * scale).toISOString();
  return (
    <time dateTime={at} title={at}>
      {value}
    </time>
  );
}

/** The box around the table scrolls both ways; rows stay on one line, and their first cell stays visible. */
const SCROLLED =
  "[&>section]:w-max [&>section]:min-w-full [&>section]:overflow-visible [&>section]:rounded-none [&>section]:border-0 [&_:is(th,td):first-child]:sticky [&_:is(th,td):first-child]:left-0 [&_:is(th,td):first-child]:bg-surface [&_td]:whitespace-nowrap";

/** The records of an answer: its `items`; undefined without them. */
export function recordsOf(body: unknown): readonly RecordRow[] | undefined {
  const { items } = fieldsOf(fieldsOf(body).data);
  return Array.isArray(items) ? items.map((item, row) => ({ ...fieldsOf(item), row })) : undefined;
}

/** The records of an answer as rows, with a column per field. */
export function RecordsTable({ rows }: { rows: readonly RecordRow[] }) {
  const [shown, setShown] = useState(STEP_ROWS);
  const names = [...new Set(rows.slice(0, STEP_ROWS).flatMap((row) => Object.keys(row)))].filter(
    (name) => name !== "row" && !LEFT_OUT.has(name),
  );
  const columns = names.map(
    (name): Column<RecordRow> => ({
      head: <code className="font-mono">{name}</code>,
      numeric: rows.every((row) => typeof row[name] === "number" || (row[name] ?? null) === null),
      cell: (row) => <Cell name={name} value={row[name]} />,
    }),
  );
  return (
    <>
      <div className={`max-h-[32rem] overflow-auto rounded-lg border border-line ${SCROLLED}`}>
        <Table
          caption="Records in the response"
          columns={columns}
          rows={rows.slice(0, shown)}
          rowKey={({ row }) => String(row)}
          empty="The response has no records."
        />
      </div>
      {rows.length > shown ? (
        <div className="mt-3 flex items-center gap-4 text-ink-faint text-sm">
          <Button onClick={() => setShown(shown + STEP_ROWS)}>Show more</Button>
          {shown} of {rows.length} rows
        </div>
      ) : null}
    </>
  );
}
