import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import { Fault } from "#lib/fault";
import type { Logger } from "#lib/log";
import type { KlineTable } from "#lib/market/kline-store";
import { LeaseLost, type MinuteMender } from "#lib/market/mended-minutes";
import type { Catalogue, ChangedMinutes, KlineStore, Market } from "#lib/market/ports";
import type { Metrics } from "#lib/metrics";
import { reportRefusals } from "#server/engine/interruptions";
import type { JournalFolder } from "#server/engine/journal";
import type { LeasedMender } from "#server/engine/mending";
import { startProducer } from "#server/engine/producer";
import { beginWriting } from "#server/engine/writing";
import { newEpoch } from "#server/events/event";
import type { MarketFeed } from "#server/feed/feed";
import type { Guard } from "#server/feed/filter/guard";
import { createProjection, type Projection } from "#server/view/projection";
import type { Ring } from "#server/view/ring";
import type { Listener } from "./events/bus";

export interface MarketOptions {
  venue: Venue;
  catalogue: Catalogue;
  store: KlineStore;
  /** Absent where history is not served as files. */
  files?: Market["files"];
  /** Absent where nothing is stored: the sandbox computes its klines. */
  writer?: Pick<KlineTable, "beginWriter">;
  /** Opens the folder in which ticks are kept until they are stored; absent where they are not. */
  openJournals?: () => Promise<JournalFolder>;
  /** Writes minutes after the fact; absent where nothing is stored. */
  mender?: MinuteMender;
  /** Tells every node that stored history of a ticker (undefined: of any) changed; absent where nothing is stored. */
  announceHistoryChange?: (ticker?: string, minutes?: ChangedMinutes) => void;
  feed?: MarketFeed;
  /** Keeps ticks out that cannot be true; absent where all are taken: recordings and computed prices. */
  guard?: Guard;
  /** Who sends the ticks of a ticker now: a provider, or push; absent where ticks are not kept. */
  sourceOf?: ((ticker: string) => string) | undefined;
  /** True where ticks may be pushed over HTTP. */
  acceptsPush: boolean;
  /** Throws the fault with which pushes are refused while nothing more may be stored; absent where nothing is pushed. */
  requireRoom?: () => void;
  provider: string | null;
  /** True where clients see which of several providers speaks for a ticker. */
  namesSpeakers?: boolean;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  /** Rows that may wait to be written before pushes are slowed down; defaults to the recorder's own bound. */
  pendingMaxRows?: number;
}

/** A running venue. */
export interface RunningMarket extends Market {
  /**
   * Call it when stored history of a ticker (undefined: of any) was rewritten. Cached windows are dropped, closed klines are
   * read from the store again, open ones and the trading day are recomputed. Where the minutes are known, subscribers get the
   * closed klines that changed.
   */
  historyChanged(ticker?: string, minutes?: ChangedMinutes): Promise<void>;
  /** Current epoch of the sequences; a new producer starts a new one. */
  readonly epoch: string;
  /** Recent events, for clients that resume. */
  readonly recent: Pick<Ring, "seq" | "since">;
  /** Subscribes to the events, after view and recent events have them; returns the function that unsubscribes. */
  follow(listener: Listener): () => void;
  /** What is wrong with the feed; null when it is healthy or none is configured. */
  feedProblem(): string | null;
  /** Call it when an operator prefers another provider; absent where there are not several. */
  readonly pinChanged?: (() => Promise<void>) | undefined;
  /** Writes what is pending and gives the lease to another node; does nothing where one process runs the venue. */
  handOver(): Promise<void>;
  /** Stops the feed and writes what is pending. */
  stop(): Promise<void>;
}

/** The part of a market that is read from its projection, whether this node produces the events or follows them. */
export function readSide(
  {
    venue,
    catalogue,
    store,
    files,
    provider,
    feed,
    guard,
    sourceOf,
    namesSpeakers = false,
  }: Pick<
    MarketOptions,
    "venue" | "catalogue" | "store" | "files" | "provider" | "feed" | "guard" | "sourceOf" | "namesSpeakers"
  >,
  { view, recent, watch, follow, historyRevision }: Projection,
  speaker = (ticker: string) => feed?.voices?.speaker(ticker) ?? null,
): Pick<
  RunningMarket,
  | "venue"
  | "catalogue"
  | "store"
  | "files"
  | "provider"
  | "providerOf"
  | "precedence"
  | "pinChanged"
  | "providers"
  | "heldBack"
  | "keepsTicks"
  | "view"
  | "recent"
  | "sight"
  | "follow"
  | "historyRevision"
> {
  const { providers, voices } = feed ?? {};
  return {
    venue,
    catalogue,
    store,
    files,
    provider,
    ...(voices && namesSpeakers && { providerOf: speaker }),
    precedence: voices?.report,
    pinChanged: voices?.pinChanged,
    providers,
    heldBack: guard?.report,
    keepsTicks: sourceOf !== undefined,
    view,
    recent,
    sight: watch.sight,
    follow,
    // Both only rise, so that their sum changes with either.
    historyRevision: () => historyRevision() + (store.lacking?.revision() ?? 0),
  };
}

const RETRY_AFTER_S = 1;

/**
 * A mender that writes with the token of a lease, and announces which tickers changed.
 * @param lease `giveUp` is called when another node turns out to hold it
 */
export function leasedMender(
  mender: MinuteMender,
  { token, giveUp }: { readonly token: number | null; readonly giveUp: () => void },
  announce: MarketOptions["announceHistoryChange"],
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

/** The same work, unless `requireRoom` refuses it. */
export function withRoom<Args extends readonly unknown[], Result>(
  requireRoom: MarketOptions["requireRoom"],
  work: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    requireRoom?.();
    return work(...args);
  };
}

/**
 * Starts a venue that this process runs alone: restores it from the store, then runs the feed. Reads are correct once it
 * resolves.
 */
export async function startMarket(options: MarketOptions): Promise<RunningMarket> {
  const { catalogue, store, writer, feed, mender, announceHistoryChange, requireRoom, openJournals, clock } = options;
  const journals = await openJournals?.();
  const writing = writer && (await beginWriting({ ...options, writer, journals }));
  const epoch = newEpoch();
  const originMs = clock.now();
  const startMs = feed?.startMs ?? originMs;
  const projection = createProjection({ catalogue, store, clock, epoch, sinceMs: startMs > 0 ? startMs : null });
  const producer = await startProducer({
    ...options,
    ...{ writer: writing?.writer, journal: writing?.journal, recent: writing?.recent },
    mender: mender && leasedMender(mender, { token: null, giveUp: () => undefined }, announceHistoryChange),
    start: { originMs },
    epoch,
    projection,
    onStoredLate: () => projection.forget(undefined, () => true),
  });
  await projection.lookBack(producer.now());

  return {
    ...readSide(options, projection),
    epoch,
    ...(feed?.keepsTime && { now: producer.now }),
    async historyChanged(ticker, minutes) {
      await producer.historyChanged(ticker, minutes);
      await projection.lookBack(producer.now());
    },
    feedProblem: producer.feedProblem,
    ...(options.acceptsPush && {
      push: reportRefusals(withRoom(requireRoom, writing?.keep(producer, clock) ?? producer.push), {
        catalogue,
        lacks: producer.lacks,
        clock,
      }),
    }),
    ...(producer.mend && { mend: withRoom(requireRoom, producer.mend) }),
    handOver: async () => undefined,
    async stop() {
      await producer.stop();
      await writing?.journal?.close();
      await journals?.release();
    },
  };
}
