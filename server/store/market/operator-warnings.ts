import type { Pool } from "pg";
import type { Clock } from "#lib/clock";
import type { NodeHealth } from "#lib/contract/portal-health";
import { type Check, partOf, serviceState } from "#lib/service-state";
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
// Operators are told once of a problem that comes and goes. It begins anew each time.
const BEGAN = `
  UPDATE operator_warning AS w SET began_at = coalesce(failing.began, w.began_at, $3)
    FROM unnest($1::text[], $2::timestamptz[]) AS failing (name, began) WHERE w.name = failing.name`;
const WELL = "UPDATE operator_warning SET began_at = NULL WHERE began_at IS NOT NULL AND name <> ALL ($1)";
// Of several nodes, one gets each row. What is not wrong in this look may have passed.
const TELL = `
  UPDATE operator_warning SET told_at = $1, since = coalesce(began_at, since)
   WHERE told_at IS NULL AND since <= $2 AND seen_at >= $1 RETURNING name, problem, since`;
const OVER = "DELETE FROM operator_warning WHERE seen_at <= $1 RETURNING name, problem, since, seen_at AS until, told_at";
const SINCE = "SELECT name, began_at FROM operator_warning WHERE began_at IS NOT NULL";

/** A problem that operators are told of: it began, or it is over. */
export interface Warning {
  /** That of its check. */
  readonly name: string;
  readonly problem: string;
  readonly since: Date;
  /** When it was seen last; null while it lasts. */
  readonly until: Date | null;
}

/** A check that fails, and since when as its venue says; null where only looks say it. */
interface Failing extends Pick<Check, "name" | "problems"> {
  readonly began: Date | null;
}

/** Since when a check of a venue fails: since its last fresh price, as the nodes that find it failing say. Null for other checks. */
function beganOf(name: string, nodes: readonly NodeHealth[]): Date | null {
  const part = partOf(name);
  if (part !== "live" && part !== "sandbox") return null;
  const times = nodes.flatMap(({ silent, checks, quiet_since_ms }) => (!silent && checks[name] && quiet_since_ms?.[part]) || []);
  return times.length === 0 ? null : new Date(Math.min(...times));
}

/** What is wrong with the installation, as the database has it. @throws pg's error */
export async function failingChecks(pool: Queries, clock: Clock, maxBackupAgeS: number): Promise<readonly Failing[]> {
  const atMs = clock.now();
  const [nodes, { checked: probe }, backups] = await Promise.all([listNodes(pool), readHealth(pool, atMs), lastBackups(pool)]);
  const { checks } = serviceState({ atMs, nodes, probe, backups: { ...backups, max_age_s: maxBackupAgeS } });
  return checks.flatMap(({ name, problems, impact }) => (impact === null ? [] : { name, problems, began: beganOf(name, nodes) }));
}

/**
 * Notes what is wrong, and takes what operators are to be told now: problems that have lasted for WARNING_AFTER_MS, and those told
 * before that are over. Every node may ask; each is told by one. @throws pg's error
 */
export async function takeWarnings(pool: Queries, nowMs: number, failing: readonly Failing[]): Promise<Warning[]> {
  const names = failing.map(({ name }) => name);
  const now = new Date(nowMs);
  await pool.query(SEEN, [names, failing.map(({ problems }) => problems.join("; ")), now]);
  await pool.query(BEGAN, [names, failing.map(({ began }) => began), now]);
  await pool.query(WELL, [names]);
  const over = await pool.query<Warning & { told_at: Date | null }>(OVER, [new Date(nowMs - WARNING_OVER_AFTER_MS)]);
  const begun = await pool.query<Warning>(TELL, [now, new Date(nowMs - WARNING_AFTER_MS)]);
  return [
    ...begun.rows.map((row) => ({ ...row, until: null })),
    ...over.rows.flatMap(({ told_at, ...row }) => (told_at === null ? [] : [row])),
  ];
}

/**
 * Since when each problem lasts, by the name of its check. What no look has seen yet is there where the nodes know its start.
 * @throws pg's error
 */
export async function warningsSince(pool: Queries, nodes: readonly NodeHealth[]): Promise<Readonly<Record<string, string>>> {
  const { rows } = await pool.query<{ name: string; began_at: Date }>(SINCE);
  const names = nodes.flatMap(({ checks }) => Object.keys(checks));
  const known = names.map((name) => [name, beganOf(name, nodes)] as const);
  const seen = rows.map(({ name, began_at }) => [name, began_at] as const);
  return Object.fromEntries([...seen, ...known].flatMap(([name, at]) => (at === null ? [] : [[name, at.toISOString()]])));
}
