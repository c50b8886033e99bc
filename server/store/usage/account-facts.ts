import { PLAN_COLUMNS, type Plan, type PlanRow, toPlan } from "#lib/access/limits/plans";
import type { Overview } from "#lib/contract/portal";
import { firstDay, monthEndMs, monthOf } from "#lib/domain/month";
import { LIVE_ASK_AGAIN_MS } from "#server/store/access/accounts";
import type { Database } from "#server/store/database/db";

const DONE = `
  SELECT EXISTS (SELECT FROM api_key WHERE account_id = $1) AS key,
         EXISTS (SELECT FROM usage_bucket WHERE account_id = $1 AND grain = 'day' AND code = 0) AS call,
         EXISTS (SELECT FROM stream_usage_bucket WHERE account_id = $1 AND grain = 'day') AS stream`;
const PLAN = `
  SELECT ${PLAN_COLUMNS},
         a.live_access OR p.live_access AS live_access,
         CASE WHEN NOT (a.live_access OR p.live_access) THEN a.live_asked_at END AS live_asked_at,
         CASE WHEN NOT (a.live_access OR p.live_access) THEN a.live_declined_at END AS live_declined_at,
         (SELECT coalesce(sum(units), 0)::float8 FROM month_usage WHERE account_id = a.id AND month = $2) AS month_used
    FROM account a JOIN plan p ON p.name = a.plan WHERE a.id = $1`;

/** What an account has done so far, and what it may do. */
interface AccountFacts extends Pick<Overview, "live_access" | "live_asked_at" | "live_declined" | "checklist"> {
  readonly plan: Plan;
  readonly month: Overview["month"];
}

interface LiveRow {
  readonly live_access: boolean;
  readonly live_asked_at: Date | null;
  readonly live_declined_at: Date | null;
}

/** What an account knows of its live access and of its request for it. */
function liveFacts({ live_access, live_asked_at, live_declined_at }: LiveRow) {
  return {
    live_access,
    live_asked_at: live_asked_at?.toISOString() ?? null,
    live_declined: live_declined_at && {
      at: live_declined_at.toISOString(),
      ask_again_at: new Date(live_declined_at.getTime() + LIVE_ASK_AGAIN_MS).toISOString(),
    },
  };
}

/** @throws Error for an account that does not exist */
export async function accountFacts({ pool }: Pick<Database, "pool">, accountId: string, nowMs: number): Promise<AccountFacts> {
  const month = monthOf(nowMs);
  const [done, plans] = await Promise.all([
    pool.query<Overview["checklist"]>(DONE, [accountId]),
    pool.query<PlanRow & LiveRow & { month_used: number }>(PLAN, [accountId, firstDay(month)]),
  ]);
  const [row] = plans.rows;
  if (row === undefined) throw new Error(`account ${accountId} has no plan`);
  const plan = toPlan(row);
  return {
    ...liveFacts(row),
    checklist: done.rows[0] ?? { key: false, call: false, stream: false },
    plan,
    month: {
      used: row.month_used,
      units: plan.monthUnits,
      hard: plan.monthHard,
      resets_at: new Date(monthEndMs(month)).toISOString(),
    },
  };
}
