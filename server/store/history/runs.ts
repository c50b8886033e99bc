import { type Period, periodOf, TIME_MAX_S } from "#lib/domain/period";
import { MINUTE_S } from "#lib/units";
import type { Queries } from "#server/store/segments/segment-store";
import type { Segments } from "#server/store/segments/segments";
import { readRange } from "./minutes";

/** The months of a ticker, and then its tail without the last column, as of one moment. */
const MONTHS = `SELECT start::float8, rows, first::float8, last::float8 FROM history_visible
    WHERE ticker = $1 AND timeframe = 'M1' AND rows > 0
  UNION ALL SELECT NULL, 0, min(time)::float8, max(time)::float8 FROM kline_tail WHERE ticker = $1 HAVING min(time) IS NOT NULL
  ORDER BY start NULLS LAST`;
const EARLIER = `SELECT EXISTS (SELECT FROM history_visible WHERE ticker = ANY($1) AND timeframe = 'M1' AND first < $2)
  OR EXISTS (SELECT FROM kline_tail WHERE ticker = ANY($1) AND time < $2) AS earlier`;

/** The stored minutes of one UTC month, of which there is at least one; times in Unix seconds. */
export interface StoredMonth {
  readonly start: number;
  readonly rows: number;
  readonly first: number;
  readonly last: number;
}

/** Minutes by their open times, ascending, as runs without a missing one; Unix seconds, `to` excluded. */
export function runsOf(times: Iterable<number>): Period[] {
  const runs: { from: number; to: number }[] = [];
  let last: { from: number; to: number } | undefined;
  for (const time of times)
    if (last?.to === time) last.to = time + MINUTE_S;
    else {
      last = { from: time, to: time + MINUTE_S };
      runs.push(last);
    }
  return runs;
}

/** Months of ascending minutes. */
function monthsOf(times: Float64Array): StoredMonth[] {
  const months: StoredMonth[] = [];
  for (let row = 0; row < times.length; ) {
    const first = times[row] as number;
    const { from: start, to } = periodOf("M1", first);
    let end = row;
    while (end < times.length && (times[end] as number) < to) end += 1;
    months.push({ start, rows: end - row, first, last: times[end - 1] as number });
    row = end;
  }
  return months;
}

/** The months in which minutes of a ticker are stored, ascending. Reads no minutes, except in the months of the tail. */
export async function storedMonths(client: Queries, segments: Segments, ticker: string): Promise<StoredMonth[]> {
  const { rows } = await client.query<StoredMonth | { start: null; first: number; last: number }>(MONTHS, [ticker]);
  const months = rows.filter((row): row is StoredMonth => row.start !== null);
  const tail = rows.find(({ start }) => start === null);
  if (tail === undefined) return months;
  // A minute of the tail may be struck out, or replaced by one of the month.
  const open = { from: periodOf("M1", tail.first).from, to: periodOf("M1", tail.last).to };
  const { rows: minutes } = await readRange(client, segments, { ticker, timeframe: "M1", ...open });
  return [
    ...months.filter(({ start }) => start < open.from),
    ...monthsOf(minutes.time),
    ...months.filter(({ start }) => start >= open.to),
  ];
}

/** The months of all tickers, and their tails by months, as of one moment. */
const ALL_MONTHS = `SELECT ticker, start::float8, rows, first::float8, last::float8, floor(extract(epoch FROM changed_at))::float8 AS changed
    FROM history_visible WHERE timeframe = 'M1' AND rows > 0
  UNION ALL SELECT ticker, extract(epoch FROM date_trunc('month', to_timestamp(time), 'UTC'))::float8 AS start, count(*)::integer, min(time)::float8,
    max(time)::float8, max(time)::float8 FROM kline_tail GROUP BY ticker, start
  ORDER BY ticker, start`;

/** The stored minutes of one UTC month of a ticker; `changed` is when they last did, Unix seconds. */
interface TickerMonth extends StoredMonth {
  readonly ticker: string;
  readonly changed: number;
}

/**
 * The months in which minutes are stored, by ticker, ascending. Reads no segment, so a minute of the tail that is in its month too, or that was
 * taken out, counts as one more.
 */
export async function allMonths(client: Queries): Promise<TickerMonth[]> {
  const { rows } = await client.query<TickerMonth>(ALL_MONTHS);
  const months: TickerMonth[] = [];
  for (const row of rows) {
    const last = months.at(-1);
    if (last?.ticker === row.ticker && last.start === row.start)
      months[months.length - 1] = {
        ...row,
        rows: last.rows + row.rows,
        first: Math.min(last.first, row.first),
        last: Math.max(last.last, row.last),
        changed: Math.max(last.changed, row.changed),
      };
    else months.push(row);
  }
  return months;
}

/** The minutes since `from` (Unix seconds) in which any of these tickers has a kline, and whether there are any from before. */
export async function minutesSince(client: Queries, segments: Segments, tickers: readonly string[], from: number) {
  const first = Math.floor(from);
  const times = new Set<number>();
  for (const ticker of tickers) {
    const { rows } = await readRange(client, segments, { ticker, timeframe: "M1", from: first, to: TIME_MAX_S });
    for (const time of rows.time) times.add(time);
  }
  const { rows } = await client.query<{ earlier: boolean }>(EARLIER, [tickers, first]);
  return { times: [...times].sort((a, b) => a - b), earlier: rows[0]?.earlier ?? false };
}

/**
 * The stored minutes of a ticker in [from, to), Unix seconds, as ascending runs, and the newest of all, also outside the range. Those
 * that an operator struck out count as stored: nothing may fill them.
 */
export async function storedRuns(client: Queries, segments: Segments, ticker: string, from: number, to: number) {
  const months = await storedMonths(client, segments, ticker);
  const { rows, struck } = await readRange(client, segments, { ticker, timeframe: "M1", from, to });
  const times = Float64Array.from([...rows.time, ...struck.time]).sort();
  return { newest: months.at(-1)?.last ?? null, runs: runsOf(times) };
}
