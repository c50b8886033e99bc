"use client";

import { useRouter } from "next/navigation";
import { useEffect } from "react";
import type { BoardRow } from "#lib/contract/board";
import type { ServiceStatus, VenueStatus } from "#lib/contract/service-status";
import type { UptimeReport } from "#lib/contract/uptime";
import { durationText } from "#lib/duration";
import type { BoardStore } from "../board/board-store";
import { type Feed, troubleOf } from "../board/feed";
import { FeedWord } from "../board/feed-line";
import { useBoardStore, useFeed } from "../board/use-board";
import type { Credential } from "../portal/credential";
import { NO_ANSWER } from "../portal/no-answer";
import { Instant, TickInstant } from "../portal/time";
import { Badge, type Tone } from "../ui/badge";
import { Figure, Figures, Section } from "../ui/card";
import { type Headline, headlineOf, LEVEL_TONES, type PartState, restState, streamState } from "./headline";
import { History } from "./history";
import { Incidents, OngoingIncidents } from "./incidents";
import { STATUS_POLL_MS, useServiceNow, useStatus, type WatchedStatus } from "./use-status";
import { Venue } from "./venue";

const NOT_ANSWERED = "No response";
const TITLES = { live: "Live venue", sandbox: "Sandbox venue" } as const;

/** When a venue's newest tick came, in Unix milliseconds; that of the sandbox is known from the stream too. */
const lastOf = ({ venue, last_tick_ms }: VenueStatus, store: BoardStore) =>
  venue === "sandbox" && last_tick_ms !== null ? Math.max(last_tick_ms, store.lastMs() ?? 0) : last_tick_ms;

/** A feed's lag: the age of its newest tick, by the service's clock. */
function FeedFigure({ venue, store, watched }: { venue: VenueStatus; store: BoardStore; watched: WatchedStatus }) {
  const nowMs = useServiceNow(watched);
  const lastMs = watched.trouble === undefined ? lastOf(venue, store) : null;
  const label = venue.venue === "live" ? "Live feed lag" : "Sandbox feed lag";
  if (venue.provider === null)
    return <Figure label={label} value={<span className="text-ink-faint">–</span>} note="not bound: no provider" />;
  if (lastMs === null) {
    const note = venue.last_tick_ms === null ? "no ticks yet" : NOT_ANSWERED;
    return <Figure label={label} value={<span className="text-ink-faint">–</span>} note={note} />;
  }
  return (
    <Figure
      label={label}
      value={durationText(nowMs - lastMs)}
      note={
        <>
          last tick <TickInstant at={new Date(lastMs).toISOString()} />
        </>
      }
    />
  );
}

const PARTS: Record<PartState, { readonly tone: Tone; readonly word: string }> = {
  up: { tone: "positive", word: "Operational" },
  down: { tone: "danger", word: "Down" },
  unknown: { tone: "neutral", word: "Unknown" },
};

function PartWord({ state }: { state: PartState }) {
  const { tone, word } = PARTS[state];
  return (
    <span className="font-sans">
      <Badge tone={tone}>{word}</Badge>
    </span>
  );
}

function RestFigure({ watched }: { watched: WatchedStatus }) {
  const { status, tookMs } = watched;
  return (
    <Figure
      label="REST"
      value={<PartWord state={restState(watched)} />}
      note={
        watched.trouble !== undefined ? (
          NOT_ANSWERED
        ) : tookMs === null ? (
          <Checked status={status} />
        ) : (
          `responded in ${Math.max(1, Math.round(tookMs))} ms`
        )
      }
    />
  );
}

function Checked({ status: { checked } }: { status: ServiceStatus }) {
  if (checked === null) return "not checked yet";
  return (
    <>
      checked <Instant at={new Date(checked.at_ms).toISOString()} to="clock" />
    </>
  );
}

function StreamFigure({ watched, store, streams }: { watched: WatchedStatus; store: BoardStore; streams: boolean }) {
  const feed = useFeed(store);
  const { status } = watched;
  return (
    <Figure
      label="Streams"
      value={<PartWord state={streamState(watched, feed)} />}
      note={
        watched.trouble !== undefined ? (
          NOT_ANSWERED
        ) : feed.by === "stream" ? (
          "connected here"
        ) : streams && feed.by !== "page" ? (
          "not connected here"
        ) : (
          <Checked status={status} />
        )
      }
    />
  );
}

interface ConnectionProps {
  readonly watched: WatchedStatus;
  readonly feed: Feed;
  /** What has a problem. */
  readonly detail: string | undefined;
}

/** What this page sees of the service: that it responds, or why the page is out of date. */
function Connection({ watched: { status, trouble }, feed, detail }: ConnectionProps) {
  if (trouble === undefined) return troubleOf(feed) ?? detail ?? "All parts of the service respond.";
  return (
    <>
      {NO_ANSWER[trouble].says} Showing data from <Instant at={new Date(status.at_ms).toISOString()} to="clock" />.{" "}
      {trouble === "offline" ? "Updates resume when you're back online." : `Retrying every ${durationText(STATUS_POLL_MS)}.`}
    </>
  );
}

