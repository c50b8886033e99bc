import type { Pool } from "pg";
import { KEY_USE_DAYS, type KeyUse } from "#lib/contract/portal-activity";
import { DAY_MS } from "#lib/units";

const CALLS = `
  SELECT key_id, at, sum(calls)::float8 AS calls FROM usage_bucket
   WHERE account_id = $1 AND grain = 'day' AND at >= $2 GROUP BY key_id, at`;

/** How much each key of an account was used on each of the last days; a key that was not used is left out. */
export async function keyUse(pool: Pick<Pool, "query">, accountId: string, nowMs: number): Promise<KeyUse[]> {
  const fromMs = nowMs - (nowMs % DAY_MS) - (KEY_USE_DAYS - 1) * DAY_MS;
  const { rows } = await pool.query<{ key_id: string; at: Date; calls: number }>(CALLS, [accountId, new Date(fromMs)]);
  const use = new Map<string, number[]>();
  for (const { key_id, at, calls } of rows) {
    const days = use.get(key_id) ?? Array.from({ length: KEY_USE_DAYS }, () => 0);
    const day = Math.round((at.getTime() - fromMs) / DAY_MS);
    if (day in days) days[day] = calls;
    use.set(key_id, days);
  }
  return [...use].map(([key_id, calls]) => ({ key_id, calls }));
}
