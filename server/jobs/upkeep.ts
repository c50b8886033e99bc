import type { Clock } from "#lib/clock";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";
import { type Repeating, startRepeating } from "#lib/repeat";
import { DAY_MS, DAY_S, HOUR_MS, MINUTE_MS } from "#lib/units";
import { auditOn, SYSTEM } from "#server/store/access/audit";
import { cutAuditAddresses } from "#server/store/access/audit-addresses";
import type { Database } from "#server/store/database/db";
import { createFileThread } from "#server/store/files/file-thread";
import { joinDays } from "#server/store/files/joined-days";
import { dropExpired } from "#server/store/history/retention";
import { sweepSegments } from "#server/store/history/sweep";
import { sealTails } from "#server/store/history/tail";
import { dropTicks } from "#server/store/history/tick-days";
import { sealTicks } from "#server/store/history/tick-tail";
import { dropAbandoned, type HistoryAdmin } from "#server/store/klines/import-undo";
import { forgetMended } from "#server/store/klines/lacking-minutes";
import { forgetImports } from "#server/store/market/backfills";

/** Interval of the upkeep; also the delay before failed or skipped work is retried. */
const INTERVAL_MS = HOUR_MS;
const MEGABYTE = 1_000_000;
/** How long an interrupted import can be resumed: a weekend, and some days. */
const INTERRUPTED_MAX_MS = 7 * DAY_MS;

interface UpkeepOptions {
  readonly db: Pick<Database, "pool" | "segments" | "control">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly env: Pick<Env, "KLINE_RETENTION_YEARS" | "TICKS_MAX_DAYS" | "TICKS_MAX_MB">;
}

/**
 * Works now and then every hour until stopped: it moves the minutes of past days and the ticks of past
 * hours into segments, joins those of past days, deletes what imports left that were interrupted a week ago, drops klines beyond KLINE_RETENTION_YEARS and ticks beyond TICKS_MAX_DAYS and TICKS_MAX_MB, forgets old imports of
 * which nothing is stored, deletes segments that nothing names and cuts old addresses in the audit log. Every node may run it; one at a
 * time does the work. It does not throw: failures are logged and retried.
 */
export function startUpkeep({ db, clock, log, env }: UpkeepOptions): Repeating {
  const thread = createFileThread(clock);
  /** One run of the sweep walks a part of the segments, and the next one continues. */
  let sweptTo = "";

  async function attempt(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.warn({ err: error }, `cannot ${what}; retrying`);
    }
  }

  /** Deletes what imports left that were interrupted, and that nobody continued. */
  async function dropInterrupted(): Promise<void> {
    const record: HistoryAdmin["record"] = (client, entry) => auditOn(client, { ...SYSTEM, accountId: null, ...entry });
    const imports = await dropAbandoned({ db, clock, record }, new Date(clock.now() - INTERRUPTED_MAX_MS));
    if (imports.length > 0) log.info({ imports }, "deleted what interrupted imports had stored");
  }

  /** Forgets imports of which nothing is stored, and where ticks lacked that were mended. */
  async function forget(): Promise<void> {
    await forgetImports(db);
    await forgetMended(db, clock.now());
  }

  /** The running day, an hour later: a tick can come late, and a database that was away is written then. */
  const dayNow = () => Math.floor((clock.now() - HOUR_MS) / DAY_MS) * DAY_S;

  async function sealDays(): Promise<void> {
    const sealed = await sealTails(db, dayNow());
    if (sealed > 0) log.debug({ rows: sealed }, "moved the minutes of past days into layers");
  }

  async function sealHours(): Promise<void> {
    // A little later, so that what came at the end of the hour is written.
    const sealed = await sealTicks(db, Math.floor((clock.now() - MINUTE_MS) / HOUR_MS) * HOUR_MS);
    if (sealed > 0) log.debug({ chunks: sealed }, "moved the ticks of past hours into segments");
  }

  async function joinPastDays(signal: AbortSignal): Promise<void> {
    const joined = await joinDays(db, thread, dayNow(), signal);
    if (joined > 0) log.debug({ days: joined }, "joined the segments of days of ticks");
  }

  async function dropOldTicks(): Promise<void> {
    const { TICKS_MAX_DAYS: days = null, TICKS_MAX_MB: megabytes = null } = env;
    const dropped = await dropTicks(db.pool, clock.now(), { days, bytes: megabytes === null ? null : megabytes * MEGABYTE });
    if (dropped > 0) log.info({ segments: dropped }, "dropped ticks beyond TICKS_MAX_DAYS or TICKS_MAX_MB");
  }

  /** Drops short klines of years beyond the retention, and notifies every process. */
  async function dropOld(): Promise<void> {
    const tickers = await dropExpired(db, clock.now(), env.KLINE_RETENTION_YEARS);
    if (tickers.length > 0) log.info({ tickers }, "dropped klines shorter than a day beyond the retention");
    for (const ticker of tickers) await db.control.publish({ kind: "klines", venue: "live", ticker });
  }

  async function sweep(): Promise<void> {
    const { dropped, after } = await sweepSegments(db, clock.now(), sweptTo);
    sweptTo = after;
    if (dropped > 0) log.debug({ segments: dropped }, "deleted segments that nothing names");
  }

  const repeating = startRepeating({ clock, pause: INTERVAL_MS, atOnce: true }, async (signal) => {
    await attempt("cut addresses in the audit log", () => cutAuditAddresses(db.pool, clock));
    await attempt("forget old imports and mended minutes", forget);
    await attempt("delete interrupted imports", dropInterrupted);
    await attempt("move the minutes of past days into layers", sealDays);
    await attempt("move the ticks of past hours into segments", sealHours);
    await attempt("drop expired klines", dropOld);
    await attempt("drop old ticks", dropOldTicks);
    // After those that are dropped.
    await attempt("join the ticks of past days", () => joinPastDays(signal));
    await attempt("delete segments that nothing names", sweep);
  });
  return {
    async stop() {
      await repeating.stop();
      await thread.close();
    },
  };
}
