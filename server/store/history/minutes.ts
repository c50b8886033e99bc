import type { Timeframe } from "#lib/contract/primitives";
import { COLUMN_NAMES, cutColumns, emptyColumns, joinSides, klineAt } from "#lib/domain/columns";
import { FEED_LAYER, fold, RANKS, type Statements } from "#lib/domain/fold";
import type { Kline } from "#lib/domain/kline";
import { type Period, periodOf } from "#lib/domain/period";
import { SegmentMissing } from "#lib/storage-errors";
import type { Queries } from "#server/store/segments/segment-store";
import { type Segments, saidBy } from "#server/store/segments/segments";
import {
  foldSwitched,
  overFeed,
  periodsOf,
  type Series,
  saidOf,
  strikes,
  VISIBLE_ROW,
  type VisibleRow,
  visibleStatements,
} from "./layers";

/** How often a read is tried when a segment was swept between the row that names it and its bytes. */
const ATTEMPTS_COUNT = 3;

/** The values of a tail row in one column. */
export const TAIL_OF = "ARRAY[open, high, low, close, tick_volume, real_volume, spread]";
/** Periods and tail as of one moment: one statement is one snapshot. The first column of a tail row is its time. */
const READ = `SELECT ${VISIBLE_ROW}, NULL::float8[] AS tail FROM history_visible
    WHERE ticker = $1 AND timeframe = $2 AND start >= $3 AND start < $4
  UNION ALL SELECT time::float8, NULL, 0, 0, '{}', '{}', '{}', ${TAIL_OF} FROM kline_tail
    WHERE ticker = $1 AND $2 = 'M1' AND time >= $5 AND time < $4
  ORDER BY tail NULLS FIRST, start`;

/** What a layer said of periods, and the tail where it is the feed, as of one moment. Nothing of an import that was undone. */
const SAID = `SELECT s.start::float8, s.content, NULL::float8[] AS tail
    FROM history_layer s LEFT JOIN backfill b ON b.number = s.layer
    WHERE s.ticker = $1 AND s.timeframe = 'M1' AND s.layer = $2 AND s.start >= $3 AND s.start < $4 AND b.undone_at IS NULL
  UNION ALL SELECT time::float8, NULL, ${TAIL_OF} FROM kline_tail
    WHERE ticker = $1 AND $2 = ${FEED_LAYER} AND time >= $5 AND time < $4
  ORDER BY tail NULLS FIRST, start`;

/** A minute of the tail; `start` is its time. */
export interface TailRow {
  readonly start: number;
  readonly tail: readonly (number | null)[] | null;
}

type Row = VisibleRow & TailRow;

/** The feed's minutes that are in no layer yet. */
export function tailStatements(rows: readonly TailRow[]): Statements {
  const columns = emptyColumns(rows.length);
  const { open, high, low, close, tickVolume, realVolume, spread } = columns;
  for (const [at, { start, tail }] of rows.entries()) {
    columns.time[at] = start;
    for (const [index, column] of [open, high, low, close, tickVolume, realVolume, spread].entries())
      column[at] = tail?.[index] ?? Number.NaN;
  }
  return saidBy(columns, FEED_LAYER, Number.NaN);
}

/** What is stored of a series in a range, with what was taken out, as of one moment. */
interface StoredRange {
  /** What shows, with the layers that said it. Rows ascend by time, one for each. */
  readonly rows: Statements;
  readonly struck: { readonly time: Float64Array; readonly layer: Int32Array };
}

interface RangeQuery {
  readonly ticker: string;
  readonly timeframe: Timeframe;
  /** Unix seconds, `to` excluded. */
  readonly from: number;
  readonly to: number;
}

/** Statements in one, each part after the one before: joining them row by row would take ten times as long. */
function chain(parts: readonly Statements[]): Statements {
  const filled = parts.filter(({ time }) => time.length > 0);
  if (filled.length === 1) return filled[0] as Statements;
  const rows = filled.reduce((sum, { time }) => sum + time.length, 0);
  const chained = { ...saidBy(emptyColumns(rows), FEED_LAYER, Number.NaN), ...joinSides(filled, rows) };
  let at = 0;
  for (const part of filled) {
    for (const name of [...COLUMN_NAMES, "layer", "known"] as const) chained[name].set(part[name], at);
    at += part.time.length;
  }
  return chained;
}

