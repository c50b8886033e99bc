"use client";

import Link from "next/link";
import { type ReactNode, useState } from "react";
import { type CoverageReport, type CoverageRow, coveragePath } from "#lib/contract/coverage";
import { searchInstruments } from "#lib/instrument-search";
import { byGroup } from "../markets/groups";
import { compactText, countText } from "../portal/numbers";
import { Instant, UtcDay } from "../portal/time";
import { CONTROL } from "../ui/field";
import { InstrumentMark } from "../ui/instrument-mark";
import { type ColumnSorting, SORT_HEAD, SortHead } from "../ui/sort-head";
import { type Alike, foldAlike } from "./alike";
import { coveredShare, coveredText } from "./share";
import { YearBars } from "./year-bars";

type SortKey = "ticker" | "since" | "complete" | "rows" | "changed";

/** The columns and from which width they are shown; head and rows share them. On a phone the years are a line of their own. */
const COLUMNS = {
  name: "min-w-0 pr-2 pl-4 text-left",
  since: "w-28 px-2 text-right max-sm:hidden",
  years: "px-2 text-left max-md:order-last max-md:col-span-full max-md:px-4 max-md:pb-3 md:w-[30%]",
  complete: "w-26 px-2 pr-4 text-right",
  rows: "w-24 px-2 text-right max-lg:hidden",
  changed: "w-40 px-2 pr-4 text-right max-lg:hidden",
} as const;
const LINE = "max-md:grid max-md:grid-cols-[minmax(0,1fr)_auto_auto] max-md:items-center";
/** Columns that are shown in every width that has a table. */
const SPANNED_COUNT = 4;

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

/** What a row says of its bars. */
function yearsText({ years, first_at }: CoverageRow): string {
  const lacking = years
    .filter((year) => (coveredShare(year) ?? 1) < 1)
    .map((year) => `${year.year} ${coveredText(coveredShare(year))}`);
  if (first_at === null) return "nothing is stored";
  return lacking.length === 0 ? "no year with missing minutes is known" : `with missing minutes: ${lacking.join(", ")}`;
}

interface HistoryProps {
  readonly row: CoverageRow;
  /** The years of the axis, both included. */
  readonly axis: readonly [first: number, last: number];
  /** Its instruments, where it stands for those that are alike. */
  readonly alike?: readonly CoverageRow[] | undefined;
  /** The name of the row. */
  readonly children: ReactNode;
}

/** How many klines there are: of one instrument, of each of several, or of them all where they differ. */
function Klines({ rows }: { rows: readonly CoverageRow[] }) {
  const sum = rows.reduce((total, { rows: count }) => total + count, 0);
  const texts = new Set(rows.map(({ rows: count }) => compactText(count)));
  const [text = ""] = texts.size === 1 ? texts : [compactText(sum)];
  return (
    <>
      <span title={countText(sum)}>{text}</span>
      {rows.length === 1 || sum === 0 ? null : (
        <span className="block font-sans text-ink-faint text-xs leading-4">{texts.size === 1 ? "each" : "in all"}</span>
      )}
    </>
  );
}

/** A row of the table: what is stored of an instrument, or of each of several that are alike. */
function HistoryRow({ row, axis: [first, last], alike = [row], children }: HistoryProps) {
  const { first_at, years } = row;
  const changed = alike.flatMap(({ changed_at }) => changed_at ?? []);
  return (
    <tr className={`relative border-line border-t hover:bg-sunken/60 md:h-13 ${LINE}`}>
      <th scope="row" className={`${COLUMNS.name} font-normal max-md:py-2.5`}>
        {children}
      </th>
      <td className={`${COLUMNS.since} font-mono text-[13px]`}>
        <UtcDay at={first_at} />
      </td>
      <td className={`${COLUMNS.years} ${years.length === 0 ? "max-md:hidden" : ""}`} title={yearsText(row)}>
        <span className="sr-only">{yearsText(row)}</span>
        <span className="flex items-center gap-3 font-mono text-ink-faint text-xs tabular-nums">
          <span aria-hidden="true" className="md:hidden">
            {first}
          </span>
          <YearBars years={years} first={first} last={last} />
          <span aria-hidden="true" className="md:hidden">
            {first === last ? null : last}
          </span>
        </span>
      </td>
      <td className={`${COLUMNS.complete} font-mono text-[13px] tabular-nums`}>{coveredText(coveredShare(row))}</td>
      <td className={`${COLUMNS.rows} font-mono text-[13px] tabular-nums`}>
        <Klines rows={alike} />
      </td>
      <td className={COLUMNS.changed}>
        <Instant at={changed.toSorted().at(-1) ?? null} />
      </td>
    </tr>
  );
}

