import type { Clock } from "#lib/clock";
import type { Tick } from "#lib/domain/tick";
import type { Logger } from "#lib/log";
import { type Backoff, repeat } from "#lib/repeat";
import { MINUTE_MS } from "#lib/units";
import { type Feed, Refused, Upset } from "./feed";

const RESTART: Backoff = { firstMs: 500, longestMs: 30_000 };
/** A feed that ran this long is healthy: its next restart is quick. */
const HEALTHY_AFTER_MS = 60_000;
/** Pauses after refusals in a row; the last one repeats. Some sources ban those who insist. */
const REFUSED_PAUSES_MS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS];

/** Makes the pauses of one feed: refusals count alone, because a lost connection before them says nothing about the next answer. */
function createPauses(): (error: unknown, failures: number, usualMs: number) => number {
  let refusals = 0;
  return (error, _, usualMs) => {
    if (error instanceof Refused) {
      refusals += 1;
      return REFUSED_PAUSES_MS[Math.min(refusals, REFUSED_PAUSES_MS.length) - 1] ?? usualMs;
    }
    refusals = 0;
    return error instanceof Upset ? Math.max(usualMs, error.retryAfterMs ?? 0) : usualMs;
  };
}

function problemText(name: string, error: unknown): string {
  if (error instanceof Refused) return `feed ${name} refuses the connection: ${error.message}`;
  if (error instanceof Upset && error.kind === "quiet") return `feed ${name} is quiet: ${error.message}`;
  return `feed ${name} failed; restarting it`;
}

interface SuperviseOptions {
  feed: Feed;
  name: string;
  /** Takes a batch; the feed is not asked for the next one until it resolves. */
  take: (ticks: readonly Tick[]) => Promise<void>;
  /** Called with the problem when the feed fails, and with null when it delivers again. */
  onState?: (problem: string | null) => void;
  /** Called when the feed fails, with the instant of the next try. */
  onLost?: ((error: unknown, untilMs: number) => void) | undefined;
  clock: Clock;
  log: Logger;
}

/**
 * Runs a feed until the signal aborts. A feed that fails is restarted with exponential backoff and jitter, no earlier than its
 * source asks for, and after minutes when the source refused us; a feed that ends by itself (a recording) is not.
 */
export async function superviseFeed(
  { feed, name, take, onState, onLost, clock, log }: SuperviseOptions,
  signal: AbortSignal,
): Promise<void> {
  let ended = false;
  const onError = (error: unknown, _: number, nextMs: number) => {
    const refused = error instanceof Refused;
    onLost?.(error, clock.now() + nextMs);
    onState?.(problemText(name, error));
    const fields = { feed: name, retry_ms: Math.round(nextMs) };
    if (refused) log.error({ ...fields, reason: error.message }, "feed refuses the connection");
    else if (error instanceof Upset) log.warn({ ...fields, reason: error.message }, "feed lost its connection; connecting again");
    else log.error({ err: error, ...fields }, "feed failed; restarting it");
  };
  const pauseAfter = createPauses();
  await repeat({ clock, signal, pause: RESTART, pauseAfter, atOnce: true, until: () => ended, onError }, async (healthy) => {
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
