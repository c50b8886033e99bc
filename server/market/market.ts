import type { Venue } from "#lib/contract/primitives";
import { Fault } from "#lib/fault";
import type { ChangedMinutes, Leader, Market } from "#lib/market/ports";
import { unofferedOf } from "#lib/market/status";
import { createCursor } from "#server/event-log/cursor";
import type { EventLog } from "#server/event-log/event-log";
import { createMemoryLog } from "#server/event-log/memory-log";
import type { Standing } from "#server/event-log/wire";
import type { Listener } from "#server/events/event";
import { providerIn } from "#server/feed/feed";
import { createProjection } from "#server/view/projection";
import type { Ring } from "#server/view/ring";
import { createFollowing } from "./following";
import { type LeadOptions, type Led, lead } from "./lead";
import { aborted, type Leadership, leadAlone } from "./turn";

export interface MarketOptions extends LeadOptions {
  readonly files: Market["files"];
  /** Slug of the provider; null without one. */
  readonly provider: string | null;
  /** True where clients see which of several providers is in force for a ticker. */
  readonly namesProviders?: boolean;
  /** True where the feed sets the time, here or in the process that leads; that of `feed` by default. */
  readonly keepsTime?: boolean;
  /** Carries the events to followers; by default within this process only. */
  readonly events?: EventLog;
  /** When this process leads; by default it leads as long as it runs. */
  readonly leadership?: Leadership;
  /** Sends what is pushed to the process that leads at an address; absent where no other one leads. */
  readonly leaderAt?: (venue: Venue, address: () => string | undefined) => Leader;
}

const RETRY_AFTER_S = 1;
/** Before the first event. */
const NO_EPOCH = "none";

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
  /** What is wrong with the feed, or with the way of its events; null when nothing is, or no feed is configured. */
  feedProblem(): string | null;
  /** What is wrong on the way of its events; null when nothing is. */
  away(): string | null;
  /** Resolves with the reason when the way of its events has ended for good. */
  readonly ended: Promise<string>;
  /** What processes that follow this one are told. */
  standing(): Standing;
  /** The `reachedMs` of `standing` alone, which is read with every event. */
  reachedMs(): number;
  /** Call it when an operator prefers another provider. */
  pinChanged(): Promise<void>;
  /** The leader, while this process is it; null while another one is. */
  leading(): Leader | null;
  /** Writes what is pending and lets another node lead; does nothing where no other one can. */
  handOver(): Promise<void>;
  /** Stops the feed and writes what is pending. */
  stop(): Promise<void>;
}

/**
 * Starts a venue: follows its events from then on, and makes them while this process leads it. Reads are correct once it resolves,
 * unless the newest records do not come within the `startMaxMs` of its leadership.
 */
export async function startMarket(options: MarketOptions): Promise<RunningMarket> {
  const { venue, catalogue, store, files, provider, feed, filter, sourceOf, namesProviders = false, clock } = options;
  const { keepsTime = feed?.keepsTime ?? false, events = createMemoryLog(), leadership = leadAlone(clock) } = options;
  const log = options.log.child({ venue });
  const [leaving, stopping] = [new AbortController(), new AbortController()];
  const startMs = feed?.startMs ?? clock.now();
  const projection = createProjection({ catalogue, store, clock, epoch: NO_EPOCH, sinceMs: startMs > 0 ? startMs : null });
  const { view, recent, watch, follow, historyRevision } = projection;
  const follower = events.follow(createCursor(projection));
  const { lookBack, dropWhileBehind, dropClosed, ...following } = createFollowing({
    projection,
    follower,
    keepsTime,
    clock,
    log,
  });
  let led: Led | undefined;

  const competing = leadership.compete(leaving.signal, async (turn) => {
    led = await lead(turn, options, { events, projection, timeAt: following.timeAt });
    await aborted(turn.over);
    const { stop } = led;
    led = undefined;
    await stop();
  });
  const { startMaxMs } = leadership;
  const late = startMaxMs === undefined ? [] : [clock.wait(startMaxMs, stopping.signal)];
  await Promise.race([follower.begun, follower.ended, competing, ...late]);
  const dropping = dropWhileBehind(stopping.signal);
  await lookBack();

  const choice = feed?.choice;
  /** The process that leads knows it first. */
  function providerOf(ticker: string): string | null {
    if (!namesProviders) return provider;
    if (led && choice) return choice.providerOf(ticker) ?? null;
    const inForce = follower.standing()?.speakers;
    return choice || inForce ? providerIn(inForce, ticker) : provider;
  }
  const isOffered = (ticker: string) => (led ? led.isOffered(ticker) : follower.standing()?.unoffered?.includes(ticker) !== true);
  const feedProblem = () => follower.problem() ?? follower.standing()?.problem ?? null;
  const reachedMs = () => Math.min(clock.now(), following.closedUpTo(clock.now()));
  const elsewhere = options.leaderAt?.(venue, () => follower.standing()?.address);

  return {
    venue,
    catalogue,
    store,
    files,
    provider,
    providerOf,
    isOffered,
    feed: () => ({
      providers: feed?.providers?.() ?? [],
      precedence: choice?.report() ?? null,
      heldBack: filter?.report() ?? null,
      keepsTicks: sourceOf !== undefined,
    }),
    pinChanged: async () => choice?.pinChanged(),
    view,
    recent,
    coverage: watch.coverage,
    follow,
    // Both only rise, so that their sum changes with either.
    historyRevision: () => historyRevision() + (store.stored?.lacking.revision() ?? 0),
    ...following,
    get epoch() {
      return recent.epoch();
    },
    get leader() {
      const leader = led?.leader ?? elsewhere;
      if (leader === undefined)
        throw new Fault("service_unavailable", { detail: "This venue is stopping.", retry_after: RETRY_AFTER_S });
      return leader;
    },
    leading: () => led?.leader ?? null,
    async historyChanged(ticker, minutes) {
      if (led?.projection !== projection) dropClosed(ticker);
      await led?.historyChanged(ticker, minutes);
      await lookBack();
    },
    feedProblem,
    away: follower.problem,
    ended: follower.ended,
    standing: () => ({
      epoch: recent.epoch(),
      reachedMs: reachedMs(),
      address: options.address ?? "",
      problem: feedProblem(),
      away: follower.problem(),
      speakers: follower.standing()?.speakers,
      unoffered: unofferedOf({ catalogue, isOffered }),
    }),
    reachedMs,
    async handOver() {
      if (events.inProcess) return;
      leaving.abort();
      await competing;
    },
    async stop() {
      leaving.abort();
      await competing;
      stopping.abort();
      await Promise.all([follower.stop(), dropping]);
    },
  };
}
