"use client";

import Link from "next/link";
import { useState } from "react";
import type { DataPast } from "#lib/contract/portal-data";
import { SECOND_MS } from "#lib/units";
import { CoverageStrip } from "../../coverage/coverage-strip";
import { countText } from "../../portal/numbers";
import { usePortal } from "../../portal/read";
import { Instant } from "../../portal/time";
import { Button } from "../../ui/button";
import { Figure, Figures } from "../../ui/card";
import { FailureNotice } from "../../ui/failure";
import { InstantField } from "../../ui/instant-field";
import { Skeleton } from "../../ui/skeleton";
import { type Column, Table } from "../../ui/table";

type PastMonth = DataPast["months"][number];

const columnsOf = (digits: number): readonly Column<PastMonth>[] => [
  { head: "Month", cell: ({ month }) => <span className="font-mono text-[13px] tabular-nums">{month}</span> },
  { head: "M1 klines", numeric: true, cell: ({ rows }) => countText(rows) },
  { head: "Open", numeric: true, from: "sm", cell: ({ open }) => open.toFixed(digits) },
  { head: "High", numeric: true, from: "sm", cell: ({ high }) => high.toFixed(digits) },
  { head: "Low", numeric: true, from: "sm", cell: ({ low }) => low.toFixed(digits) },
  { head: "Close", numeric: true, cell: ({ close }) => close.toFixed(digits) },
];

interface PastProps {
  readonly ticker: string;
  readonly digits: number;
  readonly year: number;
}

function Result({ ticker, digits, year, at }: PastProps & { readonly at: string }) {
  const { data, error, mutate } = usePortal<DataPast>(`admin/data/${ticker}/past?year=${year}&as_of=${encodeURIComponent(at)}`);
  if (error !== undefined) return <FailureNotice failure={error} retry={() => void mutate()} />;
  if (data === undefined) return <Skeleton className="h-40 w-full" />;
  const { coverage, months, since } = data;
  const query = new URLSearchParams({ op: "klines", ticker, timeframe: "D1", as_of: String(Date.parse(at) / SECOND_MS) });
  return (
    <div className="space-y-4">
      <Figures>
        <Figure
          label={`M1 klines of ${year} then`}
          value={countText(coverage?.rows ?? 0)}
          note={
            <>
              As of <Instant at={at} to="second" />
            </>
          }
        />
        <Figure label="Added since" value={countText(since.added)} />
        <Figure label="Removed since" value={countText(since.removed)} />
        <Figure label="Other values since" value={countText(since.changed)} />
      </Figures>
      {coverage === null ? null : (
        <div className="rounded-lg border border-line bg-surface p-4">
          <CoverageStrip {...coverage} />
        </div>
      )}
      <Table
        caption={`${year} as of then`}
        columns={columnsOf(digits)}
        rows={months}
        rowKey={({ month }) => month}
        empty={`Nothing of ${year} showed then.`}
      />
      <p className="text-ink-faint text-xs leading-5">
        <Link prefetch={false} href={`/playground?${query}`} className="text-accent underline">
          Days as of then
        </Link>{" "}
        opens them as a call in the playground, which needs a live key.
      </p>
    </div>
  );
}

/** A year as of an instant. */
export function Past(props: PastProps) {
  const [typed, setTyped] = useState("");
  const [asked, setAsked] = useState<string>();
  return (
    <>
      <div className="mb-4 flex flex-wrap items-end gap-3">
        <div className="w-full max-w-60">
          <InstantField label="As of" name="as_of" step={1} onChange={setTyped} />
        </div>
        <Button disabled={typed === ""} onClick={() => setAsked(typed)}>
          Show
        </Button>
      </div>
      {asked === undefined ? (
        <p className="text-ink-faint text-xs leading-5">
          What showed at an instant: without what was imported, pushed, corrected, undone or put back later.
        </p>
      ) : (
        <Result key={`${asked} ${props.year}`} {...props} at={asked} />
      )}
    </>
  );
}
