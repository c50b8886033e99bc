import type pg from "pg";
import type { Clock } from "#lib/clock";
import type { KlineColumns } from "#lib/domain/columns";
import type { Statements } from "#lib/domain/fold";
import { TIME_MAX_S } from "#lib/domain/period";
import { Fault } from "#lib/fault";
import type { ChangedMinutes } from "#lib/market/ports";
import type { Database } from "#server/store/database/db";
import { type LayerPeriod, periodsOf, type Series, saidOf, show } from "#server/store/history/layers";
import { lockBatch, lockForChange } from "#server/store/history/lock";
import { readRange } from "#server/store/history/minutes";
import { createReader } from "#server/store/history/reader";
import { ticksOfLayers } from "#server/store/history/tick-days";
import { inTransaction, rollBack } from "#server/store/history/transaction";
import type { Segments } from "#server/store/segments/segments";
import { isSame } from "./kline-batches";

interface HistoryChange {
  readonly action: "history.undo" | "history.redo" | "history.correct";
  readonly target: string;
  readonly before: unknown;
  readonly after?: unknown;
}

type Announcer = Pick<Database["control"], "publishWith">;

/** What stored history is changed with. */
export interface HistoryAdmin {
  readonly db: Pick<Database, "pool" | "segments"> & { readonly control: Announcer };
  readonly clock: Clock;
  /** Writes the audit entry. It is part of the change's transaction: both are stored, or neither. */
  record(client: pg.ClientBase, change: HistoryChange): Promise<void>;
}

const IMPORT = "SELECT undone_at IS NOT NULL AS undone, pending FROM backfill WHERE number = $1 FOR UPDATE";
const TICKERS = `SELECT DISTINCT ticker FROM (SELECT ticker FROM history_layer WHERE layer = $1
  UNION SELECT ticker FROM tick_segment WHERE layer = $1) said ORDER BY ticker`;
const WROTE = `SELECT EXISTS (SELECT FROM backfill_series WHERE batch = $1) OR EXISTS (SELECT FROM imported_series WHERE batch = $1) AS wrote`;
const SET = "UPDATE backfill SET undone_at = $2, pending = false WHERE number = $1";
const CHANGE = "INSERT INTO history_change (layer, undone, at) VALUES ($1, $2, $3)";
const FORGET_FILES = "DELETE FROM import_job WHERE batches @> ARRAY[$1::integer]";
const DROP = ["history_layer", "tick_segment"].map((table) => `DELETE FROM ${table} WHERE layer = $1`);

/** What became of a series when an import began or ceased to count. */
export interface SwitchedSeries extends Series {
  /** The first and the last open time that the import has, Unix seconds. */
  readonly first: number;
  readonly last: number;
  /** Klines that show now and did not before, that did and do not, and that show with other values. */
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  /** Ticks that the import has. */
  readonly ticks: number;
  /** The imports that show instead of it at some of its times, ascending; 0 is the feed. */
  readonly others: readonly number[];
}

/** Minutes of a ticker that changed. */
type ChangedSeries = ChangedMinutes & { readonly ticker: string };

/** Has all running servers read again what changed, with the commit of the caller's transaction. */
function announceChanges(control: Announcer, client: pg.ClientBase, series: readonly ChangedSeries[]): Promise<void> {
  const ranges = new Map<string, ChangedMinutes>();
  for (const { ticker, first, last, struck } of series) {
    const known = ranges.get(ticker) ?? { first, last };
    const range = { first: Math.min(first, known.first), last: Math.max(last, known.last) };
    ranges.set(ticker, { ...range, ...(struck !== undefined && { struck }) });
  }
  const messages = [...ranges].map(([ticker, minutes]) => ({ kind: "klines", venue: "live", ticker, minutes }) as const);
  return control.publishWith(client, messages);
}

