import type { Clock } from "#lib/clock";
import { isClosed } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import type { Logger } from "#lib/log";
import { repeat } from "#lib/repeat";
import type { RunningMarket } from "#server/market";
import type { Projection } from "#server/view/projection";

/** The producer has written a closed kline by then. */
const WRITTEN_AFTER_MS = 5_000;
/** The producer sends a heartbeat each second, or more often. Past this, events are late or lost on the way. */
const BEHIND_AFTER_MS = 3_000;
/** How often a process that is behind drops its cached klines; the producer stores rows at least as often. */
const BEHIND_LOOK_MS = 500;

interface FollowingOptions {
  readonly projection: Projection;
  /** How far the events have come; undefined before the first. */
  readonly reachedMs: () => number | undefined;
  /** What is wrong with the way of the events; null when nothing is. */
  readonly problem: () => string | null;
  /** True where the feed sets the time: its age then says nothing. */
  readonly keepsTime: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What a market does whose events come from another process. */
interface Following extends Required<Pick<RunningMarket, "isBehind" | "closedUpTo" | "historyChanged">> {
  /** Reads from the store what was seen earlier; logs when it cannot. */
  lookBack(): Promise<void>;
  /** While this process is behind, klines are read from the store, where the producer still writes them. */
  dropWhileBehind(signal: AbortSignal): Promise<void>;
}

/** Makes the part of a market that follows the events of another process. */
export function createFollowing({ projection, reachedMs, problem, keepsTime, clock, log }: FollowingOptions): Following {
  const alignment = createAlignment();

  function isBehind(): boolean {
    const reached = reachedMs();
    if (reached === undefined) return false;
    return problem() !== null || (!keepsTime() && clock.now() - reached > BEHIND_AFTER_MS);
  }
  const lookBack = () =>
    projection
      .lookBack(clock.now())
      .catch((error: unknown) => log.warn({ err: error }, "cannot read stored minutes; earlier feed gaps stay unknown"));

  return {
    isBehind,
    closedUpTo: () => reachedMs() ?? 0,
    lookBack,
    dropWhileBehind: (signal) =>
      repeat({ clock, signal, pause: BEHIND_LOOK_MS }, () => {
        if (isBehind()) projection.forget(undefined, () => true);
      }),
    async historyChanged(ticker) {
      const writtenMs = clock.now() - WRITTEN_AFTER_MS;
      projection.forget(ticker, (kline) => !isClosed(kline, writtenMs, alignment));
      await lookBack();
    },
  };
}
