import type { Clock } from "#lib/clock";
import type { Tick } from "#lib/domain/tick";
import type { Logger } from "#lib/log";
import type { Feed } from "./feed";

const RESTART_FIRST_MS = 500;
const RESTART_MAX_MS = 30_000;
/** A feed that ran this long is taken as well again: the next restart is quick. */
const WELL_AFTER_MS = 60_000;

interface SuperviseOptions {
  feed: Feed;
  name: string;
  /** Takes a batch; while it has not resolved the feed is not asked for more. */
  take: (ticks: readonly Tick[]) => Promise<void>;
  /** Told what is wrong when the feed fails, and null when it delivers again. */
  onState?: (problem: string | null) => void;
  clock: Clock;
  log: Logger;
}

/**
 * Runs a feed until the signal aborts. A feed that fails is started again with exponential backoff and full jitter;
 * one that ends by itself (a recording played to its end) is not.
 */
export async function superviseFeed(
  { feed, name, take, onState, clock, log }: SuperviseOptions,
  signal: AbortSignal,
): Promise<void> {
  let backoff = RESTART_FIRST_MS;
  while (!signal.aborted) {
    const startedAt = clock.now();
    try {
      for await (const ticks of feed(signal)) {
        await take(ticks);
        onState?.(null);
        if (signal.aborted) return;
      }
      if (!signal.aborted) log.info({ feed: name }, "feed ended");
      return;
    } catch (error) {
      if (clock.now() - startedAt >= WELL_AFTER_MS) backoff = RESTART_FIRST_MS;
      onState?.(`feed ${name} failed; it is started again`);
      const wait = Math.round(Math.random() * backoff);
      log.error({ err: error, feed: name, retry_ms: wait }, "feed failed; it is started again");
      await clock.wait(wait, signal);
      backoff = Math.min(backoff * 2, RESTART_MAX_MS);
    }
  }
}
