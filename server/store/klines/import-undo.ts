import type pg from "pg";
import type { Clock } from "#lib/clock";
import { type KlineColumns, rowFrom } from "#lib/domain/columns";
import type { Statements } from "#lib/domain/fold";
import { Fault } from "#lib/fault";
import type { ChangedMinutes } from "#lib/market/ports";
import type { Database } from "#server/store/database/db";
import { periodsOf, type Series, saidOf, show } from "#server/store/history/layers";
import { lockBatch, lockForChange } from "#server/store/history/lock";
import { readRange } from "#server/store/history/minutes";
import { createReader } from "#server/store/history/reader";
import { ticksOfLayers } from "#server/store/history/tick-days";
import { inTransaction } from "#server/store/history/transaction";
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

const IMPORT = "SELECT undone_at IS NOT NULL AS undone, pending FROM backfill WHERE number = $1";
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

/** Has all running servers read again what changed, with the commit of the caller's transaction. @returns as publishWith */
export function announceChanges(
  control: Announcer,
  client: pg.ClientBase,
  series: readonly (ChangedMinutes & { readonly ticker: string })[],
): Promise<() => Promise<void>> {
  const ranges = new Map<string, ChangedMinutes>();
  for (const { ticker, first, last, struck } of series) {
    const known = ranges.get(ticker) ?? { first, last };
    const range = { first: Math.min(first, known.first), last: Math.max(last, known.last) };
    ranges.set(ticker, { ...range, ...(struck !== undefined && { struck }) });
  }
  const messages = [...ranges].map(([ticker, minutes]) => ({ kind: "klines", venue: "live", ticker, minutes }) as const);
  return control.publishWith(client, messages);
}

/** The klines of a part of a series as clients see them, and which layers said those that are stored. */
interface Shown {
  readonly klines: KlineColumns;
  readonly stored: Statements;
}

/** A period that an import has, with its times. */
interface Part extends Series {
  readonly start: number;
  readonly times: Float64Array;
  readonly first: number;
  readonly last: number;
}

const NOTHING = { added: 0, removed: 0, changed: 0 };

/** Compares what shows at the times of a part before and after a change. */
function compare({ times }: Part, before: KlineColumns, after: KlineColumns): typeof NOTHING {
  const counts = { ...NOTHING };
  for (const time of times) {
    const [was, is] = [rowFrom(before.time, time), rowFrom(after.time, time)];
    const [had, has] = [before.time[was] === time, after.time[is] === time];
    if (had && has) counts.changed += isSame(before, was, after, is) ? 0 : 1;
    else if (has) counts.added += 1;
    else if (had) counts.removed += 1;
  }
  return counts;
}

/** The layers other than the import that show at the times of a part. */
function othersOf({ times }: Part, { stored }: Shown, number: number): number[] {
  const others = new Set<number>();
  for (const time of times) {
    const row = rowFrom(stored.time, time);
    if (stored.time[row] === time && stored.layer[row] !== number) others.add(stored.layer[row] as number);
  }
  return [...others];
}

