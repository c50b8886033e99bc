import type pg from "pg";
import type { Timeframe } from "#lib/contract/primitives";
import { columnsOf, rowFrom } from "#lib/domain/columns";
import { FEED_LAYER, type Statements } from "#lib/domain/fold";
import type { Kline } from "#lib/domain/kline";
import { say } from "#lib/history/layers";
import { readRange } from "#lib/history/minutes";
import { periodOf } from "#lib/history/period";
import { createReader } from "#lib/history/reader";
import { type Segments, saidBy } from "#lib/segments/segments";

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

/** A text that two klines share if they have the same values. */
export const valuesOf = ({ open, high, low, close, tick_volume, real_volume, spread }: Kline) =>
  [open, high, low, close, tick_volume, real_volume, spread].join();

/** Klines of one series by time, without duplicates: the last one of a time wins. */
function distinct(klines: readonly Kline[]): Kline[] {
  let isAscending = true;
  for (const [index, { time }] of klines.entries())
    if (index > 0 && time <= (klines[index - 1] as Kline).time) isAscending = false;
  if (isAscending) return [...klines];
  return [...new Map(klines.map((kline) => [kline.time, kline])).values()].sort((a, b) => a.time - b.time);
}

/** Counts the klines of one series that a batch holds more than once. */
function countRepeats(klines: readonly Kline[]): Pick<BatchCounts, "repeated" | "conflicting"> {
  const seen = new Map<number, string>();
  const counts = { repeated: 0, conflicting: 0 };
  for (const kline of klines) {
    const values = valuesOf(kline);
    const before = seen.get(kline.time);
    if (before !== undefined) counts[before === values ? "repeated" : "conflicting"] += 1;
    seen.set(kline.time, values);
  }
  return counts;
}

/** What was stored of a series, and which klines of it would not show although they are stored. */
interface Before {
  readonly rows: Statements;
  isCovered(time: number): boolean;
}

const isSame = (rows: Statements, row: number, kline: Kline) =>
  rows.open[row] === kline.open &&
  rows.high[row] === kline.high &&
  rows.low[row] === kline.low &&
  rows.close[row] === kline.close &&
  rows.tickVolume[row] === kline.tick_volume &&
  Object.is(rows.realVolume[row], kline.real_volume ?? Number.NaN) &&
  Object.is(rows.spread[row], kline.spread ?? Number.NaN);

/** What becomes of klines without duplicates that layer `number` says. */
function count(klines: readonly Kline[], { rows, isCovered }: Before, number: number): BatchCounts {
  const counts: BatchCounts = { ...NO_KLINES };
  for (const kline of klines) {
    const row = rowFrom(rows.time, kline.time);
    const found = rows.time[row] === kline.time;
    const same = found && isSame(rows, row, kline);
    if (found && rows.layer[row] === number) counts[same ? "repeated" : "conflicting"] += 1;
    else if (isCovered(kline.time)) counts.covered += 1;
    else if (!found) counts.stored += 1;
    else counts[same ? "alreadyThere" : "overwritten"] += 1;
  }
  return counts;
}

/** The range of a series that klines cover, Unix seconds, `to` excluded. */
interface Range {
  readonly ticker: string;
  readonly timeframe: Timeframe;
  readonly from: number;
  readonly to: number;
}