/** Changes history in one transaction, and notifies all running servers of the series that `work` returns. @returns the same */
export function changeHistory<Changed extends ChangedSeries>(
  { pool, control }: Pick<HistoryAdmin["db"], "pool" | "control">,
  work: (client: pg.PoolClient) => Promise<readonly Changed[]>,
): Promise<readonly Changed[]> {
  return inTransaction(pool, async (client) => {
    const changed = await work(client);
    await announceChanges(control, client, changed);
    return changed;
  });
}

/**
 * Computes what long klines are read from, for which the first reader would have to wait. What cannot be computed now, that reader will
 * compute.
 */
export async function computeLonger(
  { pool, segments }: Pick<Database, "pool" | "segments">,
  series: readonly Series[],
): Promise<void> {
  const reader = createReader(segments, pool);
  const all = { timeframe: "D1", from: 0, to: TIME_MAX_S, limit: Number.MAX_SAFE_INTEGER, end: "oldest" } as const;
  for (const ticker of new Set(series.map((one) => one.ticker)))
    await reader.read(pool, { ticker, ...all }).catch(() => undefined);
}

const FILE = `SELECT content, rows, sources, EXISTS (SELECT FROM kline_tail WHERE ticker = $1 AND $2 = 'M1' AND time >= $4 AND time <= $5) AS open
  FROM history_visible WHERE ticker = $1 AND timeframe = $2 AND start = $3`;

/** What is stored of a period that shows, without reading it. */
interface ShownFile {
  readonly content: string | null;
  readonly rows: number;
  /** Pairs of a layer and the number of rows in a row that it said. */
  readonly sources: readonly number[];
  /** Whether minutes of it are in no file. */
  readonly open: boolean;
}

const NO_FILE: ShownFile = { content: null, rows: 0, sources: [], open: false };

const NOTHING = { added: 0, removed: 0, changed: 0 };

/** Rows of ascending times, asked for in this order. @returns the row of a time, or -1 */
function rowsOf({ time: times }: KlineColumns): (time: number) => number {
  let row = 0;
  return (time) => {
    while (row < times.length && (times[row] as number) < time) row += 1;
    return times[row] === time ? row : -1;
  };
}

/** What a change did to a period, and which layers other than the import show at its times. */
interface Change {
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  readonly others: ReadonlySet<number>;
}

/**
 * Compares what shows at the times of an import before and after a change.
 * @param times ascending
 * @param stored what is stored after it, with the layers that said it
 */
function compare(times: Float64Array, before: KlineColumns, after: KlineColumns, stored: Statements, number: number): Change {
  const counts = { ...NOTHING };
  const others = new Set<number>();
  const [rowBefore, rowAfter, rowStored] = [rowsOf(before), rowsOf(after), rowsOf(stored)];
  for (const [index, time] of times.entries()) {
    if (time === times[index - 1]) continue;
    const [was, is, kept] = [rowBefore(time), rowAfter(time), rowStored(time)];
    if (kept >= 0 && stored.layer[kept] !== number) others.add(stored.layer[kept] as number);
    if (was < 0) counts.added += is < 0 ? 0 : 1;
    else if (is < 0) counts.removed += 1;
    else if (!isSame(before, was, after, is)) counts.changed += 1;
  }
  return { ...counts, others };
}

/**
 * Makes an import count, or not count, in the caller's transaction, which must hold the locks of the import and of its tickers. Folds
 * again what shows. Writes the row of the import last: its lock would block reports of its progress.
 * @returns by ticker and timeframe, what that changed of what shows
 */
