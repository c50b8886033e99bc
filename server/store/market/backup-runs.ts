import type { Pool } from "pg";
import {
  BACKUP_PROBLEM_MAX_CHARACTERS,
  BACKUP_RUNS_MAX_COUNT,
  type BackupRun,
  type HealthReport,
} from "#lib/contract/portal-health";

type Queries = Pick<Pool, "query">;

const ADD = "INSERT INTO backup_run (started_at, ended_at, bytes, rows, problem) VALUES ($1, $2, $3, $4, $5)";
// The last one that succeeded is kept, however many fail after it.
const TRIM = `
  DELETE FROM backup_run
   WHERE id NOT IN (SELECT id FROM backup_run ORDER BY ended_at DESC LIMIT ${BACKUP_RUNS_MAX_COUNT})
     AND id NOT IN (SELECT id FROM backup_run WHERE problem IS NULL ORDER BY ended_at DESC LIMIT 1)`;
const LATEST = (condition: string) => `
  SELECT started_at, ended_at, bytes::float8 AS bytes, rows::float8 AS rows, problem
    FROM backup_run WHERE ${condition} ORDER BY ended_at DESC LIMIT 1`;
const LAST = LATEST("problem IS NULL");
const FAILED = LATEST("problem IS NOT NULL");

type Row = Omit<BackupRun, "started_at" | "ended_at"> & { readonly started_at: Date; readonly ended_at: Date };

async function latest(pool: Queries, statement: string): Promise<BackupRun | null> {
  const { rows } = await pool.query<Row>(statement);
  const [row] = rows;
  if (row === undefined) return null;
  return { ...row, started_at: row.started_at.toISOString(), ended_at: row.ended_at.toISOString() };
}

/** Records a run of a backup, and keeps the newest BACKUP_RUNS_MAX_COUNT. @throws PostgreSQL's error, as before migration 0026 */
export async function recordBackup(pool: Queries, { started_at, ended_at, bytes, rows, problem }: BackupRun): Promise<void> {
  await pool.query(ADD, [started_at, ended_at, bytes, rows, problem?.slice(0, BACKUP_PROBLEM_MAX_CHARACTERS)]);
  await pool.query(TRIM);
}

/** The last backup that succeeded, and the last that failed if it is newer. */
export async function lastBackups(pool: Queries): Promise<Pick<HealthReport["backups"], "last" | "failed">> {
  const [last, failed] = await Promise.all([latest(pool, LAST), latest(pool, FAILED)]);
  return { last, failed: failed !== null && (last === null || last.ended_at < failed.ended_at) ? failed : null };
}
