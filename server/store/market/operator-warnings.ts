import type { Pool } from "pg";
import type { Clock } from "#lib/clock";
import { type Check, serviceState } from "#lib/service-state";
import { MINUTE_MS } from "#lib/units";
import { lastBackups } from "./backup-runs";
import { readHealth } from "./health-history";
import { listNodes } from "./node-reports";

type Queries = Pick<Pool, "query">;

/** A problem that passes sooner is not told. */
export const WARNING_AFTER_MS = 3 * MINUTE_MS;
/** A problem that was not seen for so long is over. Until then it is the same, so that one that comes and goes is told once. */
const WARNING_OVER_AFTER_MS = 10 * MINUTE_MS;

const SEEN = `
  INSERT INTO operator_warning AS w (name, problem, since, seen_at)
  SELECT name, problem, $3, $3 FROM unnest($1::text[], $2::text[]) AS failing (name, problem)
  ON CONFLICT (name) DO UPDATE SET problem = excluded.problem, seen_at = greatest(w.seen_at, excluded.seen_at)`;
// Of several nodes, one gets each row. What is not wrong in this look may have passed.
const TELL = `
  UPDATE operator_warning SET told_at = $1 WHERE told_at IS NULL AND since <= $2 AND seen_at >= $1 RETURNING name, problem, since`;
const OVER = "DELETE FROM operator_warning WHERE seen_at <= $1 RETURNING name, problem, since, seen_at AS until, told_at";
const SINCE = "SELECT name, since FROM operator_warning";

/** A problem that operators are told of: it began, or it is over. */
export interface Warning {
  /** That of its check. */
  readonly name: string;
  readonly problem: string;
  readonly since: Date;
  /** When it was seen last; null while it lasts. */
  readonly until: Date | null;
}

/** What is wrong with the installation, as the database has it. @throws pg's error */
export async function failingChecks(pool: Queries, clock: Clock, maxBackupAgeS: number): Promise<readonly Check[]> {
  const atMs = clock.now();
  const [nodes, { checked: probe }, backups] = await Promise.all([listNodes(pool), readHealth(pool, atMs), lastBackups(pool)]);
  const { checks } = serviceState({ atMs, nodes, probe, backups: { ...backups, max_age_s: maxBackupAgeS } });
  return checks.filter(({ impact }) => impact !== null);
}

/**
 * Notes what is wrong, and takes what operators are to be told now: problems that have lasted for WARNING_AFTER_MS, and those told
 * before that are over. Every node may ask; each is told by one. @throws pg's error
 */
export async function takeWarnings(pool: Queries, nowMs: number, failing: readonly Check[]): Promise<Warning[]> {
  const names = failing.map(({ name }) => name);
  await pool.query(SEEN, [names, failing.map(({ problems }) => problems.join("; ")), new Date(nowMs)]);
  const over = await pool.query<Warning & { told_at: Date | null }>(OVER, [new Date(nowMs - WARNING_OVER_AFTER_MS)]);
  const begun = await pool.query<Warning>(TELL, [new Date(nowMs), new Date(nowMs - WARNING_AFTER_MS)]);
  return [
    ...begun.rows.map((row) => ({ ...row, until: null })),
    ...over.rows.flatMap(({ told_at, ...row }) => (told_at === null ? [] : [row])),
  ];
}

/** Since when each problem is known, by the name of its check. @throws pg's error */
export async function warningsSince(pool: Queries): Promise<Readonly<Record<string, string>>> {
  const { rows } = await pool.query<Pick<Warning, "name" | "since">>(SINCE);
  return Object.fromEntries(rows.map(({ name, since }) => [name, since.toISOString()]));
}
