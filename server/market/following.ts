import type { Clock } from "#lib/clock";
import { isClosed } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import type { Logger } from "#lib/log";
import type { Market } from "#lib/market/ports";
import { repeat } from "#lib/repeat";
import type { Follower } from "#server/event-log/event-log";
import type { Projection } from "#server/view/projection";

/** The leader has written a closed kline by then. */
const WRITTEN_AFTER_MS = 5_000;
/** The leader says each second how far it has come each second, or more often. Past this, events are late or lost on the way. */
const BEHIND_AFTER_MS = 3_000;
/** How often a process that is behind drops its cached klines; the leader stores rows at least as often. */
const BEHIND_LOOK_MS = 500;

interface FollowingOptions {
  readonly projection: Projection;
  readonly follower: Pick<Follower, "standing" | "problem">;
  /** True where the feed sets the time: its age then says nothing. */
  readonly keepsTime: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How a process sees a venue through the events that it follows. */
interface Following extends Pick<Market, "isBehind" | "timeAt" | "closedUpTo"> {
  /** Reads from the store what was seen earlier; logs when it cannot. */
  lookBack(): Promise<void>;
  /** While this process is behind, klines are read from the store, where the leader still writes them. */
  dropWhileBehind(signal: AbortSignal): Promise<void>;
  /** Drops the closed klines of a ticker (undefined: of any) that the leader has written by now. */
  dropClosed(ticker: string | undefined): void;
}

/** Makes the part of a market that follows events. */
export function createFollowing({ projection, follower, keepsTime, clock, log }: FollowingOptions): Following {
  const alignment = createAlignment();
  const reachedMs = () => follower.standing()?.reachedMs;
  const timeAt = (wallMs: number) => (keepsTime ? (reachedMs() ?? wallMs) : wallMs);

  function isBehind(): boolean {
    const reached = reachedMs();
    if (reached === undefined) return false;
    return follower.problem() !== null || (!keepsTime && clock.now() - reached > BEHIND_AFTER_MS);
  }

  return {
    isBehind,
    timeAt,
    closedUpTo: () => reachedMs() ?? 0,
    lookBack: () =>
      projection
        .lookBack(timeAt(clock.now()))
        .catch((error: unknown) => log.warn({ err: error }, "cannot read stored minutes; earlier feed gaps stay unknown")),
    dropWhileBehind: (signal) =>
      repeat({ clock, signal, pause: BEHIND_LOOK_MS }, () => {
        if (isBehind()) projection.forget(undefined, () => true);
      }),
    dropClosed(ticker) {
      const writtenMs = clock.now() - WRITTEN_AFTER_MS;
      projection.forget(ticker, (kline) => !isClosed(kline, writtenMs, alignment));
    },
  };
}
