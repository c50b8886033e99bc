import type { Pool } from "pg";
import type { Clock } from "#lib/clock";
import { MONTH_CLOSE_DELAY_S, MONTH_WARNING_PERCENTS } from "#lib/contract/limits";
import type { BillingSums, MonthDay, MonthReport } from "#lib/contract/portal-billing";
import { firstDay, type Month, monthAfter, monthEndMs, monthOf, monthStartMs } from "#lib/domain/month";
import { DAY_MS, SECOND_MS } from "#lib/units";
import { recipientsSql } from "#server/store/access/alert-recipients";

type Queries = Pick<Pool, "query">;

const UNITS = `
  SELECT account_id, sum(units)::float8 AS units FROM month_usage
   WHERE account_id = ANY($1::uuid[]) AND month = $2 GROUP BY account_id`;

/** The first month that is not closed, as a date: the one after the last that was, or the first that was counted. */
export const FIRST_OPEN = `
  coalesce((SELECT (max(month) + interval '1 month')::date FROM closed_month), (SELECT min(month) FROM month_usage))`;
const NEXT = `SELECT to_char(${FIRST_OPEN}, 'YYYY-MM') AS month`;
/** The name of the account of a row `u` of month_usage, which `a` is, if it was not deleted since. */
export const BILLED_NAME = `
  coalesce(a.name, (SELECT max(named.account) FROM month_usage named WHERE named.account_id = u.account_id), u.account_id::text)`;
/**
 * One statement, so that each row is in one of both tables at any time, and of two nodes one moves it: the other waits for its row of
 * closed_month, and then moves nothing. Usage that was written for a month after it was closed goes with the next one.
 */
const CLOSE = `
  WITH closing AS (
    INSERT INTO closed_month (month, closed_at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING month
  ), moved AS (
    DELETE FROM month_usage u USING closing WHERE u.month <= closing.month RETURNING u.*
  )
  INSERT INTO closed_month_usage (month, account_id, account, plan, operation, calls, units, connections, messages)
  SELECT closing.month, u.account_id, ${BILLED_NAME}, u.plan, u.operation,
         sum(u.calls), sum(u.units), sum(u.connections), sum(u.messages)
    FROM closing CROSS JOIN moved u LEFT JOIN account a ON a.id = u.account_id
   GROUP BY closing.month, u.account_id, a.name, u.plan, u.operation`;
const CLOSED_SINCE = `
  SELECT to_char(c.month, 'YYYY-MM') AS month, c.closed_at, count(DISTINCT u.account_id)::int AS accounts,
         coalesce(sum(u.calls), 0)::float8 AS calls, coalesce(sum(u.units), 0)::float8 AS units,
         coalesce(sum(u.connections), 0)::float8 AS connections, coalesce(sum(u.messages), 0)::float8 AS messages
    FROM closed_month c LEFT JOIN closed_month_usage u USING (month) WHERE c.closed_at >= $1 GROUP BY c.month ORDER BY c.month`;

// Each warning is taken by one of the nodes that ask. An account that passed several shares at once is told of the largest.
const WARN = `
  WITH due AS (
    SELECT a.id, a.name AS account, p.name AS plan, p.month_units, p.month_hard, used.units, percent
      FROM (SELECT account_id, sum(units) AS units FROM month_usage WHERE month = $1 GROUP BY account_id) AS used
      JOIN account a ON a.id = used.account_id JOIN plan p ON p.name = a.plan
      CROSS JOIN unnest($3::int[]) AS percent
     WHERE a.suspended_at IS NULL AND used.units * 100 >= p.month_units::bigint * percent
  ), taken AS (
    INSERT INTO month_warning (account_id, month, percent, at) SELECT id, $1, percent, $2 FROM due
    ON CONFLICT DO NOTHING RETURNING account_id, percent
  )
  SELECT DISTINCT ON (a.id) a.id AS account_id, due.account, due.plan, due.month_units, due.month_hard, due.units::float8,
         due.percent, ${recipientsSql("quota")} AS emails
    FROM taken JOIN due ON due.id = taken.account_id AND due.percent = taken.percent JOIN account a ON a.id = due.id
   ORDER BY a.id, due.percent DESC`;
