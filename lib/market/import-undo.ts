import type pg from "pg";
import type { Clock } from "#lib/clock";
import type { Database } from "#lib/db";
import { Fault } from "#lib/fault";
import { lockBatch, lockTicker } from "./history-lock";
import { type RemovedSeries, removeImported } from "./imported-klines";
import { type BatchRange, removeBatch } from "./kline-batches";
import { inTransaction } from "./partitions";
import type { ChangedMinutes } from "./ports";
import { rebuildRange } from "./rebuild-range";

interface HistoryChange {
  readonly action: "history.undo" | "history.correct";
  readonly target: string;
  readonly before: unknown;
  readonly after?: unknown;
}

/** What stored history is changed with. */
export interface HistoryAdmin {
  readonly db: { readonly pool: Database["pool"]; readonly control: Pick<Database["control"], "publish"> };
  readonly clock: Clock;
  /** Writes the audit entry. It is part of the change's transaction: both are stored, or neither. */
  record(client: pg.ClientBase, change: HistoryChange): Promise<void>;
}

interface BatchRow {
  readonly undone: boolean;
  readonly sealed: boolean;
}

const BATCH = `SELECT undone_at IS NOT NULL AS undone, sealed_at IS NOT NULL AS sealed
  FROM backfill WHERE number = $1 FOR UPDATE`;
const SERIES = `SELECT ticker, 'M1' AS timeframe, first::float8 AS first, last::float8 AS last, stored::float8 AS removed,
    overwritten::float8 AS restored
  FROM backfill_series WHERE batch = $1 ORDER BY ticker`;
const TICKERS = `SELECT ticker FROM backfill_series WHERE batch = $1 UNION SELECT ticker FROM imported_series WHERE batch = $1
  ORDER BY ticker`;

/** Tells all running servers which minutes of which tickers changed; imported hours and days count by the minutes they span. */
export async function announceChanges(
  control: Pick<Database["control"], "publish">,
  series: readonly (ChangedMinutes & { readonly ticker: string })[],
): Promise<void> {
  const ranges = new Map<string, ChangedMinutes>();
  for (const { ticker, first, last, struck } of series) {
    const known = ranges.get(ticker) ?? { first, last };
    const range = { first: Math.min(first, known.first), last: Math.max(last, known.last) };
    ranges.set(ticker, { ...range, ...(struck !== undefined && { struck }) });
  }
  for (const [ticker, minutes] of ranges) await control.publish({ kind: "klines", venue: "live", ticker, minutes });
}

const refused = (detail: string) => new Fault("invalid_parameter", { parameter: "number", detail });

/** @throws Fault as undoImport */
async function lockedSeries(client: pg.ClientBase, number: number): Promise<RemovedSeries[]> {
  const { rows } = await client.query<BatchRow>(BATCH, [number]);
  const [batch] = rows;
  if (batch === undefined) throw new Fault("not_found", { detail: `There is no import ${number}.` });
  if (batch.undone) throw refused(`Import ${number} is already undone.`);
  if (batch.sealed) throw refused(`Import ${number} can no longer be undone: what it replaced was deleted.`);
  if (!(await lockBatch(client, number, "transaction"))) throw refused(`Import ${number} is still running. Stop it first.`);
  const { rows: tickers } = await client.query<Pick<BatchRange, "ticker">>(TICKERS, [number]);
  for (const { ticker } of tickers)
    if (!(await lockTicker(client, ticker, "transaction")))
      throw refused(`Another command is changing the history of ${ticker}. Try again when it has ended.`);
  return (await client.query<RemovedSeries>(SERIES, [number])).rows;
}

/**
 * Undoes an import: the stored klines are then what they would be if it had never run, whatever was stored since. Imports can
 * be undone in any order. It is one transaction, so that a crash leaves everything as before; then all running servers are
 * notified. Its files can be imported again.
 * @throws Fault not_found; invalid_parameter when it is undone already, runs, can no longer be undone, or when another command
 * changes the same history
 */
export async function undoImport({ db, clock, record }: HistoryAdmin, number: number): Promise<readonly RemovedSeries[]> {
  const nowMs = clock.now();
  const undone = await inTransaction(db.pool, async (client) => {
    const minutes = await lockedSeries(client, number);
    await removeBatch(client, number, minutes);
    const imported = await removeImported(client, number);
    for (const range of minutes) await rebuildRange(client, range, nowMs);
    const series = [...minutes, ...imported];
    await client.query("UPDATE backfill SET undone_at = $2 WHERE number = $1", [number, new Date(nowMs)]);
    await client.query("DELETE FROM import_job WHERE batches @> ARRAY[$1::integer]", [number]);
    await record(client, { action: "history.undo", target: String(number), before: { series } });
    return series;
  });
  await announceChanges(db.control, undone);
  return undone;
}
