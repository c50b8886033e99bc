"use client";

import { useState } from "react";
import { fieldsOf } from "#lib/client/errors";
import { Button } from "../ui/button";
import { type Column, Table } from "../ui/table";
import { instantText, priceDigits, priceText } from "./records-format";

type RecordRow = Readonly<Record<string, unknown>> & { readonly row: number };

/** Rows rendered at first, and with each further step. */
const STEP_ROWS = 100;
/** The type of the records is the same in each row. */
const LEFT_OUT = new Set(["type"]);

/** Longer lists are shortened to their length and their ends. */
const LISTED_MAX_COUNT = 3;

/** What stands for an element of a list: an object for its ticker. */
const elementText = (element: unknown) => String(fieldsOf(element).ticker ?? element);

/** A list in few characters: "quote, kline", or "9: M1…MN1". */
export function listText(elements: readonly unknown[]): string {
  const list = elements.map(elementText);
  return list.length <= LISTED_MAX_COUNT ? list.join(", ") : `${list.length}: ${list[0]}…${list.at(-1)}`;
}

function Cell({ name, value, digits }: { name: string; value: unknown; digits: number | undefined }) {
  if (value === null || value === undefined) return <span className="text-ink-faint">–</span>;
  if (Array.isArray(value)) return <span title={value.map(elementText).join(", ")}>{listText(value)}</span>;
  const instant = instantText(name, value);
  if (instant === undefined) return priceText(name, value, digits) ?? String(value);
  return (
    <time dateTime={`${instant.replace(" ", "T")}Z`} title={String(value)}>
      {instant}
    </time>
  );
}

function Head({ name }: { name: string }) {
  return (
    <>
      <code className="font-mono">{name}</code>
      {instantText(name, 0) === undefined ? null : " (UTC)"}
    </>
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

interface RecordsTableProps {
  readonly rows: readonly RecordRow[];
  /** Decimals of the instruments that are known, by ticker. */
  readonly digits: ReadonlyMap<string, number>;
}

/** The records of an answer as rows, with a column per field. */
export function RecordsTable({ rows, digits: known }: RecordsTableProps) {
  const digits = priceDigits(rows, known);
  const [shown, setShown] = useState(STEP_ROWS);
  const names = [...new Set(rows.slice(0, STEP_ROWS).flatMap((row) => Object.keys(row)))].filter(
    (name) => name !== "row" && !LEFT_OUT.has(name),
  );
  const columns = names.map(
    (name): Column<RecordRow> => ({
      head: <Head name={name} />,
      numeric: rows.every((row) => typeof row[name] === "number" || (row[name] ?? null) === null),
      cell: (row) => <Cell name={name} value={row[name]} digits={digits.get(String(row.ticker))} />,
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
