import {
  DATA_CLOSED_RANGES_PER_YEAR_COUNT,
  DATA_CLOSURES_PER_YEAR_COUNT,
  DATA_GAPS_PER_YEAR_COUNT,
  DATA_LACKS_PER_YEAR_COUNT,
  type DataClosedRange,
  type DataClosure,
  type DataYear,
  type DataYearCoverage,
  type GapReason,
} from "#lib/contract/portal-data";
import { TIMEFRAMES, type Timeframe } from "#lib/contract/primitives";
import type { Calendar } from "#lib/domain/calendar";
import { cutColumns, rowFrom } from "#lib/domain/columns";
import type { Statements } from "#lib/domain/fold";
import { createAlignment } from "#lib/domain/timeframe";
import { coverageOf, type KnownGaps, longest, type Minutes, merged } from "#lib/market/coverage";
import { isoOf, yearSpan } from "#lib/market/data-reads";
import { DAY_MS, MINUTE_S, SECOND_MS } from "#lib/units";
import type { Database } from "#server/store/database/db";
import { readRange } from "#server/store/history/minutes";
import { runsOf } from "#server/store/history/runs";
import { type LackingMinutes, lackingAmong, lackingRanges } from "#server/store/klines/lacking-minutes";
import type { Queries } from "#server/store/segments/segment-store";
import type { Segments } from "#server/store/segments/segments";

const STORED_LONGER = "SELECT DISTINCT timeframe FROM history_visible WHERE ticker = $1 AND timeframe <> 'M1' AND rows > 0";

const alignment = createAlignment();

type Stretch = Minutes & { readonly minutes: number };

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

/** A calendar that opens more often within a year flips by the minute: its closures are not told one by one. */
const SESSIONS_TOLD_MAX_COUNT = 1_000;
const ORDINARY: readonly DataClosure["reason"][] = ["weekend", "daily_break"];

type Sessions = NonNullable<ReturnType<Calendar["sessionsBetween"]>>;

/** The closures of a span but for weekends and daily breaks. One that goes on as another, as a holiday before a weekend, ends there. */
function closuresOf(calendar: Pick<Calendar, "sessionAt">, sessions: Sessions, { from, to }: Minutes): DataClosure[] {
  if (sessions.length > SESSIONS_TOLD_MAX_COUNT) return [];
  const found: { fromMs: number; toMs: number; reason: DataClosure["reason"] }[] = [];
  const edges = [from * SECOND_MS, ...sessions.flatMap(({ openMs, closeMs }) => [openMs, closeMs]), to * SECOND_MS];
  for (let edge = 0; edge < edges.length; edge += 2) {
    const opensMs = edges[edge + 1] as number;
    for (let atMs = edges[edge] as number; atMs < opensMs; ) {
      // What a closure is called depends on its day.
      const untilMs = Math.min(opensMs, (Math.floor(atMs / DAY_MS) + 1) * DAY_MS);
      const { reason } = calendar.sessionAt(atMs);
      const last = found.at(-1);
      if (last?.toMs === atMs && last.reason === reason) last.toMs = untilMs;
      else if (reason !== null && !ORDINARY.includes(reason)) found.push({ fromMs: atMs, toMs: untilMs, reason });
      atMs = untilMs;
    }
  }
  return found
    .slice(0, DATA_CLOSURES_PER_YEAR_COUNT)
    .map(({ fromMs, toMs, reason }) => ({ from: isoOf(fromMs / SECOND_MS), to: isoOf(toMs / SECOND_MS), reason }));
}

/** What became of the minutes of a part of a year; without a calendar, no more than how many are stored. */
interface YearMinutes {
  readonly coverage: Omit<DataYearCoverage, "lacking">;
  /** Stored in closed hours, ascending. */
  readonly closedRanges: readonly Stretch[];
}

/**
 * Compares the minutes of a part of a year with a calendar.
 * @param stored ascending runs of minutes that have a kline
 * @param calendar undefined where the ticker has none
 * @param known why some minutes have no kline
 */
export function coverYear(
  year: number,
  span: Minutes,
  stored: readonly Minutes[],
  calendar: Pick<Calendar, "sessionsBetween" | "sessionAt"> | undefined,
  known: readonly KnownGaps<GapReason>[],
): YearMinutes {
  const sessions = calendar?.sessionsBetween(span.from * SECOND_MS, span.to * SECOND_MS) ?? null;
  const covered = coverageOf(span, stored, sessions ?? [], known);
  const whole = { year, from: isoOf(span.from), to: isoOf(span.to), rows: covered.stored };
  if (calendar === undefined || sessions === null) {
    const unknown = { minutes: null, days: { open: [], stored: [] }, gap_count: 0, gaps: [], closures: [] };
    return { coverage: { ...whole, ...unknown }, closedRanges: [] };
  }
  const { closed, gap, inClosedHours, days, gaps, closedRanges } = covered;
  const coverage = {
    ...whole,
    minutes: { closed, gap, in_closed_hours: inClosedHours },
    days,
    gap_count: gaps.length,
    gaps: longest(gaps, lengthOf, DATA_GAPS_PER_YEAR_COUNT).map(({ from, to, minutes, reason }) => ({
      from: isoOf(from),
      to: isoOf(to),
      open_minutes: minutes,
      reason,
    })),
    closures: closuresOf(calendar, sessions, span),
  };
  return { coverage, closedRanges };
}

/** Ranges in which ticks lack, by reason. */
function lackGaps(ranges: readonly LackingMinutes[]): KnownGaps<GapReason>[] {
  const reasons = new Set(ranges.map(({ reason }) => reason));
  return [...reasons].map((reason) => ({ reason, ranges: merged(ranges.filter((range) => range.reason === reason)) }));
}

/**
 * Reads a UTC year of a ticker, cut to its history.
 * @param history open times of its first and last M1 kline, Unix seconds
 * @param calendar undefined where the ticker has none
 */
export async function readYear(
  { pool, segments }: Pick<Database, "pool" | "segments">,
  ticker: string,
  year: number,
  history: { readonly first: number; readonly last: number },
  calendar: Pick<Calendar, "sessionsBetween" | "sessionAt"> | undefined,
): Promise<DataYear> {
  const whole = yearSpan(year);
  const span = { from: Math.max(whole.from, history.first), to: Math.min(whole.to, history.last + MINUTE_S) };
  const read = await readRange(pool, segments, { ticker, timeframe: "M1", from: span.from, to: lastEnd(span.to) });
  const rows = cutColumns(read.rows, span.from, span.to);
  const lacking = await lackingRanges({ pool }, ticker, span);
  const known = [{ reason: "struck", ranges: runsOf(read.struck.time) } as const, ...lackGaps(lacking)];
  const { coverage, closedRanges } = coverYear(year, span, runsOf(rows.time), calendar, known);
  return {
    ...coverage,
    lacking: lackingAmong(rows, lacking)
      .slice(0, DATA_LACKS_PER_YEAR_COUNT)
      .map(({ first, last, rows, reason }) => ({ from: isoOf(first), to: isoOf(last), rows, reason })),
    closed_range_count: closedRanges.length,
    closed_ranges: withCloses(rows, longest(closedRanges, lengthOf, DATA_CLOSED_RANGES_PER_YEAR_COUNT)),
    // The first day, week and month open before the first minute.
    timeframes: await countRows(pool, segments, ticker, { from: whole.from, to: span.to }, read.rows),
  };
}
