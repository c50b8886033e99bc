"use client";

import Link from "next/link";
import { useState } from "react";
import {
  DATA_FROZEN_MIN_MINUTES,
  DATA_JUMP_LASTING_COUNT,
  DATA_SPIKE_MIN_RATIO,
  type DataSuspects,
  type DataYear,
} from "#lib/contract/portal-data";
import { type SuspiciousPlace, suspiciousPlaces } from "#lib/data-words";
import { HOUR_S, SECOND_MS } from "#lib/units";
import { usePortal } from "../../portal/read";
import { Instant } from "../../portal/time";
import { Section } from "../../ui/card";
import { Select } from "../../ui/select";
import { type Column, Table } from "../../ui/table";

/** The call for the klines around a place, in the playground. */
function callAround(ticker: string, { at, to }: SuspiciousPlace): string {
  const query = new URLSearchParams({
    op: "klines",
    ticker,
    timeframe: "M1",
    from: String(Date.parse(at) / SECOND_MS - HOUR_S),
    to: String(Date.parse(to) / SECOND_MS + HOUR_S),
  });
  return `/playground?${query}`;
}

const columnsOf = (ticker: string): readonly Column<SuspiciousPlace>[] => [
  {
    head: "Place",
    cell: ({ kind, at, to }) => (
      <>
        <span className="block font-medium">{kind}</span>
        <Instant at={at} />
        {at === to ? null : (
          <span className="block whitespace-nowrap">
            <span className="text-ink-faint text-xs">to </span>
            <Instant at={to} />
          </span>
        )}
      </>
    ),
  },
  {
    head: "Values",
    grow: true,
    cell: ({ values, why }) => (
      <>
        <span className="font-mono text-[13px] tabular-nums">{values}</span>
        <span className="block text-ink-faint text-xs leading-5">{why}</span>
      </>
    ),
  },
  {
    head: "Klines",
    cell: (place) => (
      <Link href={callAround(ticker, place)} className="whitespace-nowrap text-accent hover:underline" prefetch={false}>
        Open
        <span className="sr-only">
          {" "}
          klines around <Instant at={place.at} />
        </span>
      </Link>
    ),
  },
];

interface SuspectsProps {
  readonly ticker: string;
  readonly digits: number;
  /** Undefined until they are read. */
  readonly years: readonly DataYear[] | undefined;
}

function Places({ ticker, digits, year }: Omit<SuspectsProps, "years"> & { readonly year: DataYear | undefined }) {
  const { data, error, mutate } = usePortal<DataSuspects>(
    year === undefined ? null : `admin/data/${ticker}/suspects?year=${year.year}`,
  );
  return (
    <Table
      caption="Suspicious places"
      columns={columnsOf(ticker)}
      rows={data === undefined || year === undefined ? undefined : suspiciousPlaces(data, year, digits)}
      rowKey={({ kind, at }) => `${kind} ${at}`}
      empty={`Nothing suspicious in ${year?.year}.`}
      failure={error}
      retry={() => void mutate()}
    />
  );
}

/** Spikes, level jumps, frozen prices and klines in closed hours of a year. */
export function Suspects({ ticker, digits, years }: SuspectsProps) {
  const [chosen, setChosen] = useState<string>();
  // A history with a hole has years without klines.
  const filled = years?.filter(({ rows }) => rows > 0);
  const year = filled?.find(({ year }) => String(year) === chosen) ?? filled?.[0];
  if (filled?.length === 0) return null;
  const options = (filled ?? []).map(({ year }) => ({ value: String(year), label: String(year) }));
  return (
    <Section
      title="Suspicious places"
      aside={<Select aria-label="Year" options={options} value={String(year?.year ?? "")} onChange={setChosen} />}
    >
      <Places key={year?.year} ticker={ticker} digits={digits} year={year} />
      <p className="mt-2 text-ink-faint text-xs leading-5">
        A spike goes beyond both its neighbors by {DATA_SPIKE_MIN_RATIO} times the mean range of its day or more. A level jumps
        where a kline opens as far from the close before, and the {DATA_JUMP_LASTING_COUNT} klines after it stay there. Prices are
        frozen from {DATA_FROZEN_MIN_MINUTES} equal minutes in a row. The worst of each kind are listed. They can be true: look at
        the klines, and at another source, before you correct a minute or undo an import.
      </p>
    </Section>
  );
}
