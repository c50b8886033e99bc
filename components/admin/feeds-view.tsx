"use client";

import type { ReactNode } from "react";
import type { FeedReport } from "#lib/contract/portal";
import { countText, msText } from "../portal/numbers";
import { Instant } from "../portal/time";
import { Badge } from "../ui/badge";
import { Figure, Figures, PageHead, Section } from "../ui/card";
import { FailureNotice } from "../ui/failure";
import { Skeleton } from "../ui/skeleton";
import { type Column, Table } from "../ui/table";
import type { FeedsAnswer, ImportRow } from "./shapes";
import { usePolled } from "./use-polled";

const PAUSE_MS = 2_000;
const NAMES = { live: "Live", sandbox: "Sandbox" } as const;
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** An age with the unit that suits it. */
function ageText(ms: number | null): string {
  if (ms === null || ms < SECOND_MS) return msText(ms);
  if (ms < 2 * MINUTE_MS) return `${(ms / SECOND_MS).toFixed(1)} s`;
  return ms < 2 * HOUR_MS ? `${Math.round(ms / MINUTE_MS)} min` : `${countText(Math.round(ms / HOUR_MS))} h`;
}

/** Ticks a second between two answers of one process; an en dash where they cannot be compared. */
function rateText(venue: FeedReport["venue"], data: FeedsAnswer, before: FeedsAnswer | undefined): string {
  const taken = (answer: FeedsAnswer) => answer.feeds.find((feed) => feed.venue === venue)?.taken ?? 0;
  if (before === undefined || before.process !== data.process || before.at_ms >= data.at_ms) return "–";
  return (((taken(data) - taken(before)) * SECOND_MS) / (data.at_ms - before.at_ms)).toFixed(1);
}

function StateBadge({ provider, problem }: FeedReport) {
  if (provider === null) return <Badge tone="neutral">Nothing bound</Badge>;
  return problem === null ? <Badge tone="positive">Well</Badge> : <Badge tone="danger">Trouble</Badge>;
}

function Feed({ feed, rate }: { feed: FeedReport; rate: string }) {
  const { venue, provider, problem, lag_ms, newest_ticker, tickers, live, stale, missing, taken, refused } = feed;
  const quoted: ReactNode = `${countText(stale)} stale, ${countText(missing)} without a quote`;
  return (
    <Section
      title={NAMES[venue]}
      aside={
        <span className="inline-flex items-center gap-3">
          {provider === null ? null : <code className="font-mono text-xs">{provider}</code>}
          <StateBadge {...feed} />
        </span>
      }
    >
      {problem === null ? null : (
        <p role="alert" className="mb-3 text-danger text-sm [overflow-wrap:anywhere]">
          {problem}
        </p>
      )}
      <Figures>
        <Figure label="Lag of the newest tick" value={ageText(lag_ms)} note={newest_ticker ?? "No tick yet"} />
        <Figure label="Ticks per second" value={rate} note="Over the last two seconds" />
        <Figure label="Tickers with a fresh quote" value={`${countText(live)} of ${countText(tickers)}`} note={quoted} />
        <Figure label="Ticks since the start" value={countText(taken)} note={`${countText(refused)} refused`} />
      </Figures>
    </Section>
  );
}

const IMPORT_COLUMNS: readonly Column<ImportRow>[] = [
  { head: "Ticker", cell: ({ ticker, venue }) => `${ticker} (${venue})` },
  { head: "File", from: "md", cell: ({ file }) => <span className="font-mono text-xs [overflow-wrap:anywhere]">{file}</span> },
  { head: "Rows", numeric: true, cell: ({ rows }) => countText(rows) },
  { head: "Last progress", from: "sm", cell: ({ updated_at }) => <Instant at={updated_at} to="second" /> },
  { head: "State", cell: ({ done }) => <Badge tone={done ? "positive" : "neutral"}>{done ? "Done" : "Not done"}</Badge> },
];

/** How the venues are filled, by the second, and how far imports have come. */
export function FeedsView() {
  const { data, before, failure } = usePolled<FeedsAnswer>("admin/feeds", PAUSE_MS);
  return (
    <>
      <PageHead title="Feeds">As the process sees it that answers; read again every two seconds.</PageHead>
      {failure === undefined ? null : (
        <div className="mb-6">
          <FailureNotice failure={failure} />
        </div>
      )}
      {data === undefined && failure === undefined ? <Skeleton className="h-72 w-full" /> : null}
      {data?.feeds.map((feed) => (
        <Feed key={feed.venue} feed={feed} rate={rateText(feed.venue, data, before)} />
      ))}
      {data === undefined ? null : (
        <Section title="Imports of history">
          <Table
            caption="Imports of history"
            columns={IMPORT_COLUMNS}
            rows={data.imports}
            rowKey={({ id }) => id}
            empty={
              <>
                <p className="font-medium text-ink">Nothing was imported</p>
                <p className="mt-1">
                  <code className="font-mono text-xs">npm run import</code> fills the history of a ticker from files.
                </p>
              </>
            }
          />
        </Section>
      )}
    </>
  );
}