/** @param klines ascending */
function rangeOf(klines: readonly Kline[]): Range | null {
  const [first, last] = [klines[0], klines.at(-1)];
  return first === undefined || last === undefined
    ? null
    : { ticker: first.ticker, timeframe: first.timeframe, from: first.time, to: last.time + 1 };
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
  if (range.timeframe === "M1") {
    const layers = [...rows.layer, ...struck.layer].filter((layer) => layer !== FEED_LAYER);
    const operators = layers.length === 0 ? new Set() : await operatorsAmong(client, [...layers, number]);
    // A later correction shows over an earlier one.
    if (operators.size === 0 || operators.has(number)) return { rows, isCovered: () => false };
    const corrected = new Set<number>();
    for (const { time, layer } of [rows, struck])
      for (const [row, at] of time.entries()) if (operators.has(layer[row] as number)) corrected.add(at);
    return { rows, isCovered: (time) => corrected.has(time) };
  }
  const { columns, imported } = await createReader(segments).read(client, {
    ...range,
    limit: Number.MAX_SAFE_INTEGER,
    end: "oldest",
  });
  const computed = new Set([...columns.time].filter((time) => !imported.has(time)));
  return { rows, isCovered: (time) => computed.has(time) };
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

/**
 * Stores klines of one series as a part of import `number`, in the caller's transaction, which must hold the lock of the ticker. The last one of a
 * time counts. M1 klines show over those of earlier imports and of the feed, not over corrections of operators; longer ones show
 * where no minutes of their interval are stored.
 * @param nowMs when they are stored, Unix milliseconds
 */
export async function storeBatch(
  client: pg.ClientBase,
  segments: Segments,
  number: number,
  klines: readonly Kline[],
  nowMs: number,
): Promise<BatchCounts> {
  const rows = distinct(klines);
  const range = rangeOf(rows);
  if (range === null) return { ...NO_KLINES };
  const before = await readBefore(client, segments, number, range);
  const counts = addCounts(count(rows, before, number), {
    ...NO_KLINES,
    ...countRepeats(rows.length === klines.length ? [] : klines),
  });
  await say(client, segments, range, saidBy(columnsOf(rows), number, nowMs));
  const { ticker, timeframe, from, to } = range;
  const { stored, alreadyThere, overwritten, covered } = counts;
  const series = [number, ticker, from, to - 1, stored, alreadyThere, overwritten];
  if (timeframe === "M1") await client.query(ADD_TO_SERIES, series);
  else await client.query(ADD_TO_LONGER, [...series, timeframe, covered]);
  return counts;
}

/** The layer of what a trial would store: higher than all imports. */
const TRIAL = 2_147_483_647;

/** The minutes that a trial has seen of one period, ascending, with a checksum of their values: a trial can be of millions. */
interface Seen {
  readonly time: Float64Array;
  readonly checksum: Float64Array;
}

const NOTHING_SEEN: Seen = { time: new Float64Array(0), checksum: new Float64Array(0) };

function checksumOf({ open, high, low, close, tick_volume, real_volume, spread }: Kline): number {
  let sum = 0;
  for (const value of [open, high, low, close, tick_volume, real_volume ?? -1, spread ?? -1]) sum = sum * 31.7 + value;
  return sum;
}

/** Adds klines, ascending; one that was seen replaces it. */
function see({ time, checksum }: Seen, klines: readonly Kline[]): Seen {
  const [times, sums]: [number[], number[]] = [[], []];
  let next = 0;
  const keepUntil = (end: number) => {
    for (; next < time.length && (time[next] as number) < end; next += 1) {
      times.push(time[next] as number);
      sums.push(checksum[next] as number);
    }
  };
  for (const kline of klines) {
    keepUntil(kline.time);
    if (time[next] === kline.time) next += 1;
    times.push(kline.time);
    sums.push(checksumOf(kline));
  }
  keepUntil(Number.POSITIVE_INFINITY);
  return { time: Float64Array.from(times), checksum: Float64Array.from(sums) };
}

/** Counts what storeBatch would do with the klines of an import. Its klines are compared with each other, too. */
export function createTrial(segments: Segments) {
  const seen = new Map<string, Seen>();
  return async (client: pg.ClientBase, klines: readonly Kline[]): Promise<BatchCounts> => {
    const rows = distinct(klines);
    const range = rangeOf(rows);
    if (range === null) return { ...NO_KLINES };
    const before = await readBefore(client, segments, TRIAL, range);
    let counts: BatchCounts = { ...NO_KLINES, ...countRepeats(rows.length === klines.length ? [] : klines) };
    for (let from = 0; from < rows.length; ) {
      const period = periodOf(range.timeframe, (rows[from] as Kline).time);
      const end = rows.findIndex(({ time }, index) => index >= from && time >= period.to);
      const part = rows.slice(from, end < 0 ? rows.length : end);
      from += part.length;
      const key = `${range.timeframe} ${range.ticker} ${period.from}`;
      const own = seen.get(key) ?? NOTHING_SEEN;
      const rowOf = ({ time }: Kline) => rowFrom(own.time, time);
      const isOwn = (kline: Kline) => own.time[rowOf(kline)] === kline.time;
      counts = addCounts(
        counts,
        count(
          part.filter((kline) => !isOwn(kline)),
          before,
          TRIAL,
        ),
      );
      for (const kline of part.filter(isOwn))
        counts[own.checksum[rowOf(kline)] === checksumOf(kline) ? "repeated" : "conflicting"] += 1;
      seen.set(key, see(own, part));
    }
    return counts;
  };
}
