import type { Pool } from "pg";
import { z } from "zod";
import { csvCell } from "#lib/contract/csv";
import { ERRORS, errorDocsPath, errorOfCode } from "#lib/contract/errors";
import { SEARCH_MAX_CHARACTERS } from "#lib/contract/limits";
import { LOG_PAGE_MAX_ROWS, type RequestLogEntry } from "#lib/contract/portal";
import {
  LOG_EXPORT_MAX_ROWS,
  LOG_EXPORT_PART_MAX_ROWS,
  LOG_INTERVAL_S,
  LOG_INTERVALS_COUNT,
  type LogInterval,
} from "#lib/contract/portal-activity";
import { Fault } from "#lib/fault";
import { SECOND_MS } from "#lib/units";

const FILTER_MAX_CHARACTERS = 60;
const REQUEST_ID_MAX_CHARACTERS = 200;

const Filter = z.string().max(FILTER_MAX_CHARACTERS);

/** Filters of the request log. */
export const LogQuery = z.strictObject({
  /** `next_before` of the previous page. */
  before: z
    .string()
    .regex(/^\d{1,18}$/, "must be the `next_before` of the previous page.")
    .optional(),
  key_id: Filter.optional(),
  /** A status, a class of statuses, or the code of an error: 404, 4xx, 40401. */
  status: z
    .string()
    .regex(/^[1-5](\d\d|xx|\d{4})$/, "must be a status such as 404, a class such as 4xx, or the code of an error such as 40401.")
    .optional(),
  operation: Filter.optional(),
  /** Text contained in path, request id, address or origin. */
  q: z.string().trim().max(SEARCH_MAX_CHARACTERS).optional(),
});
export type LogQuery = z.infer<typeof LogQuery>;

/** One page of the log, newest first. */
interface LogPage {
  readonly items: RequestLogEntry[];
  /** Cursor of the next page; null at the end. */
  readonly next_before: string | null;
}

/** Why a request failed, and what to do about it. */
interface LogExplanation {
  readonly title: string;
  readonly cause: string;
  readonly fix: string;
  readonly docs_url: string;
}

const COLUMNS = `
  id, at, key_id, request_id, operation, method, path, status, code, latency_us, address, origin, user_agent, detail,
  cost, rate_limit AS "limit", rate_remaining AS remaining`;
// A search may read a whole log, and LIKE with the likely cases is several times faster than ILIKE.
const FILTERS = `
     ($3::text IS NULL OR key_id = $3) AND status BETWEEN $4 AND $5 AND ($8::int IS NULL OR code = $8) AND ($6::text IS NULL OR operation = $6)
     AND ($7::text[] IS NULL OR path LIKE ANY($7) OR request_id LIKE ANY($7) OR address LIKE ANY($7) OR origin LIKE ANY($7))`;
const PAGE = `
  SELECT ${COLUMNS} FROM request_log
   WHERE account_id = $1 AND id < $2 AND ${FILTERS}
   ORDER BY id DESC LIMIT `;
// A client can reuse a request id; the newest request counts.
const ONE = `SELECT ${COLUMNS} FROM request_log WHERE account_id = $1 AND request_id = $2 ORDER BY id DESC LIMIT 1`;
const HISTOGRAM = `
  SELECT floor(extract(epoch FROM at - $2) / ${LOG_INTERVAL_S})::int AS interval, count(*)::int AS calls,
         count(*) FILTER (WHERE status >= 400)::int AS errors
    FROM request_log WHERE account_id = $1 AND at >= $2 AND ${FILTERS} GROUP BY interval`;
const CSV_COLUMNS = [
  "at",
  "key_id",
  "request_id",
  "operation",
  "method",
  "path",
  "status",
  "code",
  "detail",
  "cost",
  "limit",
  "remaining",
  "latency_ms",
  "address",
  "origin",
  "user_agent",
] as const satisfies readonly (keyof RequestLogEntry)[];
const NEWEST = "9223372036854775807";

type Row = Omit<RequestLogEntry, "at" | "latency_ms"> & { at: Date; latency_us: number };

function toEntry({ at, latency_us, ...row }: Row): RequestLogEntry {
  return { ...row, at: at.toISOString(), latency_ms: latency_us / 1_000 };
}

/** Digits of the code of an error: those of its status, and two more. */
const CODE_DIGITS_COUNT = 5;
const codeOf = (status: string | undefined) => (status?.length === CODE_DIGITS_COUNT ? Number(status) : null);

