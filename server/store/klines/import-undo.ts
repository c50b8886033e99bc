import type pg from "pg";
import type { Clock } from "#lib/clock";
import type { Timeframe } from "#lib/contract/primitives";
import { Fault } from "#lib/fault";
import type { ChangedMinutes } from "#lib/market/ports";
import type { Database } from "#server/store/database/db";
import { periodsOf, showAgain } from "#server/store/history/layers";
import { lockBatch, lockForChange } from "#server/store/history/lock";
import { ticksOfLayers } from "#server/store/history/tick-days";
import { inTransaction } from "#server/store/history/transaction";

interface HistoryChange {
  readonly action: "history.undo" | "history.redo" | "history.correct";
  readonly target: string;
  readonly before: unknown;
  readonly after?: unknown;
}

/** What stored history is changed with. */
export interface HistoryAdmin {
  readonly db: Pick<Database, "pool" | "segments"> & { readonly control: Pick<Database["control"], "publish"> };
  readonly clock: Clock;
  /** Writes the audit entry. It is part of the change's transaction: both are stored, or neither. */
  record(client: pg.ClientBase, change: HistoryChange): Promise<void>;
}

const BATCH = "SELECT undone_at IS NOT NULL AS undone FROM backfill WHERE number = $1 FOR UPDATE";
const SERIES = `SELECT ticker, 'M1' AS timeframe, first::float8 AS first, last::float8 AS last, stored::float8 AS removed,
    overwritten::float8 AS restored FROM backfill_series WHERE batch = $1
  UNION ALL SELECT ticker, timeframe, first::float8, last::float8, stored::float8, overwritten::float8 FROM imported_series WHERE batch = $1
  ORDER BY ticker, timeframe`;
const CHANGE = "INSERT INTO history_change (layer, undone, at) VALUES ($1, $2, $3)";

/**
 * What an undo removed of one series and restored, as the import counted it, or what a redo took back of that. Open times in Unix seconds,
 * both included.
 */
interface RemovedSeries {
  readonly ticker: string;
  readonly timeframe: Timeframe;
  readonly first: number;
  readonly last: number;
  readonly removed: number;
  readonly restored: number;
  /** Ticks that are kept of them. */
  readonly ticks: number;
}

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

/** Locks an import and the history of its tickers. @returns what it wrote @throws Fault as setUndone */
async function lockImport(client: pg.ClientBase, number: number, undone: boolean): Promise<readonly RemovedSeries[]> {
  const { rows } = await client.query<{ undone: boolean }>(BATCH, [number]);
  const [batch] = rows;
  if (batch === undefined) throw new Fault("not_found", { detail: `There is no import ${number}.` });
  if (batch.undone === undone) throw refused(`Import ${number} is ${undone ? "already undone" : "not undone"}.`);
  if (!(await lockBatch(client, number, "transaction"))) throw refused(`Import ${number} is still running. Stop it first.`);
  const { rows: series } = await client.query<Omit<RemovedSeries, "ticks">>(SERIES, [number]);
  for (const ticker of [...new Set(series.map((one) => one.ticker))].sort()) {
    const busy = await lockForChange(client, ticker, "transaction");
    if (busy !== null) throw refused(busy);
  }
  if (!undone && series.length > 0 && (await periodsOf(client, number)).length === 0)
    throw refused(`Import ${number} cannot be put back: none of its klines are kept.`);
  const kept = new Map((await ticksOfLayers(client, [number])).map(({ ticker, ticks }) => [ticker, ticks]));
  return series.map((one) => ({ ...one, ticks: one.timeframe === "M1" ? (kept.get(one.ticker) ?? 0) : 0 }));
}

async function setUndone(
  { db, clock, record }: HistoryAdmin,
  number: number,
  undone: boolean,
): Promise<readonly RemovedSeries[]> {
  const at = new Date(clock.now());
  const changed = await inTransaction(db.pool, async (client) => {
    const series = await lockImport(client, number, undone);
    await client.query("UPDATE backfill SET undone_at = $2 WHERE number = $1", [number, undone ? at : null]);
    await client.query(CHANGE, [number, undone, at]);
    await showAgain(client, db.segments, number);
    if (undone) await client.query("DELETE FROM import_job WHERE batches @> ARRAY[$1::integer]", [number]);
    await record(client, { action: undone ? "history.undo" : "history.redo", target: String(number), before: { series } });
    return series;
  });
  await announceChanges(db.control, changed);
  return changed;
}

/**
 * Undoes an import: the stored klines and ticks are then what they would be if it had never run, whatever was stored since. Imports can
 * be undone in any order and at any time. It is one transaction, so that a crash leaves everything as before; then all running servers are
 * notified. Its files can be imported again.
 * @throws Fault not_found; invalid_parameter when it is undone already, runs, or when another command changes the same history
 */
export function undoImport(admin: HistoryAdmin, number: number): Promise<readonly RemovedSeries[]> {
  return setUndone(admin, number, true);
}

/**
 * Puts an import back that was undone, as if it had never been undone.
 * @throws Fault as undoImport, when it is not undone, and when none of its klines are kept: a retention deletes them
 */
export function redoImport(admin: HistoryAdmin, number: number): Promise<readonly RemovedSeries[]> {
  return setUndone(admin, number, false);
}
