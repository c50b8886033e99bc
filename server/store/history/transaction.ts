import type pg from "pg";

/** How often a transaction that collides with another is tried. */
const ATTEMPTS_COUNT = 3;
/** A server that does not answer sooner rolls back when it notices that the connection has ended. */
const ROLLBACK_MAX_MS = 1_000;
/** Unique violation and deadlock: two writers of the same rows cause these; a retry sees the rows of the other. */
const COLLISION_CODES = ["23505", "40P01"];

/**
 * A crash of the database may lose the last such transactions, newest first, but never a part of one. Once an
 * ordinary transaction that follows them is committed, all of them are stored.
 */
export const STORED_LATER = "BEGIN; SET LOCAL synchronous_commit = off";

/** Begins a read-only transaction in which every query sees the database as of one moment. */
export const BEGIN_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/** Ends a transaction without storing anything, and its connection, so that an unknown state never reaches the next user. */
export async function rollBack(client: pg.PoolClient): Promise<void> {
  // Its locks are free before the caller goes on: the server notices only later that a connection has ended.
  await client.query({ text: "ROLLBACK", query_timeout: ROLLBACK_MAX_MS } as pg.QueryConfig).catch(() => undefined);
  client.release(true);
}

/**
 * Runs `work` in a transaction, and retries it when it collides with another writer.
 * @throws what `work` or the database throws; then everything is rolled back
 */
export async function inTransaction<Result>(
  pool: Pick<pg.Pool, "connect">,
  work: (client: pg.PoolClient) => Promise<Result>,
  begin: "BEGIN" | typeof STORED_LATER | typeof BEGIN_SNAPSHOT = "BEGIN",
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    const client = await pool.connect();
    try {
      await client.query(begin);
      const result = await work(client);
      await client.query("COMMIT");
      client.release();
      return result;
    } catch (error) {
      await rollBack(client);
      const { code = "" } = error as { code?: string };
      if (attempt >= ATTEMPTS_COUNT || !COLLISION_CODES.includes(code)) throw error;
    }
  }
}