interface SummaryProps {
  readonly lead: string;
  readonly headline: Headline;
  readonly watched: WatchedStatus;
  readonly feed: Feed;
  readonly streams: boolean;
}

const DOTS: Record<Tone, string> = { positive: "bg-positive", neutral: "bg-neutral", warning: "bg-warning", danger: "bg-danger" };

/** The overall state first, then what this page itself sees of the service. */
function Summary({ lead, headline: { level, title, detail, ongoing }, watched, feed, streams }: SummaryProps) {
  const isTroubled = level !== "operational" || troubleOf(feed) !== undefined;
  return (
    <>
      <div className="mb-6">
        <p className="text-ink-faint text-sm">Status</p>
        <h1 className="mt-1 flex items-center gap-3 font-semibold text-2xl tracking-tight max-sm:leading-9 sm:text-3xl">
          <span aria-hidden="true" className={`size-3.5 shrink-0 rounded-full ${DOTS[LEVEL_TONES[level]]}`} />
          {title}
        </h1>
        <p className="mt-2 max-w-prose text-ink-soft text-sm leading-6">{lead}</p>
      </div>
      <OngoingIncidents notes={ongoing} nowMs={watched.status.at_ms} />
      {/* High enough for two lines on a phone: what is below stays in its place when the state changes. */}
      <div className="mb-10 flex min-h-16 flex-wrap content-center items-center justify-between gap-x-6 gap-y-1 rounded-xl border border-line bg-surface px-4 py-3 text-sm sm:px-5">
        <p role="status" className={`max-sm:min-h-10 max-sm:w-full ${isTroubled ? "text-warning" : ""}`}>
          <Connection watched={watched} feed={feed} detail={detail} />
        </p>
        <div className="flex min-h-5 items-center gap-6">
          {streams && watched.trouble === undefined ? <FeedWord feed={feed} /> : null}
          <p className="text-ink-faint text-xs">
            as of{" "}
            <span className="font-mono">
              <Instant at={new Date(watched.status.at_ms).toISOString()} to="clock" />
            </span>
          </p>
        </div>
      </div>
    </>
  );
}

interface StatusViewProps {
  /** The summary of the page, below its headline. */
  readonly lead: string;
  readonly first: ServiceStatus;
  /** Null while the database does not respond. */
  readonly uptime: UptimeReport | null;
  /** Some tickers of the sandbox that are streamed, as proof and for the age of the newest tick. */
  readonly rows: readonly BoardRow[];
  /** Undefined where pages stream to nobody. */
  readonly credential: Credential | undefined;
}

const versionOf = ({ incidents }: ServiceStatus) => incidents && JSON.stringify(incidents);

/** Renders the page again when there are other incidents than when it was rendered. */
function useFreshIncidents(rendered: ServiceStatus, latest: ServiceStatus): void {
  const router = useRouter();
  const [shown, known] = [versionOf(rendered), versionOf(latest)];
  useEffect(() => {
    if (known !== null && known !== shown) router.refresh();
  }, [router, shown, known]);
}

/** The state of the service and its markets: as rendered, then kept up to date. */
export function StatusView({ lead, first, uptime, rows, credential }: StatusViewProps) {
  const watched = useStatus(first);
  const store = useBoardStore(rows, credential);
  const feed = useFeed(store);
  const headline = headlineOf(watched, feed, uptime?.notes ?? []);
  const { status } = watched;
  useFreshIncidents(first, status);
  const isCut = watched.trouble !== undefined;
  const streams = credential !== undefined;
  return (
    <>
      <Summary lead={lead} headline={headline} watched={watched} feed={feed} streams={streams} />
      <Section title="Service">
        <Figures>
          <RestFigure watched={watched} />
          <StreamFigure watched={watched} store={store} streams={streams} />
          {status.venues.map((venue) => (
            <FeedFigure key={venue.venue} venue={venue} store={store} watched={watched} />
          ))}
        </Figures>
        <div className="mt-4">
          {status.history === null || uptime === null ? (
            <p className="rounded-xl border border-line border-dashed p-6 text-ink-soft text-sm">
              History is unavailable: the database is not responding.
            </p>
          ) : (
            <History history={status.history} days={uptime.days} />
          )}
        </div>
      </Section>
      {uptime === null ? null : (
        <Section title="Incidents">
          <Incidents notes={uptime.notes} ongoing={headline.ongoing} nowMs={status.at_ms} />
        </Section>
      )}
      {status.venues.map((venue) => (
        <Section
          key={venue.venue}
          title={TITLES[venue.venue]}
          aside={venue.provider === null ? "not bound: market hours only" : `provider: ${venue.provider}`}
        >
          {/* What was known last, without its colours, while nobody answers. */}
          <div className={isCut ? "grayscale" : ""}>
            <Venue venue={venue} watched={watched} />
          </div>
        </Section>
      ))}
    </>
  );
}
