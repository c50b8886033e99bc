"use client";

import { useState } from "react";
import { type DataComparison, type DataImport, FEED_SOURCE } from "#lib/contract/portal-data";
import { timeText } from "../../portal/date-format";
import { countText, shareText } from "../../portal/numbers";
import { Instant } from "../../portal/time";
import { Button } from "../../ui/button";
import { Section } from "../../ui/card";
import { Field } from "../../ui/field";
import { Select } from "../../ui/select";
import { type Column, Table } from "../../ui/table";
import { useAllPages } from "./all-pages";
import { fileName } from "./file-name";

const monthText = (month: number) => timeText(Date.UTC(2024, month - 1), "month", "UTC");

const COLUMNS: readonly Column<DataComparison>[] = [
  {
    head: "Year",
    cell: ({ year, shift }) => (
      <>
        <span className="font-mono text-[13px] tabular-nums">{year}</span>
        {shift === null ? null : (
          <span className="block min-w-40 text-warning text-xs leading-5">
            The second one agrees when moved {shift.hours > 0 ? "forward" : "back"} by {Math.abs(shift.hours)} h in{" "}
            {shift.months.map(monthText).join(", ")}: one of the two has the wrong clock.
          </span>
        )}
      </>
    ),
  },
  { head: "Common minutes", numeric: true, from: "sm", cell: ({ common }) => countText(common) },
  { head: "Equal", numeric: true, cell: ({ equal, common }) => shareText(equal, common) },
  { head: "Median, pips", numeric: true, cell: ({ median_pips }) => median_pips.toFixed(2) },
  {
    head: "Largest, pips",
    numeric: true,
    cell: ({ max_pips, max_at }) => (
      <>
        {max_pips.toFixed(1)}
        <span className="block text-ink-faint text-xs leading-5">
          <Instant at={max_at} />
        </span>
      </>
    ),
  },
];

function Result({ ticker, a, b }: { ticker: string; a: string; b: string }) {
  const { items, failure, reload, complete } = useAllPages<DataComparison>(`admin/data/${ticker}/comparison`, `?a=${a}&b=${b}`);
  return (
    <div className="mt-4">
      <Table
        caption="Comparison"
        columns={COLUMNS}
        rows={items?.length === 0 && !complete ? undefined : items}
        rowKey={({ year }) => String(year)}
        empty="These sources have no minute in common, or the klines that one of them overwrote are no longer kept."
        failure={failure}
        retry={reload}
      />
      <p className="mt-2 text-ink-faint text-xs leading-5">
        {complete || failure !== undefined ? null : "Earlier years are being read… "}
        Differences are those of the closes.
      </p>
    </div>
  );
}

interface ComparisonProps {
  readonly ticker: string;
  readonly imports: readonly DataImport[];
}

/** How two sources differ in the minutes that both have. */
export function Comparison({ ticker, imports }: ComparisonProps) {
  const options = [
    ...imports
      .filter(({ undone_at }) => undone_at === null)
      .map(({ number, file }) => ({ value: String(number), label: `Import ${number} · ${fileName(file)}` })),
    { value: FEED_SOURCE, label: "Feed, or an early release" },
  ];
  const [chosen, setChosen] = useState<{ readonly a?: string; readonly b?: string }>({});
  const [asked, setAsked] = useState<{ readonly a: string; readonly b: string }>();
  const [first, second] = options;
  if (first === undefined || second === undefined) return null;
  const { a = second.value, b = first.value } = chosen;
  return (
    <Section title="Compare two sources">
      <div className="flex flex-wrap items-end gap-3 *:min-w-0 max-sm:*:w-full">
        <div className="flex-1">
          <Field label="First">
            {(ids) => <Select {...ids} options={options} value={a} onChange={(value) => setChosen({ a: value, b })} />}
          </Field>
        </div>
        <div className="flex-1">
          <Field label="Second">
            {(ids) => <Select {...ids} options={options} value={b} onChange={(value) => setChosen({ a, b: value })} />}
          </Field>
        </div>
        <Button disabled={a === b} onClick={() => setAsked({ a, b })}>
          Compare
        </Button>
      </div>
      {asked === undefined ? null : <Result key={`${asked.a} ${asked.b}`} ticker={ticker} {...asked} />}
    </Section>
  );
}
