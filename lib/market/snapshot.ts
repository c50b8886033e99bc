import type pg from "pg";
import { isFault } from "#lib/fault";

/** Begins a read-only transaction in which every query sees the database as of one moment. */
export const BEGIN_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/**
 * Runs `work` in a read-only transaction in which every query sees the database as of one moment.
 * @throws what `work` or the database throws
 */
export async function readSnapshot<Result>(
  pool: Pick<pg.Pool, "connect">,
  work: (client: pg.ClientBase) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query(BEGIN_SNAPSHOT);
    const result = await work(client);
    await client.query("COMMIT");
    client.release();
    return result;
  } catch (error) {
    // A refusal leaves the connection usable; after any other error its state is unknown, and it is closed.
    const isUsable =
      isFault(error) &&
      (await client.query("ROLLBACK").then(
        () => true,
        () => false,
      ));
    client.release(!isUsable);
    throw error;
  }
}
