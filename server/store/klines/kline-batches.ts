import type pg from "pg";
import {
  ascending,
  COLUMN_NAMES,
  columnsOf,
  cutColumns,
  haveSameRows,
  type KlineColumns,
  pickRows,
  rowFrom,
  SIDE_NAMES,
} from "#lib/domain/columns";
import { FEED_LAYER, type Statements } from "#lib/domain/fold";
import type { Kline } from "#lib/domain/kline";
import { periodOf } from "#lib/domain/period";
import { addStatements, type Series, saidWithin, say } from "#server/store/history/layers";
import { readRange } from "#server/store/history/minutes";
import { createReader } from "#server/store/history/reader";
import { type Segments, saidBy } from "#server/store/segments/segments";

/** What happened, or in a trial would happen, to the klines of an import. Each kline counts once. */
export interface BatchCounts {
  /** Not stored before. */
  stored: number;
  /** Stored before, with the same values. */
  alreadyThere: number;
  /** Stored before, with other values. */
  overwritten: number;
  /** Repeated in the import, with the same values. */
  repeated: number;
  /** Repeated in the import with other values: the last one counts. */
  conflicting: number;
  /** Kept, but not shown: minutes of its interval are stored or, of an M1 kline, an operator corrected the minute. */
  covered: number;
}

/** Klines of one series, in any order. */
export interface Part {
  readonly series: Series;
  readonly klines: KlineColumns;
}

/** Klines of one series, at least one, as a part. */
export function partOf(klines: readonly Kline[]): Part {
  const [{ ticker, timeframe }] = klines as readonly [Kline];
  return { series: { ticker, timeframe }, klines: columnsOf(klines) };
}

/** No klines. */
export const NO_KLINES: Readonly<BatchCounts> = {
  stored: 0,
  alreadyThere: 0,
  overwritten: 0,
  repeated: 0,
  conflicting: 0,
  covered: 0,
};

/** The sum of two counts. */
export function addCounts(a: BatchCounts, b: BatchCounts): BatchCounts {
  return {
    stored: a.stored + b.stored,
    alreadyThere: a.alreadyThere + b.alreadyThere,
    overwritten: a.overwritten + b.overwritten,
    repeated: a.repeated + b.repeated,
    conflicting: a.conflicting + b.conflicting,
    covered: a.covered + b.covered,
  };
}

/** Whether two rows have the same values; ask and mid prices are compared where both have them. */
export function isSame(a: KlineColumns, rowA: number, b: KlineColumns, rowB: number): boolean {
  for (const name of COLUMN_NAMES) if (!Object.is(a[name][rowA], b[name][rowB])) return false;
  for (const name of SIDE_NAMES) {
    const [one, other] = [a[name][rowA] ?? Number.NaN, b[name][rowB] ?? Number.NaN];
    if (one !== other && !Number.isNaN(one) && !Number.isNaN(other)) return false;
  }
  return true;
}

/** Klines of one series, ascending, without duplicates: the last one of a time wins. Counts the others. */
function distinct(klines: KlineColumns) {
  const sorted = ascending(klines);
  const { time } = sorted;
  const repeats = { repeated: 0, conflicting: 0 };
  let row = 1;
  while (row < time.length && time[row] !== time[row - 1]) row += 1;
  if (row >= time.length) return { rows: sorted, repeats };
  const last = [...time.keys()].filter((at) => {
    if (time[at] !== time[at + 1]) return true;
    repeats[isSame(sorted, at, sorted, at + 1) ? "repeated" : "conflicting"] += 1;
    return false;
  });
  return { rows: pickRows(sorted, last), repeats };
}

/** What was stored of a series, and which klines of it would not show although they are stored. */
interface Before {
  /** What shows. */
  readonly rows: Statements;
  /** What the import itself said before, whether it shows or not. */
  readonly own: Statements;
  /** Null where all would show. */
  readonly isCovered: ((time: number) => boolean) | null;
}

/** The row of a time; undefined where there is none. */
function rowAt({ time: times }: KlineColumns, time: number): number | undefined {
  const row = rowFrom(times, time);
  return times[row] === time ? row : undefined;
}

