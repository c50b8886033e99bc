import type pg from "pg";
import { HOUR_MS } from "#lib/units";
import { claimForSweep, type Queries } from "#server/store/segments/segment-store";
import type { Segments } from "#server/store/segments/segments";
import { inTransaction } from "./transaction";

/** A segment is written before the row that names it is committed: by no transaction as long before as this. */
const UNNAMED_MAX_MS = HOUR_MS;
/** Segments that one statement looks up. */
const PAGE_COUNT = 500;
/** Segments that are deleted while their locks are held, which is how long a writer of one may wait. */
const DROPPED_COUNT = 50;
/** How many pages one sweep walks. */
const PAGES_MAX_COUNT = 20;

/** What a sweep needs of the database. */
interface Swept {
  readonly pool: pg.Pool;
  readonly segments: Segments;
}

/** The tables whose rows name segments: what none of them names is deleted. */
export const NAMING_TABLES = ["history_layer", "history_visible", "history_derived", "tick_segment"] as const;

const UNNAMED = `SELECT id FROM unnest($1::text[]) AS id
  WHERE ${NAMING_TABLES.map((table) => `NOT EXISTS (SELECT FROM ${table} WHERE content = id)`).join(" AND ")}`;

/** Those of the segments that no row names. */
export async function unnamedOf(client: Queries, ids: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(UNNAMED, [ids]);
  return rows.map(({ id }) => id);
}

/** Deletes segments in a transaction that keeps others from writing them meanwhile. @returns how many */
function dropAll({ pool, segments }: Swept, ids: readonly string[], beforeMs: number): Promise<number> {
  return inTransaction(pool, async (client) => {
    // Rows that were committed before the lock was had are seen only by a statement that begins after it.
    const dropped = await unnamedOf(client, await claimForSweep(client, ids));
    await segments.store.drop(client, dropped, beforeMs);
    return dropped.length;
  });
}

/**
 * Deletes segments that no row names and that were written more than an hour ago: what a rolled back transaction, a replaced layer or a
 * killed process left. What a transaction is writing at the moment waits for the next sweep. It is safe to run beside writers, readers
 * and other sweeps, and to end it at any point.
 * @param nowMs Unix milliseconds
 * @param after where the sweep before this one ended
 * @returns how many it took out, and where it ended: "" at the end of all segments
 * @throws SegmentStoreAway; pg's error when the database is unavailable
 */
export async function sweepSegments(
  db: Swept,
  nowMs: number,
  after = "",
): Promise<{ readonly dropped: number; readonly after: string }> {
  const beforeMs = nowMs - UNNAMED_MAX_MS;
  let dropped = 0;
  let last = after;
  for (let page = 0; page < PAGES_MAX_COUNT; page += 1) {
    const listed = await db.segments.store.list(db.pool, { beforeMs, after: last, limit: PAGE_COUNT });
    const unnamed = await unnamedOf(db.pool, listed);
    for (let from = 0; from < unnamed.length; from += DROPPED_COUNT)
      dropped += await dropAll(db, unnamed.slice(from, from + DROPPED_COUNT), beforeMs);
    if (listed.length < PAGE_COUNT) return { dropped, after: "" };
    last = listed.at(-1) as string;
  }
  return { dropped, after: last };
}
