import type { Access } from "#lib/access/access";
import { EXPIRES_SOON_MS } from "#lib/access/key-record";
import { eachLimitField } from "#lib/contract/limits";
import type { Overview, PortalKey, PortalUser } from "#lib/contract/portal";
import { DAY_MS } from "#lib/units";
import type { KeyContext } from "#server/store/access/keys";
import type { Database } from "#server/store/database/db";
import { accountFacts } from "#server/store/usage/account-facts";
import { usagePoints } from "#server/store/usage/query";
import { keyToTry, shownKeys } from "./own-keys";

const WEEK_DAYS = 7;

/** The overview of an account. */
export async function overview(
  context: KeyContext & { readonly db: Pick<Database, "pool">; readonly access: Pick<Access, "remaining"> },
  { accountId, email, emailVerified }: Pick<PortalUser, "accountId" | "email" | "emailVerified">,
): Promise<Overview> {
  const { db, clock, access } = context;
  const nowMs = clock.now();
  const toMs = nowMs - (nowMs % DAY_MS) + DAY_MS;
  const span = { grain: "day", fromMs: toMs - WEEK_DAYS * DAY_MS, toMs, keyId: null, operation: null } as const;
  const [{ plan, ...facts }, week, keys] = await Promise.all([
    accountFacts(db, accountId, nowMs),
    usagePoints(db.pool, accountId, span),
    shownKeys(context, accountId),
  ]);
  const { calls = 0, errors = 0, connections = 0 } = week.at(-1) ?? {};
  const { remaining } = await access.remaining(accountId, plan);
  const endOf = ({ expires_at, grace_until }: PortalKey) => Date.parse(grace_until ?? expires_at ?? "9999-01-01T00:00:00Z");
  const valid = keys.filter(({ state }) => state === "active" || state === "grace");
  const expiring = valid.filter((key) => endOf(key) < nowMs + EXPIRES_SOON_MS).sort((a, b) => endOf(a) - endOf(b));
  return {
    unverified_email: emailVerified ? null : email,
    ...facts,
    key_to_try: {
      call: keyToTry(valid, "market:read")?.id ?? null,
      stream: keyToTry(valid, "market:stream")?.id ?? null,
    },
    today: { calls, errors, connections },
    limits: { plan: plan.name, ...eachLimitField((name) => plan[name]), rest_remaining: remaining },
    week,
    expiring,
  };
}
