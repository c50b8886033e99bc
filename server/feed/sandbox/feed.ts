import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "#lib/clock";
import type { Tick } from "#lib/domain/tick";
import { HOUR_MS, MINUTE_MS } from "#lib/units";
import type { Feed } from "../feed";
import type { SandboxPrices } from "./prices";
/** Interval between batches. */
export const BATCH_EVERY_MS = 200;
/** Ticks missed in a stall (a suspended machine) are delivered later if the stall is at most this long. */
export const CATCH_UP_MAX_MS = HOUR_MS;

interface Options {
  prices: SandboxPrices;
  clock: Clock;
  /**
   * The first instant whose ticks are delivered, Unix milliseconds. Defaults to the start of the minute in which the feed first
   * starts, so that the current kline is complete. Later runs continue where the previous one ended.
   */
  startMs?: number;
  /** Called after a stall that is too long to catch up with: the ticks of [fromMs, toMs) are not delivered. */
  onSkip?: (fromMs: number, toMs: number) => void;
}

/**
 * The sandbox's ticks, each at its instant on the clock (late by at most BATCH_EVERY_MS). After a stall the missed ones follow
 * in order, one minute per batch. A batch never spans two minutes; a newly listed ticker joins at the next minute.
 */
export function sandboxFeed({ prices, clock, startMs, onSkip }: Options): Feed {
  /** Ticks before this instant have been delivered. */
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
      // Catching up with many minutes must not block other work.
      if (endMs + MINUTE_MS <= nowMs) await nextTurn();
    }
  };
}