/** The tail among the rows of a query, and the time from which on it counts. */
function tailOf(rows: readonly TailRow[], to: number): { readonly tail: Statements; readonly open: number } {
  const tail = tailStatements(rows.filter((row) => row.tail !== null).sort((a, b) => a.start - b.start));
  return { tail, open: tail.time[0] ?? to };
}

async function readOnce(client: Queries, segments: Segments, query: RangeQuery): Promise<StoredRange> {
  const { ticker, timeframe, from, to } = query;
  const { rows } = await client.query<Row>(READ, [ticker, timeframe, periodOf(timeframe, from).from, to, from]);
  const periods = rows.filter(({ tail }) => tail === null).sort((a, b) => a.start - b.start);
  const contents = await segments.read(
    client,
    periods.flatMap(({ content }) => content ?? []),
  );
  const shown = chain(
    periods.map((period) => visibleStatements({ ...period, struck: [], struck_by: [] }, contents.get(period.content ?? ""))),
  );
  const out = strikes(
    periods.flatMap(({ struck }) => struck),
    periods.flatMap(({ struck_by }) => struck_by),
    0,
  );
  // What is before the tail is folded already.
  const { tail, open } = tailOf(rows, to);
  const parts = [cutColumns(shown, open, to), cutColumns(out, open, to), tail];
  const { rows: late, struck } = fold(parts, overFeed);
  const early = cutColumns(out, from, open);
  return {
    rows: chain([cutColumns(shown, from, open), late]),
    struck: {
      time: Float64Array.from([...early.time, ...struck.time]),
      layer: Int32Array.from([...early.layer, ...struck.layer]),
    },
  };
}

/** Reads again when a segment was swept between the row that names it and its bytes, ATTEMPTS_COUNT times at most. */
export async function untilFound<Result>(read: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof SegmentMissing) || attempt === ATTEMPTS_COUNT) throw error;
    }
}

/**
 * Reads a range of a stored series: of M1, or of klines above M1 that were imported as such.
 * @throws SegmentMissing, SegmentDamaged; pg's error when the database is unavailable
 */
export function readRange(client: Queries, segments: Segments, query: RangeQuery): Promise<StoredRange> {
  return untilFound(() => readOnce(client, segments, query));
}

/**
 * Reads what a layer itself said of the minutes of a ticker in [from, to), Unix seconds, whether it shows or not: the last it said of
 * each minute, without those that it took out. Nothing of an import that was undone.
 * @throws SegmentMissing, SegmentDamaged; pg's error when the database is unavailable
 */
export function saidIn(client: Queries, segments: Segments, ticker: string, layer: number, range: Period): Promise<Statements> {
  const { from, to } = range;
  return untilFound(async () => {
    const values = [ticker, layer, periodOf("M1", from).from, to, from];
    const { rows } = await client.query<TailRow & { content: string | null }>(SAID, values);
    const names = rows.flatMap(({ content }) => content ?? []);
    const contents = await segments.read(client, names);
    const said = chain(names.flatMap((name) => contents.get(name) ?? []));
    const { tail, open } = tailOf(rows, to);
    const latest = (...parts: Statements[]) => fold(parts, () => RANKS.source).rows;
    return chain([latest(cutColumns(said, from, open)), latest(cutColumns(said, open, to), tail)]);
  });
}

const TAIL = `SELECT time::float8 AS start, ${TAIL_OF} AS tail FROM kline_tail WHERE ticker = $1 AND time >= $2 AND time < $3 ORDER BY time`;

/** The M1 klines of a ticker that a layer took out, as they would show without it, ascending. */
export async function struckKlines(client: Queries, segments: Segments, layer: number, ticker: string): Promise<Kline[]> {
  const klines: Kline[] = [];
  const series: Series = { ticker, timeframe: "M1" };
  for (const { start, first, last, ...period } of await periodsOf(client, layer)) {
    if (period.ticker !== ticker || period.timeframe !== "M1") continue;
    const said = await saidOf(client, segments, series, start, layer);
    const struck = new Set([...(said?.time ?? [])].filter((_, row) => Number.isNaN(said?.close[row])));
    const { rows: tail } = await client.query<TailRow>(TAIL, [ticker, first, last + 1]);
    const without = await foldSwitched(client, segments, series, start, { layer, counts: false });
    const { rows } = fold([without.rows, tailStatements(tail)], overFeed);
    for (const [row, time] of rows.time.entries()) if (struck.has(time)) klines.push(klineAt(rows, row, ticker, "M1"));
  }
  return klines;
}
