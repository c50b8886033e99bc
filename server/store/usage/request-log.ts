import type { Pool } from "pg";
import { maskKeys } from "#lib/access/mask-keys";
import type { LoggedRequest } from "#lib/access/usage/usage";
import { REQUEST_LOG_MAX_ROWS } from "#lib/contract/portal";

/** Maximum number of requests that wait to be written, and the number of oldest ones dropped past it. */
const WAITING_MAX_COUNT = 20_000;
const DROPPED_AT_ONCE_COUNT = 1_000;
/** An account's log is trimmed to its maximum after this many new rows, and on each retention run. */
const TRIM_AFTER_COUNT = 10_000;
const PATH_MAX_CHARACTERS = 2_000;
const USER_AGENT_MAX_CHARACTERS = 200;
const ORIGIN_MAX_CHARACTERS = 300;
const DETAIL_MAX_CHARACTERS = 500;

/** Requests waiting to be written to the database. */
interface RequestLog {
  add(request: LoggedRequest): void;
  /** Takes up to `max` requests, oldest first; the caller writes them or gives them back. */
  take(max: number): LoggedRequest[];
  giveBack(requests: readonly LoggedRequest[]): void;
  /** Requests dropped since the last call of this function. */
  dropped(): number;
}

const cut = (text: string, max: number) => maskKeys(text).slice(0, max);

/** Makes an empty log. */
export function createRequestLog(waitingMax = WAITING_MAX_COUNT): RequestLog {
  let waiting: LoggedRequest[] = [];
  let dropped = 0;

  function keepBound(room: number): void {
    const excess = waiting.length - waitingMax;
    if (excess <= 0) return;
    const gone = Math.min(excess + room, waiting.length);
    waiting.splice(0, gone);
    dropped += gone;
  }

  return {
    add(request) {
      waiting.push({
        ...request,
        requestId: maskKeys(request.requestId),
        path: cut(request.path, PATH_MAX_CHARACTERS),
        origin: request.origin && cut(request.origin, ORIGIN_MAX_CHARACTERS),
        userAgent: cut(request.userAgent, USER_AGENT_MAX_CHARACTERS),
        detail: request.detail && cut(request.detail, DETAIL_MAX_CHARACTERS),
      });
      // Drops several at once, because shifting the array for each request is expensive.
      keepBound(Math.min(DROPPED_AT_ONCE_COUNT, waitingMax) - 1);
    },
    take: (max) => waiting.splice(0, max),
    giveBack(requests) {
      waiting = [...requests, ...waiting];
      keepBound(0);
    },
    dropped() {
      const count = dropped;
      dropped = 0;
      return count;
    },
  };
}

const WRITE = `
  INSERT INTO request_log
    (account_id, at, key_id, request_id, operation, method, path, status, code, latency_us, address, origin, user_agent, detail,
     cost, rate_limit, rate_remaining)
  SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[],
                       $9::int[], $10::int[], $11::text[], $12::text[], $13::text[], $14::text[],
                       $15::int[], $16::int[], $17::int[])`;

const TRIM = `
  DELETE FROM request_log
   WHERE account_id = $1
     AND id <= (SELECT id FROM request_log WHERE account_id = $1 ORDER BY id DESC OFFSET $2 LIMIT 1)`;

/** Writes requests and keeps each account's log within its maximum. */
interface RequestLogStore {
  /** @throws the error of pg; no request is written then */
  write(requests: readonly LoggedRequest[]): Promise<void>;
  /** Trims logs to their maximum: those that grew by 10 % of it since the last trim, or all that grew. */
  trim(which: "grown" | "all"): Promise<void>;
}

/** Makes a writer for a database. */
export function createRequestLogStore(pool: Pick<Pool, "query">, maxRows = REQUEST_LOG_MAX_ROWS): RequestLogStore {
  /** Rows written for each account since its log was trimmed. */
  const grown = new Map<string, number>();

  return {
    async write(requests) {
      if (requests.length === 0) return;
      await pool.query(WRITE, [
        requests.map(({ accountId }) => accountId),
        requests.map(({ atMs }) => new Date(atMs)),
        requests.map(({ keyId }) => keyId),
        requests.map(({ requestId }) => requestId),
        requests.map(({ operation }) => operation),
        requests.map(({ method }) => method),
        requests.map(({ path }) => path),
        requests.map(({ status }) => status),
        requests.map(({ code }) => code),
        requests.map(({ latencyMs }) => Math.round(latencyMs * 1_000)),
        requests.map(({ address }) => address),
        requests.map(({ origin }) => origin),
        requests.map(({ userAgent }) => userAgent),
        requests.map(({ detail }) => detail),
        requests.map(({ cost }) => cost),
        requests.map(({ limit }) => limit),
        requests.map(({ remaining }) => remaining),
      ]);
      for (const { accountId } of requests) grown.set(accountId, (grown.get(accountId) ?? 0) + 1);
    },
    async trim(which) {
      for (const [accountId, rows] of grown) {
        if (which === "grown" && rows < TRIM_AFTER_COUNT) continue;
        await pool.query(TRIM, [accountId, maxRows]);
        grown.delete(accountId);
      }
    },
  };
}
