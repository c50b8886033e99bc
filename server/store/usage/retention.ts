import type { Pool } from "pg";
import type { Clock } from "#lib/clock";
import { AUDIT_RETENTION_S, REQUEST_LOG_RETENTION_S, USAGE_RETENTION_S, type UsageGrain } from "#lib/contract/portal";
import { FIRST_OPEN } from "./months";

/** Rows deleted per statement, so that a large backlog does not hold locks for long or exceed the query timeout. */
const BATCH_ROWS = 10_000;

const deleteOld = (table: string, where: string) => `
  DELETE FROM ${table} WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${table} WHERE ${where} LIMIT ${BATCH_ROWS}))`;

const OLD_LOG = deleteOld("request_log", "at < $1");
// Days are kept until their month is closed.
const OLD_USAGE = ["usage_bucket", "stream_usage_bucket"].map((table) =>
  deleteOld(
    table,
    `at < $1 AND grain = $2 AND (grain <> 'day' OR at < coalesce(${FIRST_OPEN}::timestamp AT TIME ZONE 'UTC', $1))`,
  ),
);

/** Deletes rows in batches. */
async function deleteAll(pool: Pick<Pool, "query">, statement: string, values: unknown[]): Promise<void> {
  for (;;) {
    const { rowCount } = await pool.query(statement, values);
    if ((rowCount ?? 0) < BATCH_ROWS) return;
  }
}

/** By the database's clock, as the trigger that keeps younger entries. */
const OLD_EVENTS = deleteOld("audit_entry", "at < now() - make_interval(secs => $1) AND action LIKE 'access.%'");
const OLD_CHANGES = deleteOld("audit_entry", "at < now() - make_interval(secs => $1)");

/** Deletes expired entries of the audit log. @throws the error of pg; completed deletions are kept */
export async function deleteExpiredEntries(pool: Pick<Pool, "query">): Promise<void> {
  await deleteAll(pool, OLD_EVENTS, [AUDIT_RETENTION_S.access]);
  await deleteAll(pool, OLD_CHANGES, [AUDIT_RETENTION_S.change]);
}

/** Deletes expired usage of each grain and expired requests. @throws the error of pg; completed deletions are kept */
export async function deleteExpiredUsage(pool: Pick<Pool, "query">, clock: Clock): Promise<void> {
  const ago = (seconds: number) => new Date(clock.now() - seconds * 1_000);
  for (const [grain, seconds] of Object.entries(USAGE_RETENTION_S) as [UsageGrain, number][])
    for (const statement of OLD_USAGE) await deleteAll(pool, statement, [ago(seconds), grain]);
  await deleteAll(pool, OLD_LOG, [ago(REQUEST_LOG_RETENTION_S)]);
}
