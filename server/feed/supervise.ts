import type { Clock } from "#lib/clock";
import type { Tick } from "#lib/domain/tick";
import type { Logger } from "#lib/log";
import { type Backoff, repeat } from "#lib/repeat";
import type { Feed } from "./feed";

const RESTART: Backoff = { firstMs: 500, longestMs: 30_000 };
/** A feed that runs this long is healthy: its next restart is quick. */
const HEALTHY_AFTER_MS = 60_000;

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
 * Runs a feed until the signal aborts. A feed that fails is started again with exponential backoff and jitter; one that
 * ends by itself (a recording played to its end) is not.
 */
export async function superviseFeed(
  { feed, name, take, onState, clock, log }: SuperviseOptions,
  signal: AbortSignal,
): Promise<void> {
  let ended = false;
  const onError = (error: unknown, _: number, nextMs: number) => {
    onState?.(`feed ${name} failed; restarting it`);
    log.error({ err: error, feed: name, retry_ms: Math.round(nextMs) }, "feed failed; restarting it");
  };
  await repeat({ clock, signal, pause: RESTART, atOnce: true, until: () => ended, onError }, async (healthy) => {
    const startedMs = clock.now();
    try {
      for await (const ticks of feed(signal)) {
        await take(ticks);
        onState?.(null);
        if (signal.aborted) return;
      }
    } finally {
      if (clock.now() - startedMs >= HEALTHY_AFTER_MS) healthy();
    }
    ended = true;
    if (!signal.aborted) log.info({ feed: name }, "feed ended");
  });
}
