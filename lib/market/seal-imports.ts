import type pg from "pg";
import { longQuery } from "#lib/db";
import { forgetReplaced } from "./imported-klines";

/**
 * Deletes what imports replaced, in the caller's transaction; they cannot be undone since. Waits for an undo of them.
 * @param which SQL that selects their numbers; those undone or sealed before are skipped
 */
export async function sealImports(client: pg.ClientBase, which: string, values: readonly unknown[]): Promise<number[]> {
  // The row is locked before its klines go, because an undo that reads them holds the same lock.
  const seal = `UPDATE backfill SET sealed_at = clock_timestamp()
    WHERE number IN (${which}) AND undone_at IS NULL AND sealed_at IS NULL RETURNING number`;
  const { rows } = await client.query<{ number: number }>(seal, [...values]);
  const numbers = rows.map(({ number }) => number);
  if (numbers.length === 0) return numbers;
  await client.query(longQuery({ text: "DELETE FROM kline_previous WHERE batch = ANY($1)", values: [numbers] }));
  await forgetReplaced(client, numbers);
  return numbers;
}
