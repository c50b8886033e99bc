import type pg from "pg";
import {
  DATA_CLOSED_RANGES_PER_YEAR_COUNT,
  DATA_GAPS_PER_YEAR_COUNT,
  type DataClosedRange,
  type DataYear,
  type DataYearSource,
  NO_ROWS,
} from "#lib/contract/portal-data";
import { TIMEFRAMES, type Timeframe } from "#lib/contract/primitives";
import type { Calendar } from "#lib/domain/calendar";
import { MINUTE_S } from "#lib/units";
import { coverageOf, longest, type Minutes } from "./coverage";
import { isoOf, yearSpan } from "./data-reads";
import { NUMBERS } from "./kline-rows";

/** A year has no more runs of minutes than this. */
const RUNS_MAX_COUNT = 264_000;

/** The M1 klines of a ticker in a range of open times. */
export const SERIES = "venue = 'live' AND ticker = $1 AND timeframe = 'M1' AND time >= $2 AND time < $3";

/** Minutes that follow a missing one, with the last one before. Reads the key alone. */
const BREAKS = `SELECT time, before FROM (
    SELECT time, lag(time) OVER (ORDER BY time) AS before FROM kline WHERE ${SERIES}
  ) AS minutes WHERE before IS NULL OR time <> before + ${MINUTE_S} ORDER BY time LIMIT ${RUNS_MAX_COUNT}`;
const LAST = `SELECT max(time) FROM kline WHERE ${SERIES}`;
const SOURCES = `SELECT batch, count(*), min(time), max(time) FROM kline WHERE ${SERIES} GROUP BY batch`;
const LONGER = `SELECT timeframe, count(*)::float8 AS rows FROM kline
  WHERE venue = 'live' AND ticker = $1 AND timeframe = ANY($4) AND time >= $2 AND time < $3 GROUP BY timeframe`;
const CLOSES = `SELECT time, close FROM kline WHERE ${SERIES} AND time = ANY($4::bigint[])`;

type Stretch = Minutes & { readonly minutes: number };
type Values = readonly [ticker: string, from: number, to: number];

/** Rows of numbers; a null stays one. */
async function numbers<Row>(client: pg.ClientBase, text: string, values: readonly unknown[]): Promise<Row[]> {
  const { rows } = await client.query({ text, values: [...values], rowMode: "array", types: NUMBERS });
  return rows as Row[];
}

/** The stored minutes of a range as ascending runs. */
export async function readRuns(client: pg.ClientBase, values: Values): Promise<Minutes[]> {
  const breaks = await numbers<[number, number | null]>(client, BREAKS, values);
  const [[last = null] = []] = await numbers<[number | null]>(client, LAST, values);
  return breaks.map(([from], index) => ({ from, to: (breaks[index + 1]?.[1] ?? last ?? from) + MINUTE_S }));
}

async function readSources(client: pg.ClientBase, values: Values): Promise<DataYearSource[]> {
  const rows = await numbers<[number | null, number, number, number]>(client, SOURCES, values);
  return rows
    .sort(([a], [b]) => (b ?? 0) - (a ?? 0))
    .map(([batch, count, first, last]) => ({ batch, rows: count, first_at: isoOf(first), last_at: isoOf(last) }));
}

async function countLonger(client: pg.ClientBase, values: Values): Promise<Record<Timeframe, number>> {
  const { rows } = await client.query<{ timeframe: Timeframe; rows: number }>(LONGER, [
    ...values,
    TIMEFRAMES.filter((timeframe) => timeframe !== "M1"),
  ]);
  return { ...NO_ROWS, ...Object.fromEntries(rows.map((row) => [row.timeframe, row.rows])) };
}

/** Ranges in closed hours with the close of their first kline. */
async function withCloses(client: pg.ClientBase, values: Values, ranges: readonly Stretch[]): Promise<DataClosedRange[]> {
  if (ranges.length === 0) return [];
  const closes = new Map(await numbers<[number, number]>(client, CLOSES, [...values, ranges.map(({ from }) => from)]));
  return ranges.map(({ from, to, minutes }) => ({
    from: isoOf(from),
    to: isoOf(to - MINUTE_S),
    rows: minutes,
    close: closes.get(from) ?? Number.NaN,
  }));
}

const lengthOf = ({ minutes }: Stretch) => minutes;

/**
 * Reads a UTC year of a ticker, cut to its history.
 * @param history open times of its first and last M1 kline, Unix seconds
 * @param calendar undefined where the ticker has none
 */
export async function readYear(
  client: pg.ClientBase,
  ticker: string,
  year: number,
  history: { readonly first: number; readonly last: number },
  calendar: Pick<Calendar, "sessionsBetween"> | undefined,
): Promise<DataYear> {
  const whole = yearSpan(year);
  const span = { from: Math.max(whole.from, history.first), to: Math.min(whole.to, history.last + MINUTE_S) };
  const values: Values = [ticker, span.from, span.to];
  const runs = await readRuns(client, values);
  const sessions = calendar?.sessionsBetween(span.from * 1_000, span.to * 1_000) ?? null;
  const coverage = coverageOf(span, runs, sessions ?? []);
  const known = sessions !== null;
  const gaps = known ? coverage.gaps : [];
  const closedRanges = known ? coverage.closedRanges : [];
  return {
    year,
    from: isoOf(span.from),
    to: isoOf(span.to),
    rows: coverage.stored,
    minutes: known ? { closed: coverage.closed, gap: coverage.gap, in_closed_hours: coverage.inClosedHours } : null,
    days: known ? coverage.days : { open: [], stored: [] },
    gap_count: gaps.length,
    gaps: longest(gaps, lengthOf, DATA_GAPS_PER_YEAR_COUNT).map(({ from, to, minutes }) => ({
      from: isoOf(from),
      to: isoOf(to),
      open_minutes: minutes,
    })),
    closed_range_count: closedRanges.length,
    closed_ranges: await withCloses(client, values, longest(closedRanges, lengthOf, DATA_CLOSED_RANGES_PER_YEAR_COUNT)),
    timeframes: { ...(await countLonger(client, values)), M1: coverage.stored },
    sources: await readSources(client, values),
  };
}
