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
