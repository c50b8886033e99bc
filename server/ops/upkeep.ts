import { cutAuditAddresses } from "#lib/access/audit-addresses";
import type { Clock } from "#lib/clock";
import { VENUES } from "#lib/contract/primitives";
import type { Database } from "#lib/db";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";
import { createPartitions, dropShortKlines, expiredYears } from "#lib/market/partitions";
import { sealOldImports } from "#lib/market/undo-retention";
import { type Repeating, startRepeating } from "#lib/repeat";
import { DAY_S, HOUR_MS } from "#lib/units";

/** Interval of the upkeep; also the delay before failed or skipped work is retried. */
const INTERVAL_MS = HOUR_MS;
/** How long before a year begins its partition is created. */
const AHEAD_S = 30 * DAY_S;

interface UpkeepOptions {
  readonly db: Pick<Database, "pool" | "control">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly env: Pick<Env, "KLINE_RETENTION_YEARS">;
}

/** Creates the partitions that will be needed soon. */
async function makeAhead(ensure: ReturnType<typeof createPartitions>, { clock, log }: UpkeepOptions): Promise<void> {
  const nowS = clock.now() / 1000;
  try {
    await ensure(nowS, nowS + AHEAD_S);
  } catch (error) {
    log.warn({ err: error }, "cannot create upcoming kline partitions; retrying");
  }
}

/** Drops short klines of years beyond the retention, and notifies every process. */
async function dropExpired({ db, clock, log, env }: UpkeepOptions, signal: AbortSignal): Promise<void> {
  try {
    for (const year of await expiredYears(db.pool, clock.now() / 1000, env.KLINE_RETENTION_YEARS)) {
      if (signal.aborted) return;
      const outcome = await dropShortKlines(db.pool, year);
      if (outcome === "busy") log.info({ year }, "expired klines are in use; retrying to drop them");
      if (outcome !== "dropped") continue;
      log.info({ year }, "dropped klines shorter than a day beyond the retention");
      for (const venue of VENUES) await db.control.publish({ kind: "klines", venue });
    }
  } catch (error) {
    log.warn({ err: error }, "cannot drop expired klines; retrying");
  }
}

/** Cuts addresses that were kept whole for long enough. */
async function cutAddresses({ db, clock, log }: UpkeepOptions): Promise<void> {
  try {
    await cutAuditAddresses(db.pool, clock);
  } catch (error) {
    log.warn({ err: error }, "cannot cut addresses in the audit log; retrying");
  }
}

/** Deletes what old imports replaced. */
async function sealImports({ db, clock, log }: UpkeepOptions): Promise<void> {
  try {
    const numbers = await sealOldImports(db, clock);
    if (numbers.length > 0) log.info({ imports: numbers }, "deleted what old imports replaced");
  } catch (error) {
    log.warn({ err: error }, "cannot delete what old imports replaced; retrying");
  }
}

/**
 * Works now and then every hour until stopped: it creates upcoming kline partitions, drops klines beyond
 * KLINE_RETENTION_YEARS, deletes what old imports replaced and cuts old addresses in the audit log. Every node may run it; one at a time does the work. It does not
 * throw: failures are logged and retried.
 */
export function startUpkeep(options: UpkeepOptions): Repeating {
  const ensure = createPartitions(options.db.pool);
  return startRepeating({ clock: options.clock, pause: INTERVAL_MS, atOnce: true }, async (signal) => {
    await cutAddresses(options);
    await sealImports(options);
    await makeAhead(ensure, options);
    await dropExpired(options, signal);
  });
}
