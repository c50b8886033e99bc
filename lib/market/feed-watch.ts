import type { Clock } from "#lib/clock";
import { FEED_GAPS_HOURS } from "#lib/contract/portal-admin";
import { MINUTE_MS } from "#lib/units";

/** What is remembered: the hours that gaps are told of, and the minutes at both their ends. */
const KEPT_MINUTES = FEED_GAPS_HOURS * 60 + 2;

/** How history was brought into memory last. Unix milliseconds. */
interface Filling {
  /** Tickers that were read, and those of them that had history. */
  readonly tickers: number;
  readonly restored: number;
  readonly startedMs: number;
  /** Null while it runs. */
  readonly endedMs: number | null;
}

/** What a venue noticed of its feed. */
export interface FeedSight {
  /** Nothing is known of what was before, Unix milliseconds; infinite before the first tick of a recording. */
  readonly sinceMs: number;
  /** Whether a tick of any ticker came in a minute, counted from 1970; of the kept ones alone. */
  ticked(minute: number): boolean;
  filling(): Filling;
}

/** Notices in which minutes ticks came, and how history was read; a market writes, the report reads. */
export interface FeedWatch {
  readonly sight: FeedSight;
  /** A tick of this time (Unix ms) was taken. */
  tick(timeMs: number): void;
  /** Minutes of which ticks are stored (Unix seconds), at a start or after an import; `fromMs` when they are known from then on. */
  stored(times: readonly number[], fromMs: number): void;
  /** History of so many tickers is read from now on, until `filled`; what begins meanwhile is a part of it. */
  fill(tickers: number): void;
  restored(): void;
  filled(): void;
}

/**
 * Makes the watch of one venue: at most two days of minutes in memory.
 * @param sinceMs when it begins, Unix milliseconds; null for a recording with its own times: with its first tick
 */
export function createFeedWatch(clock: Clock, sinceMs: number | null): FeedWatch {
  const minutes = new Set<number>();
  let newest = Number.NEGATIVE_INFINITY;
  let knownFromMs = sinceMs;
  let running = 0;
  let filling: Filling = { tickers: 0, restored: 0, startedMs: clock.now(), endedMs: clock.now() };

  function add(minute: number): void {
    minutes.add(minute);
    newest = Math.max(newest, minute);
    // Seldom, since it looks at each: a day of minutes comes and goes before the next time.
    if (minutes.size > 2 * KEPT_MINUTES) for (const old of minutes) if (old <= newest - KEPT_MINUTES) minutes.delete(old);
  }

  return {
    sight: {
      get sinceMs() {
        return knownFromMs ?? Number.POSITIVE_INFINITY;
      },
      ticked: (minute) => minutes.has(minute),
      filling: () => filling,
    },
    tick(timeMs) {
      knownFromMs ??= timeMs;
      const minute = Math.floor(timeMs / MINUTE_MS);
      if (minute !== newest) add(minute);
    },
    stored(times, fromMs) {
      knownFromMs = Math.min(knownFromMs ?? fromMs, fromMs);
      for (const time of times) add(Math.floor(time / 60));
    },
    fill(tickers) {
      running += 1;
      if (running > 1) filling = { ...filling, tickers: filling.tickers + tickers };
      else filling = { tickers, restored: 0, startedMs: clock.now(), endedMs: null };
    },
    restored() {
      filling = { ...filling, restored: filling.restored + 1 };
    },
    filled() {
      running -= 1;
      if (running === 0) filling = { ...filling, endedMs: clock.now() };
    },
  };
}
