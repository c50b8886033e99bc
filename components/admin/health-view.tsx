"use client";

import Link from "next/link";
import { useState } from "react";
import type { HealthReport } from "#lib/contract/portal-health";
import { durationText } from "#lib/duration";
import { SECOND_MS } from "#lib/units";
import { countText, msText } from "../portal/numbers";
import { polling } from "../portal/polling";
import { usePortal } from "../portal/read";
import { Badge } from "../ui/badge";
import { Figure, Figures, PageHead, Section } from "../ui/card";
import { FailureNotice } from "../ui/failure";
import { Skeleton } from "../ui/skeleton";
import { type Column, Table } from "../ui/table";
import { ratesOf } from "./rates";

const POLL_MS = 5 * SECOND_MS;
const MIB = 1_048_576;
const GIB = 1_024 * MIB;
/** Below this share of free space the disk is shown as a problem. */
const LOW_DISK_SHARE = 0.1;

const rateText = (rate: number | undefined) => (rate === undefined ? "–" : countText(Math.round(rate)));
const sizeText = (bytes: number) =>
  bytes < GIB ? `${countText(Math.round(bytes / MIB))} MiB` : `${(bytes / GIB).toFixed(1)} GiB`;

type Check = readonly [name: string, problem: string | null];

/** The checks of readiness, and the disk. */
function checksOf({ node, storage }: HealthReport): Check[] {
  const { disk_free_bytes: free, disk_bytes: whole } = storage;
  const low = free !== null && whole !== null && free < whole * LOW_DISK_SHARE;
  return [...Object.entries(node.checks), ["disk", low ? `only ${sizeText(free)} free` : null]];
}

function Checks({ checks }: { checks: readonly Check[] }) {
  return (
    <ul className="divide-y divide-line rounded-lg border border-line bg-surface text-sm">
      {checks.map(([name, problem]) => (
        <li key={name} className="flex items-center justify-between gap-4 px-4 py-2.5">
          <span className="[overflow-wrap:anywhere]">
            {name.replaceAll("_", " ")}
            {problem === null ? null : <span className="block text-ink-soft">{problem}</span>}
          </span>
          <Badge tone={problem === null ? "positive" : "danger"}>{problem === null ? "OK" : "Problem"}</Badge>
        </li>
      ))}
    </ul>
  );
}

type Venue = HealthReport["venues"][number];

function venueColumns(ticks: Readonly<Record<string, number>> | undefined): readonly Column<Venue>[] {
  return [
    {
      head: "Venue",
      grow: true,
      cell: ({ venue, provider }) => (
        <>
          <span className="font-medium">{venue}</span>
          <span className="block text-ink-faint text-xs leading-5">{provider ?? "No feed"}</span>
        </>
      ),
    },
    { head: "Ticks/min", numeric: true, cell: ({ venue }) => rateText(ticks?.[venue]) },
    { head: "Lag", numeric: true, cell: ({ lag_ms }) => (lag_ms === null ? "–" : durationText(lag_ms, 1)) },
    { head: "Live", numeric: true, cell: ({ live, tickers }) => `${live} of ${tickers}` },
  ];
}

/** The report of now, and the one before. */
function useReports() {
  const [seen, setSeen] = useState<{ before?: HealthReport; now?: HealthReport }>({});
  const { data, error, mutate } = usePortal<HealthReport>("admin/health", {
    ...polling(POLL_MS),
    onSuccess: (now) => setSeen(({ now: before }) => ({ now, ...(before !== undefined && { before }) })),
  });
  return { report: data, before: seen.now === data ? seen.before : seen.now, error, mutate };
}

/** What operators see first: whether all is well, how busy it is, and how much room is left. */
export function HealthView() {
  const { report, before, error, mutate } = useReports();
  if (report === undefined)
    return (
      <>
        <PageHead title="Health">How this installation is now.</PageHead>
        {error === undefined ? (
          <Skeleton className="h-96 w-full" />
        ) : (
          <FailureNotice failure={error} retry={() => void mutate()} />
        )}
      </>
    );
  const { node, venues, storage } = report;
  const rates = ratesOf(before, report);
  const checks = checksOf(report);
  const wrong = checks.filter(([, problem]) => problem !== null).length;
  const upMs = node.at_ms - node.started_ms;
  return (
    <>
      <PageHead title="Health">
        {wrong === 0 ? "Everything works." : wrong === 1 ? "One check fails." : `${wrong} checks fail.`} This node has run for{" "}
        {durationText(upMs)}. Rates are those of the last {POLL_MS / SECOND_MS} seconds.
      </PageHead>
      <FailureNotice failure={error} retry={() => void mutate()} />
      <Section title="Load">
        <Figures>
          <Figure label="Calls per minute" value={rateText(rates?.calls)} note={`${countText(node.calls)} since the start`} />
          <Figure
            label="Errors per minute"
            value={rateText(rates?.failed)}
            note={`and ${rateText(rates?.rejected)} mistakes of clients`}
          />
          <Figure
            label="Stream connections"
            value={countText(node.connections)}
            note={`${rateText(rates?.messages)} messages per minute`}
          />
          <Figure label="Event loop" value={msText(node.loop_lag_ms)} note="late at the 99th percentile" />
        </Figures>
      </Section>
      <div className="mt-10 grid items-start gap-x-6 gap-y-10 lg:grid-cols-2">
        <Section title="Checks">
          <Checks checks={checks} />
        </Section>
        <div className="min-w-0">
          <Section
            title="Venues"
            aside={
              <Link href="/admin/feeds" className="text-accent underline">
                Feeds
              </Link>
            }
          >
            <Table
              caption="Venues"
              columns={venueColumns(rates?.ticks)}
              rows={venues}
              rowKey={({ venue }) => venue}
              empty={null}
            />
          </Section>
        </div>
      </div>
      <Section title="Room" aside={<code className="font-mono text-[13px]">npm run backup</code>}>
        <Figures>
          <Figure label="Memory" value={sizeText(node.memory_bytes)} note="of the market process" />
          <Figure label="Database" value={sizeText(storage.database_bytes)} />
          <Figure
            label="Free disk"
            value={storage.disk_free_bytes === null ? "–" : sizeText(storage.disk_free_bytes)}
            note={storage.disk_bytes === null ? "DATA_DIR cannot be read" : `of ${sizeText(storage.disk_bytes)}, at DATA_DIR`}
          />
          <Figure label="Messages sent" value={countText(node.messages)} note="on streams since the start" />
        </Figures>
      </Section>
    </>
  );
}
