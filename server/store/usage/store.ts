import type { Pool } from "pg";
import type { CallCount } from "#lib/access/usage/counts";
import type { StreamCount } from "#lib/access/usage/stream-use";
import type { UsageGrain } from "#lib/contract/portal";
import { DAY_MS, HOUR_MS } from "#lib/units";

/** Length of each grain, milliseconds; buckets begin at multiples of it in UTC. */
export const GRAIN_MS: Readonly<Record<UsageGrain, number>> = { minute: 60_000, hour: HOUR_MS, day: DAY_MS };
/** The operation of streams in what is counted by month. */
const STREAM_OPERATION = "stream";
const GRAINS = Object.keys(GRAIN_MS) as UsageGrain[];

/** Added once for each count: the rows of its day, on the plan that the account has when they are written. */
const MONTHS = `
    FROM added LEFT JOIN account a ON a.id = account_id WHERE grain = 'day' GROUP BY 1, 2, 3, 4 ORDER BY 2, 1, 3, 4
  ON CONFLICT (account_id, month, plan, operation) DO UPDATE`;
const MONTH_AND_PLAN = "date_trunc('month', at, 'UTC')::date, account_id, coalesce(a.plan, '')";

// Sorted, so that two processes that write the same rows lock them in the same order and cannot deadlock.
const ADD_CALLS = `
  WITH added AS (
    SELECT *
      FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::int[], $7::bigint[], $8::text[], $9::bigint[])
        AS added(account_id, grain, at, key_id, operation, code, calls, latency, units)
  ), months AS (
    INSERT INTO month_usage AS m (month, account_id, plan, operation, calls, units)
    SELECT ${MONTH_AND_PLAN}, operation, sum(calls), sum(units) ${MONTHS}
      SET calls = m.calls + excluded.calls, units = m.units + excluded.units)
  INSERT INTO usage_bucket AS b (account_id, grain, at, key_id, operation, code, calls, latency, units)
  SELECT account_id, grain, at, key_id, operation, code, calls, latency::bigint[], units FROM added
   ORDER BY 1, 2, 3, 4, 5, 6
  ON CONFLICT (account_id, grain, at, key_id, operation, code) DO UPDATE
    SET calls = b.calls + excluded.calls, units = b.units + excluded.units,
        latency = ARRAY(SELECT coalesce(x, 0) + coalesce(y, 0) FROM unnest(b.latency, excluded.latency) AS bands(x, y))`;

const ADD_STREAMS = `
  WITH added AS (
    SELECT *
      FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[])
        AS added(account_id, grain, at, key_id, connections, subscriptions, messages, merged)
  ), months AS (
    INSERT INTO month_usage AS m (month, account_id, plan, operation, connections, messages)
    SELECT ${MONTH_AND_PLAN}, '${STREAM_OPERATION}', sum(connections), sum(messages) ${MONTHS}
      SET connections = m.connections + excluded.connections, messages = m.messages + excluded.messages)
  INSERT INTO stream_usage_bucket AS b (account_id, grain, at, key_id, connections, subscriptions, messages, merged)
  SELECT * FROM added
   ORDER BY 1, 2, 3, 4
  ON CONFLICT (account_id, grain, at, key_id) DO UPDATE
    SET connections = b.connections + excluded.connections, subscriptions = b.subscriptions + excluded.subscriptions,
        messages = b.messages + excluded.messages, merged = b.merged + excluded.merged`;

type Row<Count> = { grain: UsageGrain; at: Date; count: Count };

/** Repeats each count for every grain and merges counts of the same bucket, because one statement can update a row only once. */
function inGrains<Count extends { atMs: number }>(
  counts: readonly Count[],
  nameOf: (count: Count) => string,
  add: (sum: Count, count: Count) => void,
  copy: (count: Count) => Count,
): Row<Count>[] {
  const rows = new Map<string, Row<Count>>();
  for (const count of counts)
    for (const grain of GRAINS) {
      const atMs = count.atMs - (count.atMs % GRAIN_MS[grain]);
      const name = `${grain} ${atMs} ${nameOf(count)}`;
      const row = rows.get(name);
      if (row === undefined) rows.set(name, { grain, at: new Date(atMs), count: copy(count) });
      else add(row.count, count);
    }
  return [...rows.values()];
}

function addCalls(sum: CallCount, { calls, latency, units }: CallCount): void {
  sum.calls += calls;
  sum.units += units;
  for (const [band, count] of latency.entries()) sum.latency[band] = (sum.latency[band] ?? 0) + count;
}

function addStreams(sum: StreamCount, count: StreamCount): void {
  sum.connections += count.connections;
  sum.subscriptions += count.subscriptions;
  sum.messages += count.messages;
  sum.merged += count.merged;
}

/** Adds calls to their minute, hour, day and month, in one statement. @throws the error of pg; nothing is added then */
export async function writeCalls(pool: Pick<Pool, "query">, counts: readonly CallCount[]): Promise<void> {
  const nameOf = ({ keyId, operation, code }: CallCount) => `${keyId} ${operation} ${code}`;
  const rows = inGrains(counts, nameOf, addCalls, (count) => ({ ...count, latency: [...count.latency] }));
  if (rows.length === 0) return;
  await pool.query(ADD_CALLS, [
    rows.map(({ count }) => count.accountId),
    rows.map(({ grain }) => grain),
    rows.map(({ at }) => at),
    rows.map(({ count }) => count.keyId),
    rows.map(({ count }) => count.operation),
    rows.map(({ count }) => count.code),
    rows.map(({ count }) => count.calls),
    rows.map(({ count }) => `{${count.latency.join(",")}}`),
    rows.map(({ count }) => count.units),
  ]);
}

/** The same for streams. */
export async function writeStreams(pool: Pick<Pool, "query">, counts: readonly StreamCount[]): Promise<void> {
  const rows = inGrains(
    counts,
    ({ keyId }) => keyId,
    addStreams,
    (count) => ({ ...count }),
  );
  if (rows.length === 0) return;
  await pool.query(ADD_STREAMS, [
    rows.map(({ count }) => count.accountId),
    rows.map(({ grain }) => grain),
    rows.map(({ at }) => at),
    rows.map(({ count }) => count.keyId),
    rows.map(({ count }) => count.connections),
    rows.map(({ count }) => count.subscriptions),
    rows.map(({ count }) => count.messages),
    rows.map(({ count }) => count.merged),
  ]);
}