export async function switchImport(
  client: pg.ClientBase,
  segments: Segments,
  number: number,
  counts: boolean,
  at: Date,
): Promise<SwitchedSeries[]> {
  const reader = createReader(segments);
  const switched = { layer: number, counts };
  const all = { limit: Number.MAX_SAFE_INTEGER, end: "oldest" } as const;
  const found = new Map<string, SwitchedSeries>();
  const kept = new Map((await ticksOfLayers(client, [number])).map(({ ticker, ticks }) => [ticker, ticks]));

  const rangeOf = ({ ticker, timeframe, first, last }: LayerPeriod) => ({ ticker, timeframe, from: first, to: last + 1 });
  const klinesOf = async (period: LayerPeriod) => (await reader.read(client, { ...rangeOf(period), ...all })).columns;

  async function fileOf({ ticker, timeframe, start, first, last }: LayerPeriod): Promise<ShownFile> {
    return (await client.query<ShownFile>(FILE, [ticker, timeframe, start, first, last])).rows[0] ?? NO_FILE;
  }

  async function compared(period: LayerPeriod, before: KlineColumns): Promise<Change> {
    const said = await saidOf(client, segments, period, period.start, number);
    const { rows: stored } = await readRange(client, segments, rangeOf(period));
    const after = period.timeframe === "M1" ? stored : await klinesOf(period);
    return compare(said?.time ?? new Float64Array(), before, after, stored, number);
  }

  /** Shows a month of minutes again. It is read only where other layers say something of it, too. */
  async function switchMonth(period: LayerPeriod): Promise<Change> {
    const was = await fileOf(period);
    const open = was.open ? await klinesOf(period) : undefined;
    await show(client, segments, period, period.start, switched);
    const is = await fileOf(period);
    if (open === undefined && (was.content === null || is.content === null))
      return { added: is.rows, removed: was.rows, changed: 0, others: new Set() };
    const [source, rows] = is.sources;
    if (open === undefined && was.content === is.content && source === number && rows === is.rows)
      return { ...NOTHING, others: new Set() };
    const content = was.content ?? "";
    return compared(period, open ?? ((await segments.read(client, [content])).get(content) as Statements));
  }

  /** Adds what a change did to a period. */
  function add(period: LayerPeriod, { others, ...change }: Change): void {
    const { ticker, timeframe, first, last } = period;
    const key = `${ticker} ${timeframe}`;
    const ticks = timeframe === "M1" ? (kept.get(ticker) ?? 0) : 0;
    const known = found.get(key) ?? { ticker, timeframe, first, last, ...NOTHING, ticks, others: [] };
    found.set(key, {
      ...known,
      first: Math.min(known.first, first),
      last: Math.max(known.last, last),
      added: known.added + change.added,
      removed: known.removed + change.removed,
      changed: known.changed + change.changed,
      others: [...new Set([...known.others, ...others])].sort((a, b) => a - b),
    });
  }

  const periods = await periodsOf(client, number);
  const minutes = periods.filter(({ timeframe }) => timeframe === "M1");
  const longer: { readonly period: LayerPeriod; readonly before: KlineColumns }[] = [];
  for (const period of periods) if (period.timeframe !== "M1") longer.push({ period, before: await klinesOf(period) });
  for (const period of minutes) add(period, await switchMonth(period));
  // Minutes of the same import can take the place of its longer klines.
  for (const { period } of longer) await show(client, segments, period, period.start, switched);
  for (const { period, before } of longer) add(period, await compared(period, before));
  await client.query(SET, [number, counts ? null : at]);
  await client.query(CHANGE, [number, !counts, at]);
  const byName = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return [...found.values()].sort((a, b) => byName(a.ticker, b.ticker) || byName(a.timeframe, b.timeframe));
}

const refused = (detail: string) => new Fault("invalid_parameter", { parameter: "number", detail });