const FORGET = "DELETE FROM month_warning WHERE month < $1";

const MONTH_FACTS = `
  SELECT a.created_at, p.month_units, p.month_hard FROM account a JOIN plan p ON p.name = a.plan WHERE a.id = $1`;
const DAYS = `
  SELECT at, sum(units)::float8 AS units FROM usage_bucket
   WHERE account_id = $1 AND grain = 'day' AND at >= $2 AND at < $3 GROUP BY at`;

/** A month that was closed, and what all accounts used of it. */
interface ClosedMonth extends BillingSums {
  readonly month: Month;
  readonly closed_at: Date;
  readonly accounts: number;
}

/** An account that used a share of its quota, and whom to tell. */
export interface MonthWarning {
  readonly account_id: string;
  readonly account: string;
  readonly plan: string;
  readonly month_units: number;
  readonly month_hard: boolean;
  readonly units: number;
  readonly percent: number;
  /** None for an account that nobody signs in to, or that switched the alert off. */
  readonly emails: readonly string[];
}

/** The units that accounts have used of an open month; none for an account that used none. */
export async function monthUnits(pool: Queries, month: Month, accountIds: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ account_id: string; units: number }>(UNITS, [accountIds, firstDay(month)]);
  return new Map(rows.map(({ account_id, units }) => [account_id, units]));
}

/** Closes each month that ended MONTH_CLOSE_DELAY_S ago or earlier, the oldest first. Every node may run it. @throws pg's error */
export async function closeMonths(pool: Queries, clock: Clock): Promise<void> {
  const { rows } = await pool.query<{ month: Month | null }>(NEXT);
  const nowMs = clock.now();
  const isOver = (month: Month) => monthEndMs(month) + MONTH_CLOSE_DELAY_S * SECOND_MS <= nowMs;
  for (let month = rows[0]?.month ?? null; month !== null && isOver(month); month = monthAfter(month))
    await pool.query(CLOSE, [firstDay(month), new Date(nowMs)]);
}

/** The months that were closed since, the oldest first. */
export async function closedSince(pool: Queries, since: Date): Promise<ClosedMonth[]> {
  return (await pool.query<ClosedMonth>(CLOSED_SINCE, [since])).rows;
}

/** Takes the warnings that are due in the current month, each once, however many nodes ask. @throws pg's error */
export async function takeMonthWarnings(pool: Queries, clock: Clock): Promise<MonthWarning[]> {
  const nowMs = clock.now();
  const month = firstDay(monthOf(nowMs));
  await pool.query(FORGET, [month]);
  const { rows } = await pool.query<MonthWarning>(WARN, [month, new Date(nowMs), MONTH_WARNING_PERCENTS]);
  return rows;
}

/** How an account used its units in a month, day by day; no days for a month that has not begun. @throws Error for an account that does not exist */
export async function monthReport(pool: Queries, accountId: string, month: Month, nowMs: number): Promise<MonthReport> {
  const [fromMs, toMs] = [monthStartMs(month), Math.min(monthEndMs(month), nowMs)];
  const [facts, days] = await Promise.all([
    pool.query<{ created_at: Date; month_units: number | null; month_hard: boolean }>(MONTH_FACTS, [accountId]),
    pool.query<{ at: Date; units: number }>(DAYS, [accountId, new Date(fromMs), new Date(toMs)]),
  ]);
  const [account] = facts.rows;
  if (account === undefined) throw new Error(`account ${accountId} has no plan`);
  const unitsAt = new Map(days.rows.map(({ at, units }) => [at.getTime(), units]));
  const items: MonthDay[] = [];
  let total = 0;
  for (let atMs = fromMs; atMs < toMs; atMs += DAY_MS) {
    const units = unitsAt.get(atMs) ?? 0;
    total += units;
    items.push({ at: new Date(atMs).toISOString(), units, total });
  }
  return {
    month,
    quota: account.month_units,
    hard: account.month_hard,
    first_month: monthOf(account.created_at.getTime()),
    current_month: monthOf(nowMs),
    items,
  };
}
