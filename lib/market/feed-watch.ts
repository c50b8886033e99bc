import type { Clock } from "#lib/clock";
import { FEED_GAPS_HOURS } from "#lib/contract/portal-admin";
import { MINUTE_MS } from "#lib/units";

/** How long minutes are kept: the hours that gaps are reported for, and a minute at both ends. */
const KEPT_MINUTES = FEED_GAPS_HOURS * 60 + 2;

/** The last load of history into memory. Unix milliseconds. */
interface Filling {
  /** Tickers that were read, and how many of them had history. */
  readonly tickers: number;
  readonly restored: number;
  readonly startedMs: number;
  /** Null while it runs. */
  readonly endedMs: number | null;
}

/** What a venue has observed of its feed. */
export interface FeedCoverage {
  /** Start of the watch, Unix milliseconds; nothing before it is known. Infinite before the first tick of a recording. */
  readonly sinceMs: number;
  /** Whether any ticker had a tick in a minute (counted from 1970); only for minutes that are kept. */
  ticked(minute: number): boolean;
  filling(): Filling;
}

/** Records in which minutes ticks came, and how history was loaded; a market writes, the report reads. */
export interface FeedWatch {
  readonly coverage: FeedCoverage;
  /** Records an accepted tick of this time (Unix ms). */
  tick(timeMs: number): void;
  /** Adds minutes (Unix seconds) whose ticks are stored, at start or after an import; `fromMs`: all minutes since then are known. */
  stored(times: readonly number[], fromMs: number): void;
  /** Starts a load of this many tickers, which lasts until `filled`; loads that start before then become part of it. */
  fill(tickers: number): void;
  restored(): void;
  filled(): void;
}

/**
 * Makes the feed watch of a venue. It keeps at most two days of minutes in memory.
 * @param sinceMs start of the watch, Unix milliseconds; null for a recording with its own times: starts with its first tick
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
    // Runs rarely, because it visits every minute: a day of minutes comes and goes between two runs.
    if (minutes.size > 2 * KEPT_MINUTES) for (const old of minutes) if (old <= newest - KEPT_MINUTES) minutes.delete(old);
  }

  return {
    coverage: {
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
