import { cutAuditAddresses } from "#lib/access/audit-addresses";
import type { Clock } from "#lib/clock";
import type { Database } from "#lib/db";
import type { Env } from "#lib/env";
import { dropExpired } from "#lib/history/retention";
import { sweepSegments } from "#lib/history/sweep";
import { sealTails } from "#lib/history/tail";
import type { Logger } from "#lib/log";
import { forgetImports } from "#lib/market/forget-imports";
import { forgetMended } from "#lib/market/lacking-minutes";
import { createPartitions } from "#lib/market/partitions";
import { type Repeating, startRepeating } from "#lib/repeat";
import { DAY_MS, DAY_S, HOUR_MS } from "#lib/units";

/** Interval of the upkeep; also the delay before failed or skipped work is retried. */
const INTERVAL_MS = HOUR_MS;
/** How long before a year begins its partition is created. */
const AHEAD_S = 30 * DAY_S;

interface UpkeepOptions {
  readonly db: Pick<Database, "pool" | "segments" | "control">;
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

/** Moves the minutes of past days into layers. */
async function sealDays({ db, clock, log }: UpkeepOptions): Promise<void> {
  try {
    // An hour later: a tick can come late, and a database that was away is written then.
    const day = Math.floor((clock.now() - HOUR_MS) / DAY_MS) * DAY_S;
    const sealed = await sealTails(db, day);
    if (sealed > 0) log.debug({ rows: sealed }, "moved the minutes of past days into layers");
  } catch (error) {
    log.warn({ err: error }, "cannot move the minutes of past days into layers; retrying");
  }
}

/** Drops short klines of years beyond the retention, and notifies every process. */
async function dropOld({ db, clock, log, env }: UpkeepOptions): Promise<void> {
  try {
    const tickers = await dropExpired(db, clock.now(), env.KLINE_RETENTION_YEARS);
    if (tickers.length > 0) log.info({ tickers }, "dropped klines shorter than a day beyond the retention");
    for (const ticker of tickers) await db.control.publish({ kind: "klines", venue: "live", ticker });
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

/** Forgets imports of which nothing is stored, and where ticks lacked that were mended. */
async function forget({ db, clock, log }: UpkeepOptions): Promise<void> {
  try {
    await forgetImports(db);
    await forgetMended(db, clock.now());
  } catch (error) {
    log.warn({ err: error }, "cannot forget old imports and mended minutes; retrying");
  }
}

/** Deletes segments that nothing names any more. One run walks a part of them. */
function createSweep({ db, clock, log }: UpkeepOptions): () => Promise<void> {
  let after = "";
  return async () => {
    try {
      const { dropped, after: last } = await sweepSegments(db, clock.now(), after);
      after = last;
      if (dropped > 0) log.debug({ segments: dropped }, "deleted segments that nothing names");
    } catch (error) {
      log.warn({ err: error }, "cannot delete segments that nothing names; retrying");
    }
  };
}

/**
 * Works now and then every hour until stopped: it creates upcoming kline partitions, moves the minutes of past days into layers, drops klines beyond
 * KLINE_RETENTION_YEARS, forgets old imports of which nothing is stored, deletes segments that nothing names and cuts old addresses in the audit log. Every node may run it; one at a time does the work. It does not
 * throw: failures are logged and retried.
 */
export function startUpkeep(options: UpkeepOptions): Repeating {
  const ensure = createPartitions(options.db.pool);
  const sweep = createSweep(options);
  return startRepeating({ clock: options.clock, pause: INTERVAL_MS, atOnce: true }, async () => {
    await cutAddresses(options);
    await forget(options);
    await makeAhead(ensure, options);
    await sealDays(options);
    await dropOld(options);
    await sweep();
  });
}
