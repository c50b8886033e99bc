import type { Access } from "#lib/access/access";
import { toPortalKey } from "#lib/access/key-json";
import { EXPIRES_SOON_MS } from "#lib/access/key-record";
import { type KeyContext, listKeys } from "#lib/access/keys";
import { type PlanRow, toPlan } from "#lib/access/limits/plans";
import type { PlanLimits } from "#lib/contract/limits";
import type { Overview, PortalKey } from "#lib/contract/portal";
import type { Database } from "#lib/db";
import { DAY_MS } from "#lib/units";
import { usagePoints } from "./query";

const WEEK_DAYS = 7;

const DONE = `
  SELECT EXISTS (SELECT FROM api_key WHERE account_id = $1) AS key,
         EXISTS (SELECT FROM usage_bucket WHERE account_id = $1 AND grain = 'day' AND code = 0) AS call,
         EXISTS (SELECT FROM stream_usage_bucket WHERE account_id = $1 AND grain = 'day') AS stream`;
const PLAN = `
  SELECT p.name, p.rest_per_minute, p.rest_burst, p.stream_connections, p.subscriptions_per_connection,
         (SELECT email FROM portal_user WHERE account_id = a.id AND email_verified_at IS NULL) AS unverified_email,
         a.live_access OR p.live_access AS live_access
    FROM account a JOIN plan p ON p.name = a.plan WHERE a.id = $1`;

/** The overview of an account. */
export async function overview(
  context: KeyContext & { readonly db: Pick<Database, "pool">; readonly access: Pick<Access, "remaining"> },
  accountId: string,
): Promise<Overview> {
  const { db, clock, access } = context;
  const nowMs = clock.now();
  const toMs = nowMs - (nowMs % DAY_MS) + DAY_MS;
  const span = { grain: "day", fromMs: toMs - WEEK_DAYS * DAY_MS, toMs, keyId: null, operation: null } as const;
  const [done, plans, week, keys] = await Promise.all([
    db.pool.query<Overview["checklist"]>(DONE, [accountId]),
    db.pool.query<PlanRow & Pick<Overview, "unverified_email" | "live_access">>(PLAN, [accountId]),
    usagePoints(db.pool, accountId, span),
    listKeys(context, { accountId }),
  ]);
  const [row] = plans.rows;
  if (row === undefined) throw new Error(`account ${accountId} has no plan`);
  const plan: PlanLimits & { name: string } = toPlan(row);
  const { calls = 0, errors = 0, connections = 0 } = week.at(-1) ?? {};
  const { remaining } = await access.remaining(accountId, plan);
  const endOf = ({ expires_at, grace_until }: PortalKey) => Date.parse(grace_until ?? expires_at ?? "9999-01-01T00:00:00Z");
  const expiring = keys
    .map(toPortalKey)
    .filter((key) => (key.state === "active" || key.state === "grace") && endOf(key) < nowMs + EXPIRES_SOON_MS)
    .sort((a, b) => endOf(a) - endOf(b));
  return {
    unverified_email: row.unverified_email,
    live_access: row.live_access,
    checklist: done.rows[0] ?? { key: false, call: false, stream: false },
    today: { calls, errors, connections },
    limits: {
      plan: plan.name,
      rest_per_minute: plan.restPerMinute,
      rest_remaining: remaining,
      stream_connections: plan.streamConnections,
    },
    week,
    expiring,
  };
}
