"use client";

import { type ReactNode, useState } from "react";
import type { FeedReport, FeedsReport, HistoryFill } from "#lib/contract/portal-admin";
import { durationText } from "#lib/duration";
import { SECOND_MS } from "#lib/units";
import { countText } from "../portal/numbers";
import { OperatorDocsLink } from "../portal/operator-docs";
import { polling } from "../portal/polling";
import { usePortal } from "../portal/read";
import { Instant } from "../portal/time";
import { Badge } from "../ui/badge";
import { Figure, Figures, PageHead, Section } from "../ui/card";
import { FailureNotice } from "../ui/failure";
import { Skeleton } from "../ui/skeleton";
import { BackfillsView } from "./backfills-view";
import { BindProvider, type ProviderFields, type ProviderTexts } from "./bind-provider";
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

/** True where keys push the ticks, or some of them. */
const isPushed = ({ provider }: FeedReport) => provider?.includes("push") ?? false;

function StateBadge(feed: FeedReport) {
  const { provider, problem, prices_problem, live, newest_ticker, gaps } = feed;
  if (provider === null) return <Badge tone="neutral">No provider</Badge>;
  if (problem !== null) return <Badge tone="danger">Failing</Badge>;
  if (prices_problem !== null)
    return live === 0 ? <Badge tone="danger">No fresh prices</Badge> : <Badge tone="warning">Some prices late</Badge>;
  if (gaps?.items[0]?.ends_at === null) return <Badge tone="warning">Silent</Badge>;
  if (newest_ticker === null) return <Badge tone="neutral">Waiting</Badge>;
  if (!isPushed(feed)) return <Badge tone="positive">Connected</Badge>;
  // Nothing stays connected that pushes: only its ticks say that it is there.
  return live === 0 ? <Badge tone="neutral">Quiet</Badge> : <Badge tone="positive">Receiving ticks</Badge>;
}

/** Who pushed last, and from where. */
function Pusher({ pusher }: Pick<FeedReport, "pusher">) {
  if (pusher === null) return <p>No key with the scope market:ingest was used yet.</p>;
  const { key, account, at, address, refused } = pusher;
  return (
    <p className="[overflow-wrap:anywhere]">
      {refused ? "Refused, because the key has ended: " : "Last call of a key that may push: "}
      <span className="font-medium">{key}</span> of {account}
      {address === null ? "" : `, from ${address}`}, <Instant at={at} to="second" />.
    </p>
  );
}

/** What is wrong with a feed, who pushed last, and what to do. */
function Trouble({ feed }: { feed: FeedReport }) {
  const { problem, prices_problem, pusher } = feed;
  const problems = [problem, prices_problem].filter((said) => said !== null);
  const pushed = isPushed(feed);
  const [frame, text] =
    problem !== null || feed.live === 0 ? ["border-danger/60", "text-danger"] : ["border-warning/60", "text-warning"];
  if (problems.length === 0)
    return pushed ? (
      <div className="mb-3 text-ink-soft text-sm leading-6">
        <Pusher pusher={pusher} />
      </div>
    ) : null;
  return (
    <div className={`mb-3 rounded-lg border bg-surface p-4 text-sm leading-6 ${frame}`}>
      <div role="alert" className={`[overflow-wrap:anywhere] ${text}`}>
        {problems.map((said) => (
          <p key={said}>{said}</p>
        ))}
      </div>
      {pushed ? <Pusher pusher={pusher} /> : null}
      <p className="mt-2">
        <span className="font-medium">What to do:</span>{" "}
        {pushed ? (
          <>
            {pusher?.refused
              ? "Give the feeder a key that has not ended, and start it again."
              : "Look whether the feeder runs, reaches this service, and logs refusals; then start it again."}{" "}
            <OperatorDocsLink href="/docs/self-hosting#push">How a feeder pushes</OperatorDocsLink>
          </>
        ) : (
          <>
            See below what the provider says of its connection and its instruments.{" "}
            <OperatorDocsLink href="/docs/providers#none-of-them-was-reached">When a provider is not reached</OperatorDocsLink>
          </>
        )}
      </p>
    </div>
  );
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

interface FeedProps {
  readonly feed: FeedReport;
  /** When it was reported, Unix milliseconds. */
  readonly atMs: number;
  readonly rate: string;
  readonly onChange: () => void;
}

function Feed({ feed, atMs, rate, onChange }: FeedProps) {
  const { gaps, history } = feed;
  const { venue, provider, lag_ms, newest_ticker, tickers, live, stale, missing, taken } = feed;
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
      <Trouble feed={feed} />
      <Figures>
        <Figure
          label="Age of the newest tick"
          value={lag_ms === null ? "–" : durationText(lag_ms)}
          note={
            newest_ticker === null || lag_ms === null ? (
              "No tick yet"
            ) : (
              <>
                {newest_ticker}, <Instant at={new Date(atMs - lag_ms).toISOString()} to="second" />
              </>
            )
          }
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
      <NotOffered feed={feed} onChange={onChange} />
      <History history={history} />
    </Section>
  );
}

/** The feeds of the venues, updated each second, and the progress of backfills. */
export function FeedsView({ providers, terms }: { providers: ProviderFields; terms: ProviderTexts }) {
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
        <BindProvider providers={providers} terms={terms} />
      ) : null}
      {data?.feeds.map((feed) => (
        <Feed
          key={feed.venue}
          feed={feed}
          atMs={data.at_ms}
          rate={rateText(feed.venue, data, shown.before)}
          onChange={() => void mutate()}
        />
      ))}
      {data === undefined ? null : <BackfillsView backfills={data.backfills} onChange={() => mutate()} />}
    </>
  );
}