/** Since when, where there is no column for it. */
const Since = ({ at }: { at: string | null }) =>
  at === null ? (
    "Nothing is stored"
  ) : (
    <>
      since <UtcDay at={at} />
    </>
  );

interface InstrumentRowProps extends Pick<HistoryProps, "row" | "axis"> {
  readonly href: string;
}

/** The row of an instrument, which leads to its page. */
function InstrumentRow({ row, axis, href }: InstrumentRowProps) {
  return (
    <HistoryRow row={row} axis={axis}>
      <Link prefetch={false} href={href} className="flex items-center gap-3 after:absolute after:inset-0">
        <InstrumentMark base={row.base_currency} quote={row.quote_currency} />
        <span className="min-w-0">
          <span className="block font-medium font-mono text-sm leading-5">{row.ticker}</span>
          <span className="block truncate text-ink-faint text-xs leading-4">
            <span className="max-sm:hidden">{row.name}</span>
            <span className="sm:hidden">
              <Since at={row.first_at} />
            </span>
          </span>
        </span>
      </Link>
    </HistoryRow>
  );
}

interface AlikeRowsProps extends Alike {
  readonly axis: HistoryProps["axis"];
  readonly hrefOf: (row: CoverageRow) => string;
}

/** A row for instruments that are alike: it lists their tickers, and once it is open the row of each. */
function AlikeRows({ like, rows, axis, hrefOf }: AlikeRowsProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <HistoryRow row={like} axis={axis} alike={rows}>
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="flex items-center gap-3 text-left after:absolute after:inset-0"
        >
          <span aria-hidden="true" className={`w-8.5 shrink-0 text-center text-ink-faint ${open ? "rotate-90" : ""}`}>
            ▸
          </span>
          <span>
            <span className="block font-medium text-sm leading-5">{rows.length} instruments</span>
            <span className="block text-ink-faint text-xs leading-4">
              <span className={like.first_at === null ? "" : "sm:hidden"}>
                <Since at={like.first_at} />
              </span>
              {like.first_at === null ? null : <span className="max-sm:hidden">All complete</span>}
            </span>
          </span>
        </button>
      </HistoryRow>
      {open ? (
        rows.map((row) => <InstrumentRow key={row.ticker} row={row} axis={axis} href={hrefOf(row)} />)
      ) : (
        <tr className={LINE}>
          <td colSpan={SPANNED_COUNT} className="px-4 pb-3 max-md:col-span-full sm:pl-15.5">
            <ul className="flex flex-wrap gap-x-3 font-mono text-ink-soft text-xs leading-6 pointer-coarse:leading-8">
              {rows.map((row) => (
                <li key={row.ticker}>
                  <Link prefetch={false} href={hrefOf(row)} className="block hover:text-ink hover:underline">
                    {row.ticker}
                  </Link>
                </li>
              ))}
            </ul>
          </td>
        </tr>
      )}
    </>
  );
}

/** All instruments of a venue with a bar for each year, searched and sorted here. Until then, those that are alike stand in one row that opens. */
export function CoverageList({ venue, items }: Pick<CoverageReport, "venue" | "items">) {
  const [text, setText] = useState("");
  const [sorting, setSorting] = useState<ColumnSorting<SortKey>>({ key: "none", descending: false });
  // In the order of the markets, those with history first.
  const ordered = byGroup(items).toSorted((a, b) => Number(b.rows > 0) - Number(a.rows > 0));
  const found = sorted(searchInstruments(ordered, text), sorting);
  const shown = text === "" && sorting.key === "none" ? foldAlike(found) : found;
  const years = items.flatMap((row) => row.years.map(({ year }) => year));
  const axis = [Math.min(...years), Math.max(...years)] as const;
  const [first, last] = axis;
  const hrefOf = ({ ticker }: CoverageRow) => coveragePath(venue, ticker);
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
        <table className="w-full table-fixed text-sm max-md:block">
          <caption className="sr-only">Stored M1 klines of each instrument</caption>
          <thead className="max-md:block">
            <tr className={`bg-sunken/60 ${LINE}`}>
              <SortHead leads column="ticker" className={COLUMNS.name} {...head}>
                Instrument
              </SortHead>
              <SortHead column="since" className={COLUMNS.since} {...head}>
                Since
              </SortHead>
              <th scope="col" className={`${SORT_HEAD} ${COLUMNS.years} max-md:hidden`}>
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
          <tbody className="max-md:block">
            {shown.map((one) =>
              "like" in one ? (
                <AlikeRows key={`${one.like.ticker} and others`} {...one} axis={axis} hrefOf={hrefOf} />
              ) : (
                <InstrumentRow key={one.ticker} row={one} axis={axis} href={hrefOf(one)} />
              ),
            )}
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