/** Locks an import and the history of its tickers. @returns whether it is pending @throws Fault as setUndone */
async function lockImport(client: pg.ClientBase, number: number, undone: boolean): Promise<boolean> {
  const { rows: found } = await client.query<{ undone: boolean; pending: boolean }>(IMPORT, [number]);
  const [state] = found;
  if (state === undefined) throw new Fault("not_found", { detail: `There is no import ${number}.` });
  const { pending } = state;
  if (!(await lockBatch(client, number, "transaction"))) throw refused(`Import ${number} is still running. Stop it first.`);
  if (pending && !undone)
    throw refused(`Import ${number} was not finished. Run its command again: it continues where it stopped.`);
  if (!pending && state.undone === undone) throw refused(`Import ${number} is ${undone ? "already undone" : "not undone"}.`);
  const { rows: tickers } = await client.query<{ ticker: string }>(TICKERS, [number]);
  for (const { ticker } of tickers) {
    const busy = await lockForChange(client, ticker, "transaction");
    if (busy !== null) throw refused(busy);
  }
  const { rows } = await client.query<{ wrote: boolean }>(WROTE, [number]);
  if (!undone && tickers.length === 0 && rows[0]?.wrote === true)
    throw refused(`Import ${number} cannot be put back: none of its klines are kept.`);
  return pending;
}

/** Undoes an import or puts it back, in the caller's transaction. */
async function change(
  { db, clock, record }: HistoryAdmin,
  client: pg.ClientBase,
  number: number,
  undone: boolean,
): Promise<SwitchedSeries[]> {
  // An import that is pending never showed, and a part of it is not to be put back.
  if (await lockImport(client, number, undone)) for (const text of DROP) await client.query(text, [number]);
  const series = await switchImport(client, db.segments, number, !undone, new Date(clock.now()));
  if (undone) await client.query(FORGET_FILES, [number]);
  await record(client, { action: undone ? "history.undo" : "history.redo", target: String(number), before: { series } });
  return series;
}

async function setUndone(admin: HistoryAdmin, number: number, undone: boolean): Promise<readonly SwitchedSeries[]> {
  const series = await changeHistory(admin.db, (client) => change(admin, client, number, undone));
  await computeLonger(admin.db, series);
  return series;
}

/**
 * Undoes an import: the stored klines and ticks are then what they would be if it had never run, whatever was stored since. Imports can
 * be undone in any order and at any time. It is one transaction, so that a crash leaves everything as before; then all running servers are
 * notified. Its files can be imported again. What an import that was not finished has stored is deleted.
 * @returns what shows otherwise since; nothing of an import of which nothing showed
 * @throws Fault not_found; invalid_parameter when it is undone already, runs, or when another command changes the same history
 */
export function undoImport(admin: HistoryAdmin, number: number): Promise<readonly SwitchedSeries[]> {
  return setUndone(admin, number, true);
}

/**
 * Puts an import back that was undone, as if it had never been undone.
 * @throws Fault as undoImport, when it is not undone, when it was not finished, and when none of its klines are kept: a retention deletes them
 */
export function redoImport(admin: HistoryAdmin, number: number): Promise<readonly SwitchedSeries[]> {
  return setUndone(admin, number, false);
}

/** What an undo or a redo would change, without doing it. @throws Fault as they do */
export async function tryUndone(admin: HistoryAdmin, number: number, undone: boolean): Promise<readonly SwitchedSeries[]> {
  const client = await admin.db.pool.connect();
  try {
    await client.query("BEGIN");
    return await change({ ...admin, record: async () => undefined }, client, number, undone);
  } finally {
    await rollBack(client);
  }
}

const ABANDONED = "SELECT number FROM backfill WHERE pending AND updated_at < $1 ORDER BY number";

/** Deletes what imports have stored that were not finished, and that nobody continued since an instant. @returns their numbers */
export async function dropAbandoned(admin: HistoryAdmin, before: Date): Promise<number[]> {
  const { rows } = await admin.db.pool.query<{ number: number }>(ABANDONED, [before]);
  const dropped: number[] = [];
  for (const { number } of rows)
    try {
      await undoImport(admin, number);
      dropped.push(number);
    } catch (error) {
      // It runs again, or its history is being changed: later.
      if (!(error instanceof Fault)) throw error;
    }
  return dropped;
}