/**
 * Makes an import count, or not count, in the caller's transaction, which must hold the locks of the import and of its tickers. What shows
 * is folded again; the row of the import is written at the end, because others report its progress meanwhile.
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
  const all = { limit: Number.MAX_SAFE_INTEGER, end: "oldest" } as const;
  const found = new Map<string, SwitchedSeries>();
  const kept = new Map((await ticksOfLayers(client, [number])).map(({ ticker, ticks }) => [ticker, ticks]));

  async function read({ ticker, timeframe, first, last }: Part): Promise<Shown> {
    const range = { ticker, timeframe, from: first, to: last + 1 };
    const { rows } = await readRange(client, segments, range);
    return { stored: rows, klines: timeframe === "M1" ? rows : (await reader.read(client, { ...range, ...all })).columns };
  }

  function add(part: Part, before: Shown, after: Shown): void {
    const { ticker, timeframe, first, last } = part;
    const key = `${ticker} ${timeframe}`;
    const ticks = timeframe === "M1" ? (kept.get(ticker) ?? 0) : 0;
    const known = found.get(key) ?? { ticker, timeframe, first, last, ...NOTHING, ticks, others: [] };
    const { added, removed, changed } = compare(part, before.klines, after.klines);
    const others = new Set([...known.others, ...othersOf(part, after, number)]);
    found.set(key, {
      ...known,
      first: Math.min(known.first, first),
      last: Math.max(known.last, last),
      added: known.added + added,
      removed: known.removed + removed,
      changed: known.changed + changed,
      others: [...others].sort((a, b) => a - b),
    });
  }

  const longer: { readonly part: Part; readonly before: Shown }[] = [];
  const minutes: Part[] = [];
  for (const period of await periodsOf(client, number)) {
    const said = await saidOf(client, segments, period, period.start, number);
    const part = { ...period, times: (said?.time ?? new Float64Array()).filter((time, row, times) => time !== times[row - 1]) };
    if (part.timeframe === "M1") minutes.push(part);
    else longer.push({ part, before: await read(part) });
  }
  for (const part of minutes) {
    const before = await read(part);
    await show(client, segments, part, part.start, { layer: number, counts });
    add(part, before, await read(part));
  }
  // Minutes of the same import can take the place of its longer klines.
  for (const { part } of longer) await show(client, segments, part, part.start, { layer: number, counts });
  for (const { part, before } of longer) add(part, before, await read(part));
  await client.query(SET, [number, counts ? null : at]);
  await client.query(CHANGE, [number, !counts, at]);
  const byName = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return [...found.values()].sort((a, b) => byName(a.ticker, b.ticker) || byName(a.timeframe, b.timeframe));
}

const refused = (detail: string) => new Fault("invalid_parameter", { parameter: "number", detail });

/** Locks an import and the history of its tickers. @returns whether it was still to be shown @throws Fault as setUndone */
async function lockImport(client: pg.ClientBase, number: number, undone: boolean): Promise<boolean> {
  const find = async () => (await client.query<{ undone: boolean; pending: boolean }>(IMPORT, [number])).rows[0];
  if ((await find()) === undefined) throw new Fault("not_found", { detail: `There is no import ${number}.` });
  if (!(await lockBatch(client, number, "transaction"))) throw refused(`Import ${number} is still running. Stop it first.`);
  const state = await find();
  const pending = state?.pending ?? false;
  if (pending && !undone)
    throw refused(`Import ${number} was not finished. Run its command again: it continues where it stopped.`);
  if (!pending && state?.undone === undone) throw refused(`Import ${number} is ${undone ? "already undone" : "not undone"}.`);
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
  const pending = await lockImport(client, number, undone);
  const series = await switchImport(client, db.segments, number, !undone, new Date(clock.now()));
  if (undone) await client.query(FORGET_FILES, [number]);
  // It never showed, and a part of it is not to be put back.
  if (pending) for (const text of DROP) await client.query(text, [number]);
  await record(client, { action: undone ? "history.undo" : "history.redo", target: String(number), before: { series } });
  return series;
}

async function setUndone(admin: HistoryAdmin, number: number, undone: boolean): Promise<readonly SwitchedSeries[]> {
  const { pool, control } = admin.db;
  const { series, tell } = await inTransaction(pool, async (client) => {
    const changed = await change(admin, client, number, undone);
    return { series: changed, tell: await announceChanges(control, client, changed) };
  });
  await tell();
  return series;
}

/**
 * Undoes an import: the stored klines and ticks are then what they would be if it had never run, whatever was stored since. Imports can
 * be undone in any order and at any time. It is one transaction, so that a crash leaves everything as before; then all running servers are
 * notified. Its files can be imported again. What an import that was not finished has stored is deleted.
 * @returns what shows otherwise since
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
    await client.query("ROLLBACK").finally(() => client.release());
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
