import type pg from "pg";
import type { Database } from "#lib/db";
import { Fault } from "#lib/fault";
import { SECOND_MS } from "#lib/units";
import { readSnapshot } from "./snapshot";

/** Long enough to read a year of one ticker, shorter than the time limit of queries. */
const STATEMENT_MAX_MS = 8 * SECOND_MS;
/** Reads that wait for their turn; further ones are refused. */
const WAITING_MAX_COUNT = 20;
/** SQLSTATE of a query that the time limit ended. */
const QUERY_CANCELED = "57014";
const BUSY_RETRY_S = 5;

/**
 * The planner walks the key of klines in order, whatever its statistics say: between an import and the next ANALYZE it believes
 * a series to be one row.
 */
const SETTINGS = `SET LOCAL statement_timeout = ${STATEMENT_MAX_MS}; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;
  SET LOCAL enable_nestloop = off; SET LOCAL plan_cache_mode = force_custom_plan`;

/** Runs work on a connection. */
type Reader = <Result>(work: (client: pg.ClientBase) => Promise<Result>) => Promise<Result>;

/**
 * Reads of much history, one after the other, so that they take one connection and one processor at most.
 * @returns runs work in a read-only transaction; throws Fault service_unavailable when too many wait, or a query takes too long
 */
export function createDataReader({ pool }: Pick<Database, "pool">): Reader {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  async function read<Result>(work: (client: pg.ClientBase) => Promise<Result>): Promise<Result> {
    try {
      return await readSnapshot(pool, async (client) => {
        await client.query(SETTINGS);
        return work(client);
      });
    } catch (error) {
      if ((error as { code?: string }).code !== QUERY_CANCELED) throw error;
      throw new Fault("service_unavailable", {
        detail: `The database took longer than ${STATEMENT_MAX_MS / SECOND_MS} s to read this history.`,
        retry_after: BUSY_RETRY_S,
      });
    }
  }

  return async (work) => {
    if (waiting >= WAITING_MAX_COUNT)
      throw new Fault("service_unavailable", { detail: "Too many reads of history are waiting.", retry_after: BUSY_RETRY_S });
    waiting += 1;
    const turn = last.then(() => read(work));
    last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      waiting -= 1;
    }
  };
}

/** Unix seconds as ISO 8601. */
export function isoOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}

/** The instants at which a UTC year begins and ends, Unix seconds. */
export function yearSpan(year: number): { readonly from: number; readonly to: number } {
  return { from: Date.UTC(year, 0) / 1_000, to: Date.UTC(year + 1, 0) / 1_000 };
}

/** The UTC year of an instant in Unix seconds. */
export function yearOf(seconds: number): number {
  return new Date(seconds * 1_000).getUTCFullYear();
}

/**
 * Collects pages of a list until they took `budgetMs`, at least one.
 * @param next reads an item; null for one that is left out
 */
export async function withinBudget<Key, Item>(
  keys: readonly Key[],
  now: () => number,
  budgetMs: number,
  next: (key: Key) => Promise<Item | null>,
): Promise<{ items: Item[]; next_before: string | null }> {
  const endMs = now() + budgetMs;
  const items: Item[] = [];
  for (const [index, key] of keys.entries()) {
    const item = await next(key);
    if (item !== null) items.push(item);
    if (now() >= endMs && index + 1 < keys.length) return { items, next_before: String(key) };
  }
  return { items, next_before: null };
}
