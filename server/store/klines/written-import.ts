import { randomUUID } from "node:crypto";
import type pg from "pg";

const BEGIN = `INSERT INTO backfill (id, venue, state, files, files_done, files_failed, file, step, share, rows, read_ms,
    started_at, updated_at, pushed_by, by_operator)
  VALUES ($1, 'live', 'done', 1, 1, 0, $2, '', 1, $3, 0, $4, $4, $5, $6) RETURNING number`;

interface WrittenImport {
  /** What operators see instead of a file. */
  readonly label: string;
  readonly rows: number;
  readonly nowMs: number;
  /** The key that pushes its klines. */
  readonly pushedBy?: string;
  /** True for a correction of an operator, which feeds and pushes do not replace. */
  readonly byOperator?: boolean;
}

/** Begins an import of klines that come from no file, in the caller's transaction. @returns its number */
export async function beginWritten(client: pg.ClientBase, written: WrittenImport): Promise<number> {
  const { label, rows, nowMs, pushedBy = null, byOperator = false } = written;
  const values = [randomUUID(), label, rows, new Date(nowMs), pushedBy, byOperator];
  const { rows: begun } = await client.query<{ number: number }>(BEGIN, values);
  return begun[0]?.number ?? 0;
}
