"use client";

import Link from "next/link";
import { useState } from "react";
import { type CoverageReport, type CoverageRow, coveragePath } from "#lib/contract/coverage";
import { searchInstruments } from "#lib/instrument-search";
import { byGroup } from "../markets/groups";
import { compactText, countText } from "../portal/numbers";
import { Instant } from "../portal/time";
import { CONTROL } from "../ui/field";
import { InstrumentMark } from "../ui/instrument-mark";
import { type ColumnSorting, SORT_HEAD, SortHead } from "../ui/sort-head";
import { coveredShare, coveredText } from "./share";
import { YearBars } from "./year-bars";

type SortKey = "ticker" | "since" | "complete" | "rows" | "changed";

/** The columns and from which width they are shown; head and rows share them. */
const COLUMNS = {
  name: "pr-2 pl-4 text-left",
  since: "w-28 px-2 text-right max-sm:hidden",
  years: "w-[30%] px-2 text-left max-md:hidden",
  complete: "w-26 px-2 pr-4 text-right",
  rows: "w-24 px-2 text-right max-lg:hidden",
  changed: "w-40 px-2 pr-4 text-right max-lg:hidden",
} as const;

function sortValue(row: CoverageRow, key: SortKey): string | number | null {
  switch (key) {
    case "ticker":
      return row.ticker;
    case "since":
      return row.first_at;
    case "complete":
      return coveredShare(row);
    case "rows":
      return row.rows;
    case "changed":
      return row.changed_at;
  }
}

/** The rows in order; those without a value are last, either way. */
function sorted(rows: readonly CoverageRow[], { key, descending }: ColumnSorting<SortKey>): CoverageRow[] {
  if (key === "none") return [...rows];
  const way = descending ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [left, right] = [sortValue(a, key), sortValue(b, key)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return left < right ? -way : left > right ? way : 0;
  });
}

interface RowProps {
  readonly row: CoverageRow;
  readonly href: string;
  readonly first: number;
  readonly last: number;
}

/** What a row says of its bars. */
function yearsText({ years, first_at }: CoverageRow): string {
  const lacking = years
    .filter((year) => (coveredShare(year) ?? 1) < 1)
    .map((year) => `${year.year} ${coveredText(coveredShare(year))}`);
  if (first_at === null) return "nothing is stored";
  return lacking.length === 0 ? "no year with missing minutes is known" : `with missing minutes: ${lacking.join(", ")}`;
}

function Row({ row, href, first, last }: RowProps) {
  const { ticker, name, base_currency, quote_currency, first_at, rows, changed_at, years } = row;
  return (
    <tr className="relative h-13 border-line border-t hover:bg-sunken/60">
      <th scope="row" className={`${COLUMNS.name} font-normal`}>
        <Link prefetch={false} href={href} className="flex items-center gap-3 after:absolute after:inset-0">
          <InstrumentMark base={base_currency} quote={quote_currency} />
          <span className="min-w-0">
            <span className="block font-medium font-mono text-sm leading-5">{ticker}</span>
            <span className="block truncate text-ink-faint text-xs leading-4">
              <span className="max-sm:hidden">{name}</span>
              <span className="sm:hidden">
                {first_at === null ? (
                  "Nothing is stored"
                ) : (
                  <>
                    since <Instant at={first_at} to="day" />
                  </>
                )}
              </span>
            </span>
          </span>
        </Link>
      </th>
      <td className={`${COLUMNS.since} font-mono text-[13px]`}>
        <Instant at={first_at} to="day" />
      </td>
      <td className={COLUMNS.years} title={yearsText(row)}>
        <span className="sr-only">{yearsText(row)}</span>
        <YearBars years={years} first={first} last={last} />
      </td>
      <td className={`${COLUMNS.complete} font-mono text-[13px] tabular-nums`}>{coveredText(coveredShare(row))}</td>
      <td className={`${COLUMNS.rows} font-mono text-[13px] tabular-nums`} title={countText(rows)}>
        {compactText(rows)}
      </td>
      <td className={COLUMNS.changed}>
        <Instant at={changed_at} />
      </td>
    </tr>
  );
}

/** All instruments of a venue with a bar for each year, searched and sorted here. */
export function CoverageList({ venue, items }: Pick<CoverageReport, "venue" | "items">) {
  const [text, setText] = useState("");
  const [sorting, setSorting] = useState<ColumnSorting<SortKey>>({ key: "none", descending: false });
  // In the order of the markets, those with history first.
  const ordered = byGroup(items).toSorted((a, b) => Number(b.rows > 0) - Number(a.rows > 0));
  const shown = sorted(searchInstruments(ordered, text), sorting);
  const years = items.flatMap((row) => row.years.map(({ year }) => year));
  const [first, last] = [Math.min(...years), Math.max(...years)];
  const head = { sorting, onSort: setSorting };
  return (
    <>
      <input
        type="search"
        value={text}
        onChange={(event) => setText(event.target.value)}
        aria-label="Search instruments"
        placeholder="Search: gold, yen, EURUSD"
        className={`${CONTROL} mb-4 sm:max-w-64`}
      />
      <div className="overflow-hidden rounded-xl border border-line bg-surface">
        <table className="w-full table-fixed text-sm">
          <caption className="sr-only">Stored M1 klines of each instrument</caption>
          <thead>
            <tr className="bg-sunken/60">
              <SortHead leads column="ticker" className={COLUMNS.name} {...head}>
                Instrument
              </SortHead>
              <SortHead column="since" className={COLUMNS.since} {...head}>
                Since
              </SortHead>
              <th scope="col" className={`${SORT_HEAD} ${COLUMNS.years}`}>
                {years.length === 0 ? (
                  "Years"
                ) : (
                  <span className="flex justify-between font-mono tabular-nums">
                    <span>{first}</span>
                    <span className="sr-only">to</span>
                    <span>{first === last ? null : last}</span>
                  </span>
                )}
              </th>
              <SortHead column="complete" className={COLUMNS.complete} {...head}>
                Complete
              </SortHead>
              <SortHead column="rows" className={COLUMNS.rows} {...head}>
                M1 klines
              </SortHead>
              <SortHead column="changed" className={COLUMNS.changed} {...head}>
                Last change
              </SortHead>
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <Row key={row.ticker} row={row} first={first} last={last} href={coveragePath(venue, row.ticker)} />
            ))}
          </tbody>
        </table>
        {shown.length === 0 ? (
          <p role="status" className="border-line border-t p-6 text-ink-soft text-sm leading-6">
            {text === "" ? "This venue has no instruments that you may read." : `No instrument matches “${text}”.`}
          </p>
        ) : null}
      </div>
    </>
  );
}
