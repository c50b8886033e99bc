"use client";

import Link from "next/link";
import type { DataTicker } from "#lib/contract/portal-data";
import { countText, sizeText } from "../../portal/numbers";
import { Instant } from "../../portal/time";
import { Figure, Figures, PageHead } from "../../ui/card";
import { type Column, Table } from "../../ui/table";
import { useAllPages } from "./all-pages";
import { ImportFiles } from "./import-files";

const COLUMNS: readonly Column<DataTicker>[] = [
  {
    head: "Instrument",
    cell: ({ ticker }) => (
      <Link href={`/admin/data/${ticker}`} className="font-medium text-accent hover:underline">
        {ticker}
      </Link>
    ),
  },
  { head: "M1 klines", numeric: true, cell: ({ rows }) => countText(rows) },
  { head: "Years", numeric: true, from: "sm", cell: ({ years }) => countText(years) },
  { head: "Size", numeric: true, from: "md", cell: ({ bytes }) => sizeText(bytes) },
  { head: "Ticks", numeric: true, from: "md", cell: ({ tick_bytes }) => sizeText(tick_bytes) },
  { head: "First minute", numeric: true, from: "sm", cell: ({ first_at }) => <Instant at={first_at} /> },
  { head: "Last minute", numeric: true, cell: ({ last_at }) => <Instant at={last_at} /> },
];

/** All instruments of the live venue, those with history first. */
export function DataOverview() {
  const { items, failure, reload, complete } = useAllPages<DataTicker>("admin/data", "");
  const counted = complete || failure !== undefined;
  const sizeOf = (bytes: (row: DataTicker) => number) =>
    counted ? sizeText(items?.reduce((sum, row) => sum + bytes(row), 0) ?? 0) : "–";
  const rows = items?.toSorted((a, b) => Number(b.rows > 0) - Number(a.rows > 0));
  return (
    <>
      <PageHead title="Stored data">
        Stored history of the live venue. Open an instrument for its gaps, suspicious places and sources.
      </PageHead>
      <Figures>
        <Figure
          label="Instruments with history"
          value={counted ? countText(items?.filter(({ rows }) => rows > 0).length ?? 0) : "–"}
        />
        <Figure label="Klines" value={sizeOf(({ bytes }) => bytes)} />
        <Figure label="Ticks" value={sizeOf(({ tick_bytes }) => tick_bytes)} />
        <Figure label="Ticks of the last 30 days" value={sizeOf(({ tick_month_bytes }) => tick_month_bytes)} />
      </Figures>
      <div className="mt-10" />
      <ImportFiles onImported={reload} />
      <div className="mt-10" />
      <Table
        caption="Stored history"
        columns={COLUMNS}
        rows={rows}
        rowKey={({ ticker }) => ticker}
        empty="No instruments yet. Add one with npm run instruments."
        failure={failure}
        retry={reload}
        expected={12}
      />
    </>
  );
}
