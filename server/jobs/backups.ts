import { stat } from "node:fs/promises";
import type { Clock } from "#lib/clock";
import type { BackupRun } from "#lib/contract/portal-health";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";
import { type Repeating, startRepeating } from "#lib/repeat";
import { HOUR_MS, MINUTE_MS } from "#lib/units";
import { backupName } from "#server/database/backup/name";
import { type BackupPlace, openPlace } from "#server/database/backup/place";
import { writeBackup } from "#server/database/backup/write";
import { type Database, reasonOf } from "#server/store/database/db";
import { lastBackups, recordBackup } from "#server/store/market/backup-runs";

/** How soon after a failure the next one is tried. */
const RETRY_MS = HOUR_MS;
/** The key of the advisory lock that the node holds that makes a backup. */
const LOCK = 0x6261636b;

interface BackupsOptions {
  readonly db: Pick<Database, "pool" | "client">;
  /** PostgreSQL URL; never logged. */
  readonly databaseUrl: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly env: Env;
  /** The installation's secret. */
  readonly secret: string;
}

/** True when the last backup, of this schedule or by hand, is old enough, and the last failure too. */
async function isDue({ db, clock }: BackupsOptions, everyMs: number): Promise<boolean> {
  const { last, failed } = await lastBackups(db.pool);
  const nowMs = clock.now();
  if (failed !== null && nowMs - Date.parse(failed.ended_at) < RETRY_MS) return false;
  return last === null || nowMs - Date.parse(last.started_at) >= everyMs;
}

/** Makes one backup, records the run, and deletes the oldest beyond BACKUP_KEEP. */
async function backUp(options: BackupsOptions, place: BackupPlace, signal: AbortSignal): Promise<void> {
  const { db, databaseUrl, clock, log, secret, env } = options;
  const url = env.DATABASE_DIRECT_URL ?? databaseUrl;
  const startedMs = clock.now();
  const name = backupName(startedMs);
  const record = (outcome: Pick<BackupRun, "bytes" | "rows" | "problem">) => {
    const [started_at, ended_at] = [new Date(startedMs).toISOString(), new Date(clock.now()).toISOString()];
    return recordBackup(db.pool, { started_at, ended_at, ...outcome });
  };
  try {
    const file = await place.prepare(name);
    const { rows } = await writeBackup({ url, file, secret, passphrase: env.BACKUP_PASSPHRASE, clock, signal });
    const { size: bytes } = await stat(file);
    await place.keep(name);
    await record({ bytes, rows, problem: null });
    log.info({ name, bytes, rows }, "made a backup");
  } catch (error) {
    if (signal.aborted) return;
    await record({ bytes: null, rows: null, problem: reasonOf(error) });
    throw error;
  }
  const names = await place.names();
  const oldest = names.filter((other) => other.endsWith(".backup")).at(-env.BACKUP_KEEP);
  // Also what a killed process began before it.
  for (const other of names) if (oldest !== undefined && other < oldest) await place.drop(other);
}

/**
 * Makes a backup every BACKUP_EVERY hours until stopped, looking every minute whether one is due; after a failure, an hour later. Every
 * node may run it: one at a time makes a backup. It does not throw: failures are logged, recorded for /admin and retried.
 */
export function startBackups(options: BackupsOptions): Repeating | undefined {
  const { db, clock, log, env } = options;
  if (env.BACKUP_EVERY === undefined || env.BACKUP_TO === undefined) return undefined;
  const everyMs = env.BACKUP_EVERY * HOUR_MS;
  const to = env.BACKUP_TO;
  const onError = (error: unknown) => log.error({ err: error }, "cannot make a backup; retrying");
  return startRepeating({ clock, pause: MINUTE_MS, atOnce: true, onError }, async (signal) => {
    if (!(await isDue(options, everyMs))) return;
    const client = db.client();
    // A connection that breaks gives the lock back; the backup has its own.
    client.on("error", () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ held: boolean }>("SELECT pg_try_advisory_lock($1) AS held", [LOCK]);
      // Another node may have made one since.
      if (rows[0]?.held && (await isDue(options, everyMs))) await backUp(options, openPlace(to, env, clock, signal), signal);
    } finally {
      await client.end().catch(() => undefined);
    }
  });
}
