import type { Tick } from "#lib/domain/tick";

/**
 * A source of ticks: the one shape every provider is brought into.
 *
 * An implementer
 * - yields batches: the ticks of one emission, in the order they happened; never an empty batch;
 * - keeps the times of one ticker ascending, within a batch and from one batch to the next;
 * - renames at its own door: what leaves is in the service's tickers, Unix milliseconds and price units;
 * - skips a record that it cannot read and counts it; a bad record never throws and never ends the feed;
 * - throws only when the source itself is lost; whoever supervises starts it again after a pause;
 * - ends without a throw soon after the signal aborts, and holds no timer or connection afterwards;
 * - reads no further ahead than one batch: a consumer that is slow to ask for the next holds it back;
 * - may be started again on the same value once an earlier run has ended; two runs at once are not asked of it.
 *
 * It must not judge ticks (that is the engine's part), nor invent ticks that its source did not give.
 */
export type Feed = (signal: AbortSignal) => AsyncIterable<readonly Tick[]>;

/** Where a feed begins. Instants are Unix milliseconds. */
export interface FeedStart {
  /** What a recording that is moved to the present begins at; the same for whoever goes on with it. */
  readonly originMs: number;
  /** Another has taken what was before: ticks from here on are wanted, at once as far as they are past. */
  readonly fromMs?: number;
  /** To be told of a stretch [fromMs, toMs) whose ticks are not given. */
  readonly skipped: (fromMs: number, toMs: number) => void;
}

/** What fills a venue by itself. */
export interface MarketFeed {
  readonly name: string;
  open(start: FeedStart): Feed;
  /**
   * True where the feed is the clock: a computed or recorded source delivers all there is, in order, so klines close by
   * the time its ticks have reached and none comes too late, however long this process was held up.
   */
  readonly keepsTime: boolean;
  /** The instant the feed starts from; history is filled up to it. Undefined: now. */
  readonly startMs?: number;
}