function statusRange(status: string | undefined): [number, number] {
  if (status === undefined || codeOf(status) !== null) return [0, 999];
  return [Number(status.replace("xx", "00")), Number(status.replace("xx", "99"))];
}

/** LIKE patterns for a text anywhere: unchanged, in upper case (tickers) and in lower case. */
function patterns(text: string | undefined): string[] | null {
  if (!text) return null;
  const forms = new Set([text, text.toUpperCase(), text.toLowerCase()]);
  return [...forms].map((form) => `%${form.replace(/[\\%_]/g, "\\$&")}%`);
}

/** $3 to $8 of the filters. */
function filterValues({ key_id, status, operation, q }: LogQuery): unknown[] {
  return [key_id || null, ...statusRange(status), operation || null, patterns(q), codeOf(status)];
}

/** The requests that match the filters, by interval up to now, oldest first; empty intervals too. */
export async function requestHistogram(
  pool: Pick<Pool, "query">,
  accountId: string,
  query: LogQuery,
  nowMs: number,
): Promise<LogInterval[]> {
  const lengthMs = LOG_INTERVAL_S * SECOND_MS;
  const fromMs = nowMs - (nowMs % lengthMs) - (LOG_INTERVALS_COUNT - 1) * lengthMs;
  const values = [accountId, new Date(fromMs), ...filterValues(query)];
  const { rows } = await pool.query<{ interval: number; calls: number; errors: number }>(HISTOGRAM, values);
  return Array.from({ length: LOG_INTERVALS_COUNT }, (_, index) => {
    const { calls = 0, errors = 0 } = rows.find(({ interval }) => interval === index) ?? {};
    return { at: new Date(fromMs + index * lengthMs).toISOString(), calls, errors };
  });
}

/** One page of an account's log. */
export async function listRequests(
  pool: Pick<Pool, "query">,
  accountId: string,
  query: LogQuery,
  max = LOG_PAGE_MAX_ROWS,
): Promise<LogPage> {
  const { rows } = await pool.query<Row>(PAGE + (max + 1), [accountId, query.before ?? NEWEST, ...filterValues(query)]);
  const items = rows.slice(0, max).map(toEntry);
  return { items, next_before: rows.length > max ? (items.at(-1)?.id ?? null) : null };
}

const csvLine = (entry: RequestLogEntry) => `${CSV_COLUMNS.map((name) => csvCell(String(entry[name] ?? ""))).join(",")}\r\n`;

/**
 * The newest requests of an account that match the filters, as CSV (RFC 4180), newest first, in parts of at most
 * LOG_EXPORT_PART_MAX_ROWS: a path and a browser's name can make a row of kilobytes. The first part is read before this resolves.
 */
export async function requestsCsv(
  pool: Pick<Pool, "query">,
  accountId: string,
  query: LogQuery,
): Promise<AsyncGenerator<string, void>> {
  const read = (before: string | undefined, left: number) =>
    listRequests(pool, accountId, { ...query, before }, Math.min(left, LOG_EXPORT_PART_MAX_ROWS));
  const first = await read(query.before, LOG_EXPORT_MAX_ROWS);

  async function* parts() {
    yield `${CSV_COLUMNS.join(",")}\r\n`;
    let left = LOG_EXPORT_MAX_ROWS;
    for (let page = first; page.items.length > 0; page = await read(page.next_before, left)) {
      yield page.items.map(csvLine).join("");
      left -= page.items.length;
      if (page.next_before === null || left === 0) return;
    }
  }
  return parts();
}

/**
 * One request of an account by its id, with the reason of a failure, null for a success.
 * @param base address of the docs, without a trailing slash; empty for paths without a host
 * @throws Fault not_found, including for a request of another account
 */
export async function explainRequest(
  pool: Pick<Pool, "query">,
  accountId: string,
  requestId: string,
  base: string,
): Promise<{ entry: RequestLogEntry; explanation: LogExplanation | null }> {
  const { rows } = await pool.query<Row>(ONE, [accountId, requestId.slice(0, REQUEST_ID_MAX_CHARACTERS)]);
  const [row] = rows;
  if (row === undefined) throw new Fault("not_found", { detail: "Your request log has no request with this id." });
  const id = errorOfCode(row.code);
  if (id === undefined) return { entry: toEntry(row), explanation: null };
  const { title, cause, fix } = ERRORS[id];
  return { entry: toEntry(row), explanation: { title, cause, fix, docs_url: base + errorDocsPath(id) } };
}
