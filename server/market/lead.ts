import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import { Fault } from "#lib/fault";
import type { Logger } from "#lib/log";
import { createLeader } from "#lib/market/leader";
import type { Catalogue, ChangedMinutes, KlineStore, Leader, Market } from "#lib/market/ports";
import { unofferedOf } from "#lib/market/status";
import type { Metrics } from "#lib/metrics";
import type { LeasedMender } from "#server/engine/mending";
import { type Producer, startProducer } from "#server/engine/producer";
import type { EventLog } from "#server/event-log/event-log";
import { newEpoch } from "#server/events/event";
import type { MarketFeed } from "#server/feed/feed";
import type { FeedFilter } from "#server/feed/filter/feed-filter";
import type { KlineTable } from "#server/store/klines/kline-store";
import { LeaseLost, type MinuteMender } from "#server/store/klines/mended-minutes";
import { newestRecords } from "#server/view/newest";
import { createProjection, type Projection } from "#server/view/projection";
import type { Turn } from "./turn";

const RETRY_AFTER_S = 1;

/** What a venue is made of where its events are made. */
export interface LeadOptions {
  readonly venue: Venue;
  readonly catalogue: Catalogue;
  readonly store: KlineStore;
  /** Absent where nothing is stored: the sandbox computes its klines. */
  readonly writer?: Pick<KlineTable, "beginWriter">;
  /** Writes minutes after the fact; absent where nothing is stored. */
  readonly mender?: MinuteMender;
  /** Tells every node that stored history of a ticker (undefined: of any) changed; absent where nothing is stored. */
  readonly announceHistoryChange?: (ticker?: string, minutes?: ChangedMinutes) => void;
  readonly feed?: MarketFeed;
  /** Keeps ticks out that cannot be true; absent where all are taken: recordings and computed prices. */
  readonly filter?: FeedFilter;
  /** Who sends the ticks of a ticker now: a provider, or push; absent where ticks are not kept. */
  readonly sourceOf?: ((ticker: string) => string) | undefined;
  /** True where ticks may be pushed over HTTP. */
  readonly acceptsPush: boolean;
  /** Throws the fault with which pushes are refused while nothing more may be stored; absent where nothing is pushed. */
  readonly requireRoom?: () => void;
  /** Where others reach this process with what they push; absent where nobody has to. */
  readonly address?: string;
  /** Rows that may wait to be written before pushes are slowed down; defaults to the recorder's own bound. */
  readonly pendingMaxRows?: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Where this process stands when a turn begins. */
interface Followed {
  readonly events: EventLog;
  /** What it has followed so far. */
  readonly projection: Projection;
  readonly timeAt: Market["timeAt"];
}

/** A venue that this process leads. */
export interface Led extends Pick<Producer, "historyChanged">, Pick<Market, "isOffered"> {
  readonly leader: Leader;
  /** What its events have made of it. */
  readonly projection: Projection;
  /** Writes what is pending. */
  stop(): Promise<void>;
}

/** A mender that writes for a turn, and announces which tickers changed. */
function leasedMender(
  mender: MinuteMender,
  { token, giveUp }: Turn,
  announce: LeadOptions["announceHistoryChange"],
): LeasedMender {
  return {
    async mend(klines, mending) {
      try {
        const mended = await mender.mend(token, klines, mending);
        for (const { ticker, first, last } of mended.changed) announce?.(ticker, { first, last });
        return mended;
      } catch (error) {
        if (!(error instanceof LeaseLost)) throw error;
        giveUp();
        const detail = "Another node now takes the data of this venue. Nothing was stored.";
        throw new Fault("service_unavailable", { detail, retry_after: RETRY_AFTER_S });
      }
    },
    noteWatched: (ranges) => mender.noteWatched(token, ranges),
    noteLacking: (ranges) => mender.noteLacking(token, ranges),
  };
}

/**
 * Leads a venue for a turn: makes its events from the feed and from what is pushed, and writes them. It continues from what the
 * leader before it appended and stored, under a new epoch.
 */
export async function lead(turn: Turn, options: LeadOptions, { events, projection, timeAt }: Followed): Promise<Led> {
  const { venue, catalogue, store, writer, mender, feed, acceptsPush, requireRoom, clock } = options;
  const epoch = newEpoch();
  const tickers = () => catalogue.list().map(({ ticker }) => ticker);
  // What followers in this process have is what was appended; others may be behind.
  const own = events.inProcess
    ? projection
    : createProjection({ catalogue, store, clock, epoch, sinceMs: null, remembers: false });
  /** A ticker that is pushed is known by its first quote. Before the first one of all, nothing is known. */
  function isOffered(ticker: string): boolean {
    if (feed === undefined && !acceptsPush) return true;
    if (feed && (feed.offers?.(ticker) ?? true)) return true;
    const isQuoted = (one: string) => own.view.quote(one) !== undefined;
    return acceptsPush && (isQuoted(ticker) || !tickers().some(isQuoted));
  }
  let producer: Producer | undefined;
  const appender = await events.lead({
    token: turn.token ?? 0,
    over: turn.over,
    standing: () => ({
      epoch,
      reachedMs: producer?.now() ?? turn.originMs,
      address: options.address ?? "",
      problem: producer?.feedProblem() ?? null,
      // Composed where it is read: most readers ask for the time alone.
      get speakers() {
        return feed?.choice?.inForce();
      },
      get unoffered() {
        return unofferedOf({ catalogue, isOffered });
      },
    }),
    newest: () => newestRecords({ view: own.view, recent: own.recent, epoch, tickers: tickers() }),
    onFenced: turn.giveUp,
  });
  const { before, caughtUp } = appender;
  if (own !== projection && before !== undefined && caughtUp) own.view.adopt(projection.view, tickers());
  const writing = writer && (await turn.beginWriting({ ...options, writer, appender }));
  producer = await startProducer({
    ...options,
    writer: writing?.writer,
    journal: writing?.journal,
    recent: writing?.recent,
    keep: writing?.keep,
    mender: mender && leasedMender(mender, turn, options.announceHistoryChange),
    start: { originMs: turn.originMs, ...(before && { fromMs: before.reachedMs }) },
    epoch,
    projection: own,
    append(made, reachedMs) {
      if (own !== projection) own.apply(made);
      appender.append(made, reachedMs);
    },
    onStoredLate: () => (own === projection ? own.forget(undefined, () => true) : options.announceHistoryChange?.()),
  });
  appender.begin();
  const { push, mend, historyChanged, stop } = producer;
  const leader = createLeader({
    market: { venue, catalogue, timeAt },
    push: acceptsPush ? push : null,
    mend: mend
      ? async (klines, mending) => {
          requireRoom?.();
          return mend(klines, mending);
        }
      : null,
    clock,
  });
  return {
    leader,
    projection: own,
    historyChanged,
    isOffered,
    async stop() {
      await stop();
      await appender.stop();
    },
  };
}
