"use client";

import { type ReactNode, useState } from "react";
import type { FeedReport, FeedsReport, HistoryFill } from "#lib/contract/portal-admin";
import { durationText } from "#lib/duration";
import { SECOND_MS } from "#lib/units";
import { countText } from "../portal/numbers";
import { polling } from "../portal/polling";
import { usePortal } from "../portal/read";
import { Instant } from "../portal/time";
import { Badge } from "../ui/badge";
import { Figure, Figures, PageHead, Section } from "../ui/card";
import { FailureNotice } from "../ui/failure";
import { Skeleton } from "../ui/skeleton";
import { BackfillsView } from "./backfills-view";
import { BindProvider, type ProviderFields } from "./bind-provider";
import { FeedGapsView } from "./feed-gaps-view";
import { HeldBackView } from "./held-back-view";
import { KeptTicksView } from "./kept-ticks-view";
import { NotOffered } from "./not-offered";
import { PrecedenceView } from "./precedence-view";
import { ProviderView } from "./provider-view";

const REFRESH_MS = 2 * SECOND_MS;
const NAMES = { live: "Live", sandbox: "Sandbox" } as const;

/** Ticks per second between two answers of one process; an en dash when they cannot be compared. */
function rateText(venue: FeedReport["venue"], data: FeedsReport, before: FeedsReport | undefined): string {
  const taken = (answer: FeedsReport) => answer.feeds.find((feed) => feed.venue === venue)?.taken ?? 0;
  if (before === undefined || before.process !== data.process || before.at_ms >= data.at_ms) return "–";
  return (((taken(data) - taken(before)) * SECOND_MS) / (data.at_ms - before.at_ms)).toFixed(1);
}

function StateBadge({ provider, problem, newest_ticker, gaps }: FeedReport) {
  if (provider === null) return <Badge tone="neutral">No provider</Badge>;
  if (problem !== null) return <Badge tone="danger">Failing</Badge>;
  if (gaps?.items[0]?.ends_at === null) return <Badge tone="warning">Silent</Badge>;
  return newest_ticker === null ? <Badge tone="neutral">Waiting</Badge> : <Badge tone="positive">Connected</Badge>;
}

/** Reasons of rejected ticks that are named. */
const REASONS_SHOWN_COUNT = 3;

/** How much stored or computed history is in memory. */
function History({ history: { restored, tickers, started_at, ended_at } }: { history: HistoryFill }) {
  const took = ended_at === null ? null : Date.parse(ended_at) - Date.parse(started_at);
  return (
    <p className="mt-2 text-ink-faint text-xs leading-5">
      {took === null ? "Loading history since " : "History loaded "}
      <Instant at={started_at} to="second" />
      {took === null ? " · " : ` in ${durationText(took)} · `}
      {countText(restored)} of {countText(tickers)} {tickers === 1 ? "ticker has" : "tickers have"} history
    </p>
  );
}

/** How many ticks were rejected, and the most frequent reasons. */
function rejectedText({ refused, reasons }: FeedReport): string {
  const most = Object.entries(reasons)
    .sort(([, a], [, b]) => b - a)
    .slice(0, REASONS_SHOWN_COUNT)
    .map(([reason, count]) => `${reason.replaceAll("_", " ")} ${countText(count)}`);
  return `${countText(refused)} rejected${most.length === 0 ? "" : `: ${most.join(", ")}`}`;
}

function Feed({ feed, rate, onChange }: { feed: FeedReport; rate: string; onChange: () => void }) {
  const { gaps, history } = feed;
  const { venue, provider, problem, lag_ms, newest_ticker, tickers, live, stale, missing, taken } = feed;
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
        <Figure
          label="Age of the newest tick"
          value={lag_ms === null ? "–" : durationText(lag_ms)}
          note={newest_ticker ?? "No tick yet"}
        />
        <Figure label="Ticks per second" value={rate} note="Since the last refresh" />
        <Figure label="Tickers with a fresh quote" value={`${countText(live)} of ${countText(tickers)}`} note={quoted} />
        <Figure label="Ticks since startup" value={countText(taken)} note={rejectedText(feed)} />
      </Figures>
      {feed.precedence === null ? null : (
        <div className="mt-3 overflow-hidden rounded-lg border border-line">
          <PrecedenceView precedence={feed.precedence} onChange={onChange} />
        </div>
      )}
      <NotOffered feed={feed} onChange={onChange} />
      {feed.providers.map((provider) => (
        <div key={provider.name} className="mt-3 overflow-hidden rounded-lg border border-line">
          <ProviderView provider={provider} />
        </div>
      ))}
      {feed.held_back === null ? null : (
        <div className="mt-3 overflow-hidden rounded-lg border border-line">
          <HeldBackView held={feed.held_back} />
          <div className="border-line border-t">
            <KeptTicksView kept={feed.kept} />
          </div>
        </div>
      )}
      {gaps === null ? null : (
        <div className="mt-3 overflow-hidden rounded-lg border border-line">
          <FeedGapsView gaps={gaps} />
        </div>
      )}
      <History history={history} />
    </Section>
  );
}

/** The feeds of the venues, updated each second, and the progress of backfills. */
export function FeedsView({ providers }: { providers: ProviderFields }) {
  const { data, error, mutate } = usePortal<FeedsReport>("admin/feeds", polling(REFRESH_MS));
  const [shown, setShown] = useState({ data, before: data });
  if (shown.data !== data) setShown({ data, before: shown.data });
  return (
    <>
      <PageHead title="Feeds">As seen by the process that serves this page. Refreshes every {durationText(REFRESH_MS)}.</PageHead>
      {error === undefined ? null : (
        <div className="mb-6">
          <FailureNotice failure={error} />
        </div>
      )}
      {data === undefined && error === undefined ? <Skeleton className="h-72 w-full" /> : null}
      {data?.feeds.some(({ venue, provider }) => venue === "live" && provider === null) ? (
        <BindProvider providers={providers} />
      ) : null}
      {data?.feeds.map((feed) => (
        <Feed key={feed.venue} feed={feed} rate={rateText(feed.venue, data, shown.before)} onChange={() => void mutate()} />
      ))}
      {data === undefined ? null : <BackfillsView backfills={data.backfills} onChange={() => mutate()} />}
    </>
  );
}
