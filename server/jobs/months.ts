import type { Clock } from "#lib/clock";
import { WEBHOOK_EVENT_MAX_AGE_S } from "#lib/contract/limits";
import type { Logger } from "#lib/log";
import { type Repeating, startRepeating } from "#lib/repeat";
import { MINUTE_MS, SECOND_MS } from "#lib/units";
import type { Database } from "#server/store/database/db";
import { closedSince, closeMonths } from "#server/store/usage/months";
import { queueForOperators } from "#server/store/webhooks/deliveries";

interface MonthOptions {
  readonly db: Pick<Database, "pool">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Closes months that are over, and tells the webhooks of operators of those that were closed in the last hour. */
async function close({ db: { pool }, clock }: MonthOptions): Promise<void> {
  await closeMonths(pool, clock);
  const nowMs = clock.now();
  for (const { closed_at, ...sums } of await closedSince(pool, new Date(nowMs - WEBHOOK_EVENT_MAX_AGE_S * SECOND_MS))) {
    const id = `usage-${sums.month}`;
    const data = { id, closed_at: closed_at.toISOString(), ...sums };
    await queueForOperators(pool, id, { type: "usage.month_closed", timestamp: new Date(nowMs).toISOString(), data });
  }
}

/**
 * Closes months, now and then every minute until stopped. Every node may run it: a month is closed by one. It does not throw: failures
 * are logged and retried.
 */
export function startMonths(options: MonthOptions): Repeating {
  const onError = (error: unknown, failures: number) => {
    if (failures === 1) options.log.warn({ err: error }, "cannot close months; retrying");
  };
  return startRepeating({ clock: options.clock, pause: MINUTE_MS, atOnce: true, onError }, () => close(options));
}
