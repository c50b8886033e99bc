"use client";

import type { BoardRow } from "#lib/contract/board";
import type { ServiceStatus, VenueStatus } from "#lib/contract/service-status";
import { durationText } from "#lib/duration";
import type { BoardStore, Feed } from "../board/board-store";
import { FeedWord, troubleOf } from "../board/feed-line";
import { useBoardStore, useFeed } from "../board/use-board";
import { NO_ANSWER } from "../portal/no-answer";
import { Instant, useNow } from "../portal/time";
import { Badge, type Tone } from "../ui/badge";
import { Figure, Figures, PageHead, Section } from "../ui/card";
import { headlineOf, type PartState, restState, streamState } from "./headline";
import { History } from "./history";
import { STATUS_POLL_MS, useStatus, type WatchedStatus } from "./use-status";
import { Venue } from "./venue";

const TITLES = { live: "Live venue", sandbox: "Sandbox venue" } as const;

/** A feed's lag: the age of its newest tick, by the service's clock. */
function FeedFigure({ venue, lastMs, nowMs }: { venue: VenueStatus; lastMs: number | null; nowMs: number | null }) {
  const label = venue.venue === "live" ? "Live feed lag" : "Sandbox feed lag";
  if (venue.provider === null)
    return <Figure label={label} value={<span className="text-ink-faint">–</span>} note="no provider" />;
  if (lastMs === null) return <Figure label={label} value={<span className="text-ink-faint">–</span>} note="no ticks yet" />;
  return (
    <Figure
      label={label}
      value={durationText(nowMs === null ? (venue.lag_ms ?? 0) : nowMs - lastMs)}
      note={
        <>
          last tick <Instant at={new Date(lastMs).toISOString()} to="clock" />
        </>
      }
    />
  );
}

const PARTS: Record<PartState, { readonly tone: Tone; readonly word: string }> = {
  up: { tone: "positive", word: "Operational" },
  down: { tone: "warning", word: "Down" },
  unchecked: { tone: "neutral", word: "Unknown" },
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
      note={tookMs === null ? <Checked status={status} /> : `responded in ${Math.max(1, Math.round(tookMs))} ms`}
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

function StreamFigure({ status, store, streams }: { status: ServiceStatus; store: BoardStore; streams: boolean }) {
  const feed = useFeed(store);
  return (
    <Figure
      label="Streams"
      value={<PartWord state={streamState(status, feed)} />}
      note={
        feed.by === "stream" ? (
          "connected to this page"
        ) : streams && feed.by !== "page" ? (
          "not connected to this page"
        ) : (
          <Checked status={status} />
        )
      }
    />
  );
}

/** What this page sees of the service: that it responds, or why the page is out of date. */
function Connection({ watched: { status, trouble }, feed }: { watched: WatchedStatus; feed: Feed }) {
  if (trouble === undefined) return troubleOf(feed) ?? "The service is responding.";
  return (
    <>
      {NO_ANSWER[trouble].says} Showing data from <Instant at={new Date(status.at_ms).toISOString()} to="clock" />.{" "}
      {trouble === "offline" ? "Updates resume when you're back online." : `Retrying every ${durationText(STATUS_POLL_MS)}.`}
    </>
  );
}

interface SummaryProps {
  readonly lead: string;
  readonly watched: WatchedStatus;
  readonly store: BoardStore;
  readonly streams: boolean;
}

/** The overall state first, then what this page itself sees of the service. */
function Summary({ lead, watched, store, streams }: SummaryProps) {
  const feed = useFeed(store);
  const isTroubled = watched.trouble !== undefined || troubleOf(feed) !== undefined;
  return (
    <>
      <PageHead title={headlineOf(watched, feed)}>{lead}</PageHead>
      <div className="mb-10 flex min-h-16 flex-wrap items-center justify-between gap-x-6 gap-y-1 rounded-xl border border-line bg-surface px-4 py-3 text-sm sm:px-5">
        <p role="status" className={isTroubled ? "text-warning" : ""}>
          <Connection watched={watched} feed={feed} />
        </p>
        <div className="flex items-center gap-6">
          {streams ? <FeedWord feed={feed} /> : null}
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
  /** Some tickers of the sandbox that are streamed, as proof and for the age of the newest tick. */
  readonly rows: readonly BoardRow[];
  readonly demoKey: string | undefined;
}

/** The state of the service and its markets: as rendered, then kept up to date. */
export function StatusView({ lead, first, rows, demoKey }: StatusViewProps) {
  const watched = useStatus(first);
  const store = useBoardStore(rows, demoKey);
  const now = useNow();
  const { status, aheadMs } = watched;
  const nowMs = now === null ? null : now + aheadMs;
  const streams = demoKey !== undefined;
  const lastOf = ({ venue, last_tick_ms }: VenueStatus) =>
    venue === "sandbox" && last_tick_ms !== null ? Math.max(last_tick_ms, store.lastMs() ?? 0) : last_tick_ms;
  const bound = Object.fromEntries(status.venues.map(({ venue, provider }) => [venue, provider !== null]));
  return (
    <>
      <Summary lead={lead} watched={watched} store={store} streams={streams} />
      <Section title="Service" aside="last 24 hours">
        <Figures>
          <RestFigure watched={watched} />
          <StreamFigure status={status} store={store} streams={streams} />
          {status.venues.map((venue) => (
            <FeedFigure key={venue.venue} venue={venue} lastMs={lastOf(venue)} nowMs={nowMs} />
          ))}
        </Figures>
        <div className="mt-4">
          {status.history === null ? (
            <p className="rounded-xl border border-line border-dashed p-6 text-ink-soft text-sm">
              History is unavailable: the database is not responding.
            </p>
          ) : (
            <History history={status.history} bound={{ live: bound.live === true, sandbox: bound.sandbox === true }} />
          )}
        </div>
      </Section>
      {status.venues.map((venue) => (
        <Section
          key={venue.venue}
          title={TITLES[venue.venue]}
          aside={venue.provider === null ? "no provider: market hours only" : `provider: ${venue.provider}`}
        >
          <Venue venue={venue} aheadMs={aheadMs} />
        </Section>
      ))}
    </>
  );
}
