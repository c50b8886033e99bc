"use client";

import Link from "next/link";
import { type ReactNode, useState } from "react";
import type { DataHead, DataYear } from "#lib/contract/portal-data";
import { TIMEFRAMES } from "#lib/contract/primitives";
import { countText, shareText, sizeText } from "../../portal/numbers";
import { usePortal, useReadAgain } from "../../portal/read";
import { Instant } from "../../portal/time";
import { Figure, Figures, PageHead, Section } from "../../ui/card";
import { FailureNotice } from "../../ui/failure";
import { Skeleton } from "../../ui/skeleton";
import { AddressTabs, type Tab } from "../../ui/tabs";
import { useAllPages } from "./all-pages";
import { Comparison } from "./comparison";
import { Coverage } from "./coverage";
import { Gaps } from "./gaps";
import { LongerImports } from "./longer";
import { Minutes } from "./minutes";
import { Suspects } from "./suspects";
import { YearLayers, YearPast } from "./year-history";

/** The sum of a number of all years. */
const sumOf = (years: readonly DataYear[], number: (year: DataYear) => number) =>
  years.reduce((sum, year) => sum + number(year), 0);

function Summary({ head, years, complete }: { head: DataHead; years: readonly DataYear[]; complete: boolean }) {
  const soFar = complete ? undefined : "Of the years read so far";
  const gap = sumOf(years, ({ minutes }) => minutes?.gap ?? 0);
  const open = gap + sumOf(years, ({ rows, minutes }) => rows - (minutes?.in_closed_hours ?? 0));
  return (
    <Figures>
      <Figure
        label="M1 klines"
        value={countText(sumOf(years, ({ rows }) => rows))}
        note={soFar ?? `${sizeText(head.bytes)}, ticks ${sizeText(head.tick_bytes)}`}
      />
      <Figure
        label="First minute"
        value={<Instant at={head.first_at} to="day" />}
        note={<Instant at={head.first_at} to="clock" />}
      />
      <Figure
        label="Last minute"
        value={<Instant at={head.last_at} to="day" />}
        note={<Instant at={head.last_at} to="clock" />}
      />
      <Figure
        label="Open minutes missing"
        value={head.calendar === null ? "–" : shareText(gap, open)}
        note={head.calendar === null ? "Without a calendar" : `By the calendar ${head.calendar}`}
      />
    </Figures>
  );
}

function Timeframes({ years }: { years: readonly DataYear[] }) {
  return (
    <Section title="Klines by timeframe">
      <dl className="grid grid-cols-3 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-5 lg:grid-cols-9">
        {TIMEFRAMES.map((timeframe) => (
          <div key={timeframe} className="bg-surface px-3 py-2">
            <dt className="text-ink-faint text-xs leading-5">{timeframe}</dt>
            <dd className="font-mono text-[13px] tabular-nums">
              {countText(sumOf(years, ({ timeframes }) => timeframes[timeframe]))}
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

const link = (href: string, text: string) => (
  <Link href={href} className="text-accent underline">
    {text}
  </Link>
);

const NOTHING: ReactNode = (
  <p className="rounded-lg border border-line border-dashed p-6 text-ink-soft text-sm leading-6">
    No M1 klines are stored yet. {link("/admin/data", "Import files")}, or {link("/admin/feeds", "bind a provider")}.
  </p>
);

/** The stored history of an instrument: what there is, what it is made of, its minutes, and what showed before. */
export function TickerView({ ticker }: { ticker: string }) {
  const { data: head, error } = usePortal<DataHead>(`admin/data/${ticker}`);
  const { items: years, failure, reload, complete } = useAllPages<DataYear>(`admin/data/${ticker}/years`, "");
  const [year, setYear] = useState<number>();
  const problem = error ?? failure;
  const readAgain = useReadAgain(`admin/data/${ticker}`);
  const retry = () => {
    readAgain();
    reload();
  };
  const tabsOf = (known: DataHead): [Tab, ...Tab[]] => {
    const { digits, imports, longer, first_at } = known;
    const of = { head: known, chosen: year, choose: setYear };
    const coverage = (
      <>
        <Coverage years={years} complete={complete} />
        <Gaps ticker={ticker} years={years} complete={complete} />
        <Suspects ticker={ticker} digits={digits} years={years} />
        {years === undefined ? null : <Timeframes years={years} />}
      </>
    );
    const layers = (
      <>
        {/* In one place, with klines and without: the button that undoes the last import keeps the focus. */}
        <YearLayers {...of} onChange={retry} />
        {first_at === null ? null : <Comparison ticker={ticker} imports={imports} />}
        <LongerImports imports={longer} />
      </>
    );
    const minutes = first_at === null ? null : { ticker, digits, newest: known.last_at ?? first_at };
    return [
      { value: "coverage", label: "Coverage", content: first_at === null ? NOTHING : coverage },
      { value: "layers", label: "Layers", content: layers },
      { value: "correct", label: "Correct", content: minutes === null ? NOTHING : <Minutes {...minutes} onChange={retry} /> },
      { value: "as-of", label: "As of", content: <YearPast {...of} /> },
    ];
  };
  return (
    <>
      <PageHead
        title={ticker}
        action={
          <Link href="/admin/data" className="text-accent text-sm hover:underline">
            All instruments
          </Link>
        }
      >
        Stored history of the live venue. Years, months and days are UTC.
      </PageHead>
      {problem === undefined ? null : <FailureNotice failure={problem} retry={retry} />}
      {head === undefined && problem === undefined ? <Skeleton className="h-24 w-full" /> : null}
      {head === undefined ? null : (
        <>
          {head.first_at === null ? null : <Summary head={head} years={years ?? []} complete={complete} />}
          <div className="mt-8">
            <AddressTabs label={`Data of ${ticker}`} tabs={tabsOf(head)} />
          </div>
        </>
      )}
    </>
  );
}
