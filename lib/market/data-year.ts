import {
  DATA_CLOSED_RANGES_PER_YEAR_COUNT,
  DATA_GAPS_PER_YEAR_COUNT,
  type DataClosedRange,
  type DataYear,
  type DataYearSource,
} from "#lib/contract/portal-data";
import { TIMEFRAMES, type Timeframe } from "#lib/contract/primitives";
import type { Calendar } from "#lib/domain/calendar";
import { cutColumns, rowFrom } from "#lib/domain/columns";
import { FEED_LAYER, type Statements } from "#lib/domain/fold";
import { createAlignment } from "#lib/domain/timeframe";
import { readRange } from "#lib/history/minutes";
import { runsOf } from "#lib/history/runs";
import type { Queries } from "#lib/segments/segment-store";
import type { Segments } from "#lib/segments/segments";
import { MINUTE_S } from "#lib/units";
import { coverageOf, longest, type Minutes } from "./coverage";
import { isoOf, yearSpan } from "./data-reads";

const STORED_LONGER = "SELECT DISTINCT timeframe FROM history_visible WHERE ticker = $1 AND timeframe <> 'M1' AND rows > 0";

const alignment = createAlignment();

type Stretch = Minutes & { readonly minutes: number };

/** Which layers the rows come from, the newest import first, and the feed last. */
function sourcesOf({ time, layer }: Statements): DataYearSource[] {
  const sources = new Map<number, { rows: number; first: number; last: number }>();
  for (let row = 0; row < time.length; row += 1) {
    const [from, at] = [layer[row] as number, time[row] as number];
    const known = sources.get(from);
    if (known === undefined) sources.set(from, { rows: 1, first: at, last: at });
    else {
      known.rows += 1;
      known.last = at;
    }
  }
  return [...sources]
    .sort(([a], [b]) => b - a)
    .map(([from, { rows, first, last }]) => {
      const batch = from === FEED_LAYER ? null : from;
      return { batch, rows, first_at: isoOf(first), last_at: isoOf(last) };
    });
}

/** The end of the last interval of any timeframe that opens before an instant, Unix seconds. */
const lastEnd = (to: number) => Math.max(...TIMEFRAMES.map((timeframe) => alignment.nextOpenTime(timeframe, to - 1)));

/** Open times of the intervals within a span that have minutes. */
function opensOf({ time }: Statements, timeframe: Timeframe, { from, to }: Minutes): number[] {
  const opens: number[] = [];
  for (let row = 0, end = 0; row < time.length; row += 1) {
    const at = time[row] as number;
    if (at < end) continue;
    end = alignment.nextOpenTime(timeframe, at);
    const open = alignment.openTime(timeframe, at);
    if (open >= from && open < to) opens.push(open);
  }
  return opens;
}

/**
 * How many klines of each timeframe show in a span: those that minutes make, and those that were imported as such.
 * @param minutes of the span, and of the intervals that its end cuts
 */
async function countRows(
  client: Queries,
  segments: Segments,
  ticker: string,
  span: Minutes,
  minutes: Statements,
): Promise<Record<Timeframe, number>> {
  const { rows } = await client.query<{ timeframe: Timeframe }>(STORED_LONGER, [ticker]);
  const stored = rows.map(({ timeframe }) => timeframe);
  const counts: [Timeframe, number][] = [];
  for (const timeframe of TIMEFRAMES) {
    const opens = opensOf(minutes, timeframe, span);
    if (!stored.includes(timeframe)) counts.push([timeframe, opens.length]);
    else {
      const longer = await readRange(client, segments, { ticker, timeframe, ...span });
      counts.push([timeframe, new Set([...opens, ...longer.rows.time]).size]);
    }
  }
  return Object.fromEntries(counts) as Record<Timeframe, number>;
}

/** Ranges in closed hours with the close of their first kline. */
function withCloses({ time, close }: Statements, ranges: readonly Stretch[]): DataClosedRange[] {
  return ranges.map(({ from, to, minutes }) => ({
    from: isoOf(from),
    to: isoOf(to - MINUTE_S),
    rows: minutes,
    close: close[rowFrom(time, from)] as number,
  }));
}

const lengthOf = ({ minutes }: Stretch) => minutes;

/**
 * Reads a UTC year of a ticker, cut to its history.
 * @param history open times of its first and last M1 kline, Unix seconds
 * @param calendar undefined where the ticker has none
 */
export async function readYear(
  client: Queries,
  segments: Segments,
  ticker: string,
  year: number,
  history: { readonly first: number; readonly last: number },
  calendar: Pick<Calendar, "sessionsBetween"> | undefined,
): Promise<DataYear> {
  const whole = yearSpan(year);
  const span = { from: Math.max(whole.from, history.first), to: Math.min(whole.to, history.last + MINUTE_S) };
  const read = await readRange(client, segments, { ticker, timeframe: "M1", from: span.from, to: lastEnd(span.to) });
  const rows = cutColumns(read.rows, span.from, span.to);
  const sessions = calendar?.sessionsBetween(span.from * 1_000, span.to * 1_000) ?? null;
  const coverage = coverageOf(span, runsOf(rows.time), sessions ?? []);
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
    closed_ranges: withCloses(rows, longest(closedRanges, lengthOf, DATA_CLOSED_RANGES_PER_YEAR_COUNT)),
    // The first day, week and month open before the first minute.
    timeframes: await countRows(client, segments, ticker, { from: whole.from, to: span.to }, read.rows),
    sources: sourcesOf(rows),
  };
}
