import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "#lib/clock";
import type { Tick } from "#lib/domain/tick";
import { HOUR_MS, MINUTE_MS } from "#lib/units";
import type { Feed } from "../feed";
import type { SandboxPrices } from "./prices";
/** Ticks leave in batches, this often. */
export const BATCH_EVERY_MS = 200;
/** What was missed in a stall (a suspended machine) is made up for when it is not longer than this. */
export const CATCH_UP_MAX_MS = HOUR_MS;

interface Options {
  prices: SandboxPrices;
  clock: Clock;
  /**
   * The first instant whose ticks are given, Unix milliseconds. Without it: the start of the minute that runs when the feed
   * is first started, so that the running kline is whole. Later runs go on where the run before ended.
   */
  startMs?: number;
  /** Told of a stall too long to be made up for: the ticks of [fromMs, toMs) are not given. */
  onSkip?: (fromMs: number, toMs: number) => void;
}

/**
 * The sandbox's ticks, each at its instant on the clock (at most BATCH_EVERY_MS late). After a stall the missed ones come in
 * order, a minute a batch. A batch never holds ticks of two minutes; a ticker that gets listed joins with the next minute.
 */
export function sandboxFeed({ prices, clock, startMs, onSkip }: Options): Feed {
  /** Ticks before this instant have been given. */
  let doneMs = startMs;
  let queue: { startMs: number; ticks: readonly Tick[] } | undefined;

  function minuteAt(atMs: number): { startMs: number; ticks: readonly Tick[] } {
    const minute = Math.floor(atMs / MINUTE_MS);
    if (queue?.startMs === minute * MINUTE_MS) return queue;
    const ticks = prices.tickers().flatMap((ticker) => prices.series(ticker)?.ticks(minute) ?? []);
    queue = { startMs: minute * MINUTE_MS, ticks: ticks.sort((a, b) => a.time_msc - b.time_msc) };
    return queue;
  }

  return async function* run(signal) {
    while (!signal.aborted) {
      const nowMs = clock.now();
      doneMs ??= Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
      if (nowMs - doneMs > CATCH_UP_MAX_MS) {
        const resumeMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
        onSkip?.(doneMs, resumeMs);
        doneMs = resumeMs;
      }
      if (doneMs > nowMs) {
        await clock.wait(BATCH_EVERY_MS - (nowMs % BATCH_EVERY_MS), signal);
        continue;
      }
      const fromMs = doneMs;
      const minute = minuteAt(fromMs);
      const endMs = Math.min(nowMs + 1, minute.startMs + MINUTE_MS);
      const batch = minute.ticks.filter(({ time_msc }) => time_msc >= fromMs && time_msc < endMs);
      doneMs = endMs;
      if (batch.length > 0) yield batch;
      // Many minutes in a row must not keep everything else from running.
      if (endMs + MINUTE_MS <= nowMs) await nextTurn();
    }
  };
}
