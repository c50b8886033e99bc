import type { Pool } from "pg";
import { LATENCY_BANDS_COUNT } from "#lib/access/usage/latency-bands";
import type { UsageGrain } from "#lib/contract/portal";
import { GRAIN_MS } from "#server/store/usage/store";

/** The amount of usage of one account. */
interface UsageSeed {
  readonly accountId: string;
  readonly keys: number;
  /** Different (key, operation, code) in each bucket. */
  readonly combinations: number;
  /** Buckets of each grain, up to now. */
  readonly buckets: Readonly<Record<UsageGrain, number>>;
  readonly requests: number;
  readonly audited: number;
  readonly nowMs: number;
}

const KEYS = `
  INSERT INTO api_key (id, account_id, name, venue, scopes, origins, hash, prefix, last4, created_at)
  SELECT gen_random_uuid(), $1::uuid, 'key ' || n, 'live', '{market:read}', '{}', sha256(($1::uuid::text || n)::bytea), 'sw_live_xxxx', 'xxxx', now()
    FROM generate_series(1, $2::int) AS n RETURNING id`;

// Combination c has the key c modulo the number of keys, and a different operation and code in each round.
const CALLS = `
  INSERT INTO usage_bucket (account_id, grain, at, key_id, operation, code, calls, latency)
  SELECT $1::uuid, $2, to_timestamp($3::float8 - b * $4::float8), ($5::text[])[1 + c % cardinality($5)],
         (ARRAY['latestQuotes', 'klines', 'marketStatus'])[1 + (c / cardinality($5)) % 3],
         (ARRAY[0, 42901, 40401])[1 + (c / cardinality($5)) % 3], 10 + c, $6::bigint[]
    FROM generate_series(0, $7::int - 1) AS b, generate_series(0, $8::int - 1) AS c`;
const STREAMS = `
  INSERT INTO stream_usage_bucket (account_id, grain, at, key_id, connections, subscriptions, messages, merged)
  SELECT $1::uuid, $2, to_timestamp($3::float8 - b * $4::float8), ($5::text[])[1 + b % cardinality($5)], 1, 2, 300, 4
    FROM generate_series(0, $6::int - 1) AS b`;
const REQUESTS = `
  INSERT INTO request_log
    (account_id, at, key_id, request_id, operation, method, path, status, code, latency_us, address, origin, user_agent)
  SELECT $1::uuid, to_timestamp($2::float8 - ($3::int - n)), ($4::text[])[1 + n % cardinality($4)], $1::uuid::text || n, 'latestQuotes', 'GET',
         '/api/v1/market/quotes/latest?tickers=EURUSD&n=' || n, CASE WHEN n % 50 = 0 THEN 429 ELSE 200 END,
         CASE WHEN n % 50 = 0 THEN 42901 ELSE 0 END, 400 + n % 900, '203.0.113.7', NULL, 'curl/8.9.1'
    FROM generate_series(1, $3::int) AS n`;
const AUDITED = `
  INSERT INTO audit_entry (id, at, actor, account_id, action, target)
  SELECT gen_random_uuid(), to_timestamp($2::float8 - n * 60), 'a@example.com', $1, 'key.edit', n::text
    FROM generate_series(1, $3::int) AS n`;

/** Writes the usage data of such an account, and updates the statistics of the planner. */
export async function seedUsage(pool: Pick<Pool, "query">, seed: UsageSeed): Promise<void> {
  const { accountId, keys, combinations, buckets, requests, audited, nowMs } = seed;
  const { rows } = await pool.query<{ id: string }>(KEYS, [accountId, keys]);
  const ids = rows.map(({ id }) => id);
  const latency = Array.from({ length: LATENCY_BANDS_COUNT }, (_, band) => (band < 6 ? 5 : 0));
  for (const [grain, count] of Object.entries(buckets) as [UsageGrain, number][]) {
    const lengthMs = GRAIN_MS[grain];
    const place = [accountId, grain, (nowMs - (nowMs % lengthMs)) / 1_000, lengthMs / 1_000, ids];
    await pool.query(CALLS, [...place, latency, count, combinations]);
    await pool.query(STREAMS, [...place, count]);
  }
  await pool.query(REQUESTS, [accountId, nowMs / 1_000, requests, ids]);
  await pool.query(AUDITED, [accountId, nowMs / 1_000, audited]);
  await pool.query("ANALYZE usage_bucket, stream_usage_bucket, request_log, audit_entry, api_key");
}
