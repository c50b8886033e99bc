import { COLUMN_NAMES, type KlineColumns, pickRows, SIDE_NAMES } from "./columns";

/**
 * What sources said of the klines of one series, as columns. Rows ascend by time; a time can come several times, when a source
 * said something new of it. A row whose close is NaN says that there is no kline.
 */
export interface Statements extends KlineColumns {
  /** The number of the layer that said it; 0 is the feed. */
  readonly layer: Int32Array;
  /** When it was said, Unix milliseconds; NaN for the feed, whose klines are known when their interval ends. */
  readonly known: Float64Array;
}

/** The layer of what the venue's own feed made. */
export const FEED_LAYER = 0;

/**
 * How much a layer counts: the feed is below all others, because those were stored to replace it, and what an operator corrected
 * is above all, because nothing that comes later knows of the correction. Days that were computed from minutes before these were dropped
 * (`kept`) stand for their minutes, which show over imported days.
 */
export type RankOf = (layer: number) => number;
export const RANKS = { feed: 0, source: 1, operator: 2, kept: 3 } as const;

/** What shows of a series. */
export interface Folded {
  /** One row for each time that has a kline, with the layer that said it. */
  readonly rows: Statements;
  /** Times that a layer took out, and that nothing above it has, ascending, Unix seconds. */
  readonly struck: { readonly time: Float64Array; readonly layer: Int32Array };
}

const COLUMNS = [...COLUMN_NAMES, ...SIDE_NAMES, "known", "layer"] as const;

/** Copies rows of several statements, row `at[n]` of part `part[n]`, into new columns. */
function gather(parts: readonly Statements[], part: Uint32Array, at: Uint32Array, rows: number): Statements {
  const gathered: { [name: string]: Float64Array | Int32Array } = {};
  for (const name of COLUMNS) {
    const sources = parts.map((statements) => statements[name]);
    // Of ask and mid prices, columns are empty where none is known; what an empty column does not have becomes NaN.
    const length = sources.every((source) => source.length === 0) ? 0 : rows;
    const column = name === "layer" ? new Int32Array(length) : new Float64Array(length);
    for (let row = 0; row < length; row += 1)
      column[row] = (sources[part[row] as number] as Float64Array)[at[row] as number] as number;
    gathered[name] = column;
  }
  return gathered as unknown as Statements;
}

/** Statements in one, ordered by time; those of one time stay in the order of the parts. */
export function joinStatements(parts: readonly Statements[]): Statements {
  const filled = parts.filter(({ time }) => time.length > 0);
  if (filled.length === 1) return filled[0] as Statements;
  const rows = filled.reduce((sum, { time }) => sum + time.length, 0);
  const part = new Uint32Array(rows);
  const at = new Uint32Array(rows);
  const next = filled.map(() => 0);
  for (let row = 0; row < rows; row += 1) {
    let least = 0;
    let leastTime = Number.POSITIVE_INFINITY;
    for (const [index, { time }] of filled.entries()) {
      const candidate = time[next[index] as number];
      if (candidate !== undefined && candidate < leastTime) [least, leastTime] = [index, candidate];
    }
    part[row] = least;
    at[row] = next[least] as number;
    next[least] = (next[least] as number) + 1;
  }
  return gather(filled, part, at, rows);
}

/** Whether statement `b` counts more than `a`, both of one time; of equal ones the one that comes later. */
function counts(statements: Statements, a: number, b: number, rankOf: RankOf): boolean {
  const [layerA, layerB] = [statements.layer[a] as number, statements.layer[b] as number];
  const [rankA, rankB] = [rankOf(layerA), rankOf(layerB)];
  if (rankA !== rankB) return rankB > rankA;
  const [knownA, knownB] = [statements.known[a] as number, statements.known[b] as number];
  if (knownA !== knownB && !Number.isNaN(knownA) && !Number.isNaN(knownB)) return knownB > knownA;
  return layerB >= layerA;
}

/**
 * What shows of what sources said: of each time the statement of the layer with the highest rank; among these the latest; of those
 * of one instant the one of the highest layer. Where that statement takes the kline out, none shows. It is the only place of this rule.
 *
 * It is associative: the fold of folds is the fold of all, as long as strikes are kept.
 * @param parts what layers said, only those that count at the instant in question
 */
export function fold(parts: readonly Statements[], rankOf: RankOf): Folded {
  const all = joinStatements(parts);
  const { time, close } = all;
  const shown: number[] = [];
  const struck: number[] = [];
  for (let row = 0; row < time.length; ) {
    let best = row;
    let next = row + 1;
    for (; next < time.length && time[next] === time[row]; next += 1) if (counts(all, best, next, rankOf)) best = next;
    if (Number.isNaN(close[best])) struck.push(best);
    else shown.push(best);
    row = next;
  }
  const rows = shown.length === time.length ? all : pickRows(all, shown);
  const out = pickRows(all, struck);
  return { rows, struck: { time: out.time, layer: out.layer } };
}

/** The statements that were made at or before an instant, Unix milliseconds. The feed's are known when their interval has ended. */
export function knownAt(statements: Statements, atMs: number, endMsOf: (time: number) => number): Statements {
  const { time, known } = statements;
  const rows: number[] = [];
  for (let row = 0; row < time.length; row += 1) {
    const said = known[row] as number;
    if ((Number.isNaN(said) ? endMsOf(time[row] as number) : said) <= atMs) rows.push(row);
  }
  return rows.length === time.length ? statements : pickRows(statements, rows);
}
