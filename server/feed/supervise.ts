import type { Clock } from "#lib/clock";
import type { Tick } from "#lib/domain/tick";
import type { Logger } from "#lib/log";
import { type Backoff, repeat } from "#lib/repeat";
import type { Feed } from "./feed";

const RESTART: Backoff = { firstMs: 500, longestMs: 30_000 };
/** A feed that ran this long is healthy: its next restart is quick. */
const HEALTHY_AFTER_MS = 60_000;

interface SuperviseOptions {
  feed: Feed;
  name: string;
  /** Takes a batch; the feed is not asked for the next one until it resolves. */
  take: (ticks: readonly Tick[]) => Promise<void>;
  /** Called with the problem when the feed fails, and with null when it delivers again. */
  onState?: (problem: string | null) => void;
  clock: Clock;
  log: Logger;
}

/**
 * Runs a feed until the signal aborts. A feed that fails is restarted with exponential backoff and jitter; a feed that ends by
 * itself (a recording) is not.
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