/** What becomes of klines without duplicates that an import says. */
function count(klines: KlineColumns, { rows, own, isCovered }: Before): BatchCounts {
  const counts: BatchCounts = { ...NO_KLINES };
  if (own.time.length === 0 && isCovered === null) {
    if (rows.time.length === 0) return { ...counts, stored: klines.time.length };
    if (haveSameRows(rows, klines)) return { ...counts, alreadyThere: klines.time.length };
  }
  for (const [at, time] of klines.time.entries()) {
    const [found, repeated] = [rowAt(rows, time), rowAt(own, time)];
    if (repeated !== undefined) counts[isSame(own, repeated, klines, at) ? "repeated" : "conflicting"] += 1;
    else if (isCovered?.(time)) counts.covered += 1;
    else if (found === undefined) counts.stored += 1;
    else counts[isSame(rows, found, klines, at) ? "alreadyThere" : "overwritten"] += 1;
  }
  return counts;
}

/** The range of a series that klines cover, Unix seconds, `to` excluded. */
interface Range extends Series {
  readonly from: number;
  readonly to: number;
}

/** @param klines ascending */
function rangeOf(series: Series, { time }: KlineColumns): Range | null {
  const [first, last] = [time[0], time.at(-1)];
  return first === undefined || last === undefined ? null : { ...series, from: first, to: last + 1 };
}

const BY_OPERATOR = "SELECT number FROM backfill WHERE by_operator AND number = ANY($1::integer[])";

/** Which of these layers are corrections of an operator. */
export async function operatorsAmong(client: pg.ClientBase, layers: Iterable<number>): Promise<ReadonlySet<number>> {
  const { rows } = await client.query<{ number: number }>(BY_OPERATOR, [[...new Set(layers)]]);
  return new Set(rows.map(({ number }) => number));
}

/** Reads what is stored where klines are to be stored. */
async function readBefore(client: pg.ClientBase, segments: Segments, number: number, range: Range): Promise<Before> {
  const { rows, struck } = await readRange(client, segments, range);
  const own = await saidWithin(client, segments, range, number, range);
  if (range.timeframe === "M1") {
    const layers = new Set(rows.layer);
    for (const layer of struck.layer) layers.add(layer);
    layers.delete(FEED_LAYER);
    const operators = layers.size === 0 ? new Set() : await operatorsAmong(client, [...layers, number]);
    // A later correction shows over an earlier one.
    if (operators.size === 0 || operators.has(number)) return { rows, own, isCovered: null };
    const corrected = new Set<number>();
    for (const { time, layer } of [rows, struck])
      for (const [row, at] of time.entries()) if (operators.has(layer[row] as number)) corrected.add(at);
    return { rows, own, isCovered: (time) => corrected.has(time) };
  }
  const { columns, imported } = await createReader(segments).read(client, {
    ...range,
    limit: Number.MAX_SAFE_INTEGER,
    end: "oldest",
  });
  const computed = new Set([...columns.time].filter((time) => !imported.has(time)));
  return { rows, own, isCovered: (time) => computed.has(time) };
}

const ADD_TO_SERIES = `INSERT INTO backfill_series AS s (batch, ticker, first, last, stored, already_there, overwritten)
  VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT (batch, ticker) DO UPDATE SET first = least(s.first, $3), last = greatest(s.last, $4),
    stored = s.stored + $5, already_there = s.already_there + $6, overwritten = s.overwritten + $7`;
const ADD_TO_LONGER = `INSERT INTO imported_series AS s
    (batch, ticker, first, last, stored, already_there, overwritten, timeframe, covered)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  ON CONFLICT (batch, ticker, timeframe) DO UPDATE SET first = least(s.first, $3), last = greatest(s.last, $4),
    stored = s.stored + $5, already_there = s.already_there + $6, overwritten = s.overwritten + $7, covered = s.covered + $9`;

/** Adds statements to a layer, in the caller's transaction. */
type Add = typeof addStatements | typeof say;

