import type { Pool } from "pg";
import { latencyQuantile } from "#lib/access/usage/latency-bands";
import { csvCell } from "#lib/contract/csv";
import { Fault } from "#lib/fault";
import { CALLS_OF_SPAN, STREAMS_OF_SPAN, spanValues, type UsageSpan } from "./query";

/** Maximum number of rows of a file; a larger one requires a shorter period or a filter. */
const ROWS_MAX_COUNT = 50_000;
const HEAD = "at,key_id,key,operation,code,calls,p50_ms,p95_ms,connections,subscriptions,messages,merged,units";

const ROWS = `
  SELECT used.*, key.name FROM (
      SELECT at, key_id, operation, code, calls::float8 AS calls, latency::float8[] AS latency,
             NULL::float8 AS connections, NULL::float8 AS subscriptions, NULL::float8 AS messages, NULL::float8 AS merged,
             units::float8 AS units
        FROM usage_bucket WHERE ${CALLS_OF_SPAN}
      UNION ALL
      SELECT at, key_id, 'stream', NULL, NULL, NULL,
             connections::float8, subscriptions::float8, messages::float8, merged::float8, NULL
        FROM stream_usage_bucket WHERE ${STREAMS_OF_SPAN}
    ) AS used LEFT JOIN api_key key ON key.id::text = used.key_id AND key.account_id = $1
   ORDER BY at, key_id, operation, code LIMIT ${ROWS_MAX_COUNT + 1}`;

interface Row {
  at: Date;
  key_id: string;
  name: string | null;
  operation: string;
  code: number | null;
  calls: number | null;
  latency: number[] | null;
  connections: number | null;
  subscriptions: number | null;
  messages: number | null;
  merged: number | null;
  units: number | null;
}

function lineOf({
  at,
  key_id,
  name,
  operation,
  code,
  calls,
  latency,
  connections,
  subscriptions,
  messages,
  merged,
  units,
}: Row): string {
  const quantile = (q: number) => (latency === null ? null : latencyQuantile(latency, q));
  const counts = [code, calls, quantile(0.5), quantile(0.95), connections, subscriptions, messages, merged, units];
  return [at.toISOString(), key_id, csvCell(name ?? ""), operation, ...counts.map((count) => count ?? "")].join(",");
}

/**
 * Usage in a period as CSV (RFC 4180): a line for each bucket, key, operation and code, and one for each bucket and key of
 * streams.
 * @throws Fault invalid_parameter for more than 50,000 lines
 */
export async function usageCsv(pool: Pick<Pool, "query">, accountId: string, span: UsageSpan): Promise<string> {
  const { rows } = await pool.query<Row>(ROWS, spanValues(accountId, span));
  if (rows.length > ROWS_MAX_COUNT)
    throw new Fault("invalid_parameter", {
      parameter: "grain",
      detail: `A file contains at most ${ROWS_MAX_COUNT} lines: choose a coarser grain, a shorter period or one key.`,
      max: ROWS_MAX_COUNT,
    });
  return `${[HEAD, ...rows.map(lineOf)].join("\r\n")}\r\n`;
}
