import type { Pool } from "pg";
import { csvCell } from "#lib/contract/csv";
import { BILLING_SUMS, type BillingItem, type BillingReport, type BillingSums } from "#lib/contract/portal-billing";
import { firstDay, type Month } from "#lib/domain/month";
import { BILLED_NAME, FIRST_OPEN } from "./months";

const CLOSED_AT = "SELECT closed_at FROM closed_month WHERE month = $1";
// Usage that was written after its month was closed belongs to the first open one.
const ROWS = `
  SELECT account_id, account, plan, operation, calls::float8, units::float8, connections::float8, messages::float8
    FROM closed_month_usage WHERE month = $1
  UNION ALL
  SELECT u.account_id, ${BILLED_NAME}, u.plan, u.operation,
         sum(u.calls)::float8, sum(u.units)::float8, sum(u.connections)::float8, sum(u.messages)::float8
    FROM month_usage u LEFT JOIN account a ON a.id = u.account_id
   WHERE greatest(u.month, ${FIRST_OPEN}) = $1 GROUP BY 1, 2, 3, 4
   ORDER BY 2, 1, 3, 6 DESC, 4`;

interface Row extends BillingSums {
  readonly account_id: string;
  readonly account: string;
  readonly plan: string;
  readonly operation: string;
}

const HEAD: readonly (keyof Row)[] = ["account_id", "account", "plan", "operation", ...BILLING_SUMS];

const sumOf = (rows: readonly BillingSums[]) =>
  Object.fromEntries(BILLING_SUMS.map((name) => [name, rows.reduce((sum, row) => sum + row[name], 0)])) as unknown as BillingSums;

function itemOf(rows: readonly [Row, ...Row[]]): BillingItem {
  const [{ account_id, account, plan }] = rows;
  const operations = rows.map(({ operation, calls, units }) => ({ operation, calls, units }));
  return { account_id, account, plan, ...sumOf(rows), operations };
}

async function readMonth(pool: Pick<Pool, "query">, month: Month) {
  const [closed, used] = await Promise.all([
    pool.query<{ closed_at: Date }>(CLOSED_AT, [firstDay(month)]),
    pool.query<Row>(ROWS, [firstDay(month)]),
  ]);
  return { closedAt: closed.rows[0]?.closed_at.toISOString() ?? null, rows: used.rows };
}

/** Usage of all accounts in a month, closed or open. */
export async function billingReport(pool: Pick<Pool, "query">, month: Month): Promise<BillingReport> {
  const { closedAt, rows } = await readMonth(pool, month);
  const groups = new Map<string, [Row, ...Row[]]>();
  for (const row of rows) {
    const name = `${row.account_id} ${row.plan}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [row]);
    else group.push(row);
  }
  const items = [...groups.values()].map(itemOf);
  return { month, closed_at: closedAt, total: sumOf(rows), items };
}

/** The same as CSV (RFC 4180): a line for each account, plan and operation. */
export async function billingCsv(pool: Pick<Pool, "query">, month: Month): Promise<string> {
  const { closedAt, rows } = await readMonth(pool, month);
  const lines = rows.map((row) => [month, closedAt ?? "", ...HEAD.map((name) => csvCell(String(row[name])))].join(","));
  return `${[["month", "closed_at", ...HEAD].join(","), ...lines].join("\r\n")}\r\n`;
}