async function store(
  client: pg.ClientBase,
  segments: Segments,
  number: number,
  { series, klines }: Part,
  nowMs: number,
  add: Add,
): Promise<BatchCounts> {
  const { rows, repeats } = distinct(klines);
  const range = rangeOf(series, rows);
  if (range === null) return { ...NO_KLINES };
  const before = await readBefore(client, segments, number, range);
  const counts = addCounts(count(rows, before), { ...NO_KLINES, ...repeats });
  await add(client, segments, series, saidBy(rows, number, nowMs));
  const { ticker, timeframe, from, to } = range;
  const { stored, alreadyThere, overwritten, covered } = counts;
  const values = [number, ticker, from, to - 1, stored, alreadyThere, overwritten];
  if (timeframe === "M1") await client.query(ADD_TO_SERIES, values);
  else await client.query(ADD_TO_LONGER, [...values, timeframe, covered]);
  return counts;
}

/**
 * Stores klines of one series as a part of import `number` that does not show yet, in the caller's transaction, which must hold the lock
 * of the ticker. The last one of a time counts. Once the import shows (`switchImport`), M1 klines do over those of earlier imports and of
 * the feed, not over corrections of operators; longer ones where no minutes of their interval are stored.
 * @param nowMs when they are stored, Unix milliseconds
 * @returns what becomes of them then
 */
export function storeColumns(client: pg.ClientBase, segments: Segments, number: number, part: Part, nowMs: number) {
  return store(client, segments, number, part, nowMs, addStatements);
}

/** Stores klines of one series, at least one, as storeColumns does, and shows them. */
export function storeBatch(
  client: pg.ClientBase,
  segments: Segments,
  number: number,
  klines: readonly Kline[],
  nowMs: number,
): Promise<BatchCounts> {
  return store(client, segments, number, partOf(klines), nowMs, say);
}

/** The layer of what a trial would store: higher than all imports. */
const TRIAL = 2_147_483_647;

/** The minutes that a trial has seen of one period, ascending, with a checksum of their values: a trial can be of millions. */
interface Seen {
  readonly time: Float64Array;
  readonly checksum: Float64Array;
}

const NOTHING_SEEN: Seen = { time: new Float64Array(0), checksum: new Float64Array(0) };

function checksumOf(klines: KlineColumns, row: number): number {
  let sum = 0;
  for (const name of COLUMN_NAMES) {
    const value = klines[name][row] as number;
    if (name !== "time") sum = sum * 31.7 + (Number.isNaN(value) ? -1 : value);
  }
  return sum;
}

/** Adds klines, ascending; one that was seen replaces it. */
function see({ time, checksum }: Seen, klines: KlineColumns): Seen {
  const [times, sums]: [number[], number[]] = [[], []];
  let next = 0;
  const keepUntil = (end: number) => {
    for (; next < time.length && (time[next] as number) < end; next += 1) {
      times.push(time[next] as number);
      sums.push(checksum[next] as number);
    }
  };
  for (const [row, at] of klines.time.entries()) {
    keepUntil(at);
    if (time[next] === at) next += 1;
    times.push(at);
    sums.push(checksumOf(klines, row));
  }
  keepUntil(Number.POSITIVE_INFINITY);
  return { time: Float64Array.from(times), checksum: Float64Array.from(sums) };
}

/** Counts what storeColumns would do with the klines of an import. Its klines are compared with each other, too. */
export function createTrial(segments: Segments) {
  const seen = new Map<string, Seen>();
  return async (client: pg.ClientBase, { series, klines }: Part): Promise<BatchCounts> => {
    const { rows, repeats } = distinct(klines);
    const range = rangeOf(series, rows);
    if (range === null) return { ...NO_KLINES };
    const before = await readBefore(client, segments, TRIAL, range);
    let counts: BatchCounts = { ...NO_KLINES, ...repeats };
    for (let from = range.from; from < range.to; ) {
      const period = periodOf(series.timeframe, from);
      const part = cutColumns(rows, from, period.to);
      from = rows.time[rowFrom(rows.time, period.to)] ?? range.to;
      const key = `${series.timeframe} ${series.ticker} ${period.from}`;
      const own = seen.get(key) ?? NOTHING_SEEN;
      const others: number[] = [];
      for (const [row, time] of part.time.entries()) {
        const at = rowFrom(own.time, time);
        if (own.time[at] !== time) others.push(row);
        else counts[own.checksum[at] === checksumOf(part, row) ? "repeated" : "conflicting"] += 1;
      }
      counts = addCounts(counts, count(pickRows(part, others), before));
      seen.set(key, see(own, part));
    }
    return counts;
  };
}
