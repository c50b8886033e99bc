import { setImmediate as nextTurn } from "node:timers/promises";
import type { Timeframe } from "#lib/contract/primitives";
import {
  aggregateColumns,
  cutColumns,
  emptyColumns,
  joinColumns,
  type KlineColumns,
  rowFrom,
  rowsBetween,
  SIDES,
  type Side,
  sideOf,
} from "#lib/domain/columns";
import { FEED_LAYER, fold, RANKS, type Statements } from "#lib/domain/fold";
import { type Period, periodOf, TIME_MAX_S } from "#lib/domain/period";
import { createAlignment, TIMEFRAME_SECONDS } from "#lib/domain/timeframe";
import { DAY_S, MINUTE_S } from "#lib/units";
import type { Queries } from "#server/store/segments/segment-store";
import { type Segments, saidBy } from "#server/store/segments/segments";
import { createDerived } from "./derived";
import { overFeed } from "./layers";
import { type TailRow, tailStatements, untilFound } from "./minutes";
import {
  columnsOfEach,
  columnsShown,
  isAsNow,
  type PastInstant,
  type PeriodRow,
  type Periods,
  type PeriodsQuery,
  periodsNow,
  periodsThen,
  periodsWith,
  statementsShown,
} from "./periods";
import { withSides } from "./sides";

/** Longer klines of so few months are computed from minutes, and days of so short a time from hours. */
const MINUTES_READ_MONTHS = 6;
const HOURS_READ_S = 3 * 366 * DAY_S;
/** How much longer than its nominal length an interval can be: an H4 kline has five hours when clocks go back. */
const INTERVAL_MAX_FACTOR = 1.25;

/** Which klines of a series are read: those with from <= time < to, Unix seconds, at most `limit` from the named end. */
interface KlinesQuery {
  readonly ticker: string;
  readonly timeframe: Timeframe;
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  readonly end: "oldest" | "newest";
  /** Ask or mid prices instead of the bid, of the klines that have them. */
  readonly price?: Side | undefined;
  /** Whether minutes have their ask and mid prices beside the bid; those that are in a segment always have. */
  readonly sides?: boolean;
  /** Without the minutes of the tail that ended later, Unix seconds. */
  readonly endedBy?: number | undefined;
}

/** What is stored of a ticker as of one moment, before its segments are read. */
interface Snapshot {
  readonly ticker: string;
  /** By start. */
  readonly months: readonly PeriodRow[];
  /** Of klines that were imported in the timeframe in question. */
  readonly imported: readonly PeriodRow[];
  /** Minutes of the feed that are in no month yet, by time. */
  readonly tail: readonly TailRow[];
  readonly hasSides: boolean;
}

/** Klines as columns, and which of them were imported as such. */
interface ReadColumns {
  readonly columns: KlineColumns;
  readonly imported: ReadonlySet<number>;
}

/** The timeframe whose computed klines are stored to make those of `timeframe`; null where the minutes are read. */
function basisOf(timeframe: Timeframe): "H1" | "D1" | null {
  if (timeframe === "H1" || timeframe === "H4") return "H1";
  return timeframe === "D1" || timeframe === "W1" || timeframe === "MN1" ? "D1" : null;
}

/**
 * The range of as few months as are sure to have enough klines, counted from the requested end. Each month counts with the fewest klines
 * that can be made of it.
 * @param shown reads a month
 */
async function enough(
  months: readonly PeriodRow[],
  { timeframe, limit, end, from, to, price }: KlinesQuery,
  shown: (month: PeriodRow) => Promise<KlineColumns>,
): Promise<Period> {
  const longest = INTERVAL_MAX_FACTOR * (TIMEFRAME_SECONDS[timeframe] / MINUTE_S);
  // An interval that begins before its months is left out.
  const needed = (limit + 1) * longest;
  if (months.reduce((sum, { rows }) => sum + rows, 0) < needed) return { from, to };
  // A minute without the side takes its whole interval away. So can one next to the month, at either border.
  const withSide = (rows: number, sides: number) =>
    timeframe === "M1" ? sides : Math.max(0, sides - (rows - sides + 2) * (longest - 1));
  let minutes = 0;
  for (const month of end === "newest" ? months.toReversed() : months) {
    const { rows, sides, folded } = month;
    const period = periodOf("M1", month.start);
    const count = async () => {
      // Klines of a source without ticks can have asks and no mids.
      if (folded === null && price !== "mid") return price === undefined ? rows : withSide(rows, sides);
      if (folded === null && sides === 0) return 0;
      const columns = await shown(month);
      if (price === undefined) return columns.time.length;
      const [, , , close] = SIDES[price];
      return withSide(columns.time.length, columns[close].filter((value) => !Number.isNaN(value)).length);
    };
    // A month at the border of the window may have no kline inside.
    if (period.from >= from && period.to <= to) minutes += await count();
    if (minutes >= needed)
      return end === "newest" ? { from: Math.max(from, period.from), to } : { from, to: Math.min(to, period.to) };
  }
  return { from, to };
}

/**
 * @param keepIn where computed klines of H1 and longer are kept, so that they need not be computed again; null keeps none
 * @param pending an import that is read as if it was shown already, by itself; null for none
 */
export function createReader(segments: Segments, keepIn: Queries | null = null, pending: number | null = null) {
  const alignment = createAlignment();
  const derived = createDerived(segments, keepIn);

  /** The periods that hold whole intervals of a query, and all that the basis of their timeframe is made of. */
  function periodsFor({ timeframe, from, to }: KlinesQuery): Period {
    const basis = basisOf(timeframe);
    if (basis === "D1") return { from: 0, to: TIME_MAX_S };
    const [first, end] = [alignment.openTime(timeframe, from), alignment.nextOpenTime(timeframe, to - 1)];
    const unit = basis ?? "M1";
    return { from: periodOf(unit, first).from, to: basis === null ? end : periodOf(unit, end - 1).to };
  }

  function periodsOf(client: Queries, asked: PeriodsQuery, at: PastInstant | null): Promise<Periods> {
    if (at !== null) return periodsThen(client, segments, asked, at);
    return pending === null ? periodsNow(client, asked) : periodsWith(client, segments, asked, pending);
  }

  async function snapshot(client: Queries, query: KlinesQuery, at: PastInstant | null): Promise<Snapshot> {
    const { ticker, timeframe, price, sides = false, endedBy = Number.POSITIVE_INFINITY } = query;
    const asked = {
      ticker,
      timeframes: timeframe === "M1" ? [timeframe] : (["M1", timeframe] as const),
      range: periodsFor(query),
    };
    const { periods, tail } = await periodsOf(client, asked, at);
    return {
      ticker,
      months: periods.filter((row) => row.timeframe === "M1"),
      imported: periods.filter((row) => row.timeframe !== "M1"),
      tail: tail.filter(({ start }) => start + MINUTE_S <= endedBy),
      hasSides: sides || price !== undefined,
    };
  }

  /** The minutes of a range, with the tail. */
  async function minutes(client: Queries, series: Snapshot, { from, to }: Period): Promise<KlineColumns> {
    const { ticker, months, tail, hasSides } = series;
    const held = months.filter(({ start }) => start < to && periodOf("M1", start).to > from);
    const open = tail.filter(({ start }) => start >= from && start < to);
    if (open.length === 0) return cutColumns(await columnsShown(client, segments, held), from, to);
    const said = tailStatements(open);
    const late = hasSides ? await withSides(client, segments, ticker, said) : said;
    return cutColumns(fold([await statementsShown(client, segments, held), late], overFeed).rows, from, to);
  }

  /** The H1 klines of months, computed month by month so that other requests are answered in between. */
  async function hoursOf(client: Queries, months: readonly PeriodRow[]): Promise<KlineColumns> {
    const parts: KlineColumns[] = [];
    for await (const minutes of columnsOfEach(client, segments, months)) {
      await nextTurn();
      parts.push(aggregateColumns(minutes, "H1", alignment));
    }
    return joinColumns(parts);
  }

  /** The H1 klines of all minutes that are in layers and touch a range, by years. */
  function hours(client: Queries, { ticker, months }: Snapshot, { from, to }: Period): Promise<KlineColumns> {
    const years = new Map<number, PeriodRow[]>();
    for (const month of months) {
      const { from: year, to: end } = periodOf("H1", month.start);
      if (year >= to || end <= from) continue;
      const list = years.get(year);
      if (list === undefined) years.set(year, [month]);
      else list.push(month);
    }
    const parts = [...years].map(([start, held]) => ({
      start,
      months: held,
      make: () => hoursOf(client, held),
    }));
    return derived(client, ticker, "H1", parts);
  }

  /** The H1 or D1 klines of the minutes that are in layers and touch a range. */
  async function basis(client: Queries, series: Snapshot, timeframe: "H1" | "D1", range: Period): Promise<KlineColumns> {
    const { ticker, months } = series;
    if (timeframe === "H1") return hours(client, series, range);
    if (range.to - range.from <= HOURS_READ_S || !months.every(isAsNow))
      return aggregateColumns(await hours(client, series, range), "D1", alignment);
    const all = { from: 0, to: TIME_MAX_S };
    const make = async () => aggregateColumns(await hours(client, series, all), "D1", alignment);
    return derived(client, ticker, "D1", [{ start: 0, months, make }]);
  }

  /** The klines of a timeframe that minutes make, in [from, to). Minutes of their whole intervals are read. */
  async function computed(client: Queries, series: Snapshot, timeframe: Timeframe, { from, to }: Period): Promise<KlineColumns> {
    const whole = { from: alignment.openTime(timeframe, from), to: alignment.nextOpenTime(timeframe, to - 1) };
    const held = series.months.filter(({ start }) => start < whole.to && periodOf("M1", start).to > whole.from);
    const unit = held.length <= MINUTES_READ_MONTHS ? null : basisOf(timeframe);
    if (unit === null) return cutColumns(aggregateColumns(await minutes(client, series, whole), timeframe, alignment), from, to);
    const found = await basis(client, series, unit, whole);
    const stored = timeframe === unit ? found : aggregateColumns(found, timeframe, alignment);
    const first = series.tail[0];
    if (first === undefined || first.start >= whole.to) return cutColumns(stored, from, to);
    // From the interval of the first minute of the tail on, they are computed with it.
    const open = Math.max(whole.from, alignment.openTime(timeframe, first.start));
    const late = aggregateColumns(await minutes(client, series, { from: open, to: whole.to }), timeframe, alignment);
    return cutColumns(joinColumns([cutColumns(stored, whole.from, open), late]), from, to);
  }

  /** Klines that were imported as such, and those that were computed from minutes that the retention dropped, with their layers. */
  async function stored(client: Queries, { imported }: Snapshot, { from, to }: Period): Promise<Statements> {
    return cutColumns(await statementsShown(client, segments, imported), from, to);
  }

  async function readOnce(client: Queries, query: KlinesQuery, at: PastInstant | null): Promise<ReadColumns> {
    const { timeframe, limit, end } = query;
    const series = await snapshot(client, query, at);
    const some = await enough(series.months, query, (month) => columnsShown(client, segments, [month]));
    let columns = timeframe === "M1" ? await minutes(client, series, some) : await computed(client, series, timeframe, some);
    const imported = new Set<number>();
    if (series.imported.length > 0) {
      const others = await stored(client, series, some);
      for (const [row, time] of others.time.entries())
        if (others.layer[row] !== FEED_LAYER && columns.time[rowFrom(columns.time, time)] !== time) imported.add(time);
      const own = saidBy(columns, FEED_LAYER, Number.NaN);
      // Above all: days whose minutes are gone. Below: what was imported.
      columns = fold([own, others], (layer) => (layer === FEED_LAYER ? RANKS.kept : RANKS.source)).rows;
    }
    if (query.price !== undefined) columns = sideOf(columns, query.price);
    const length = columns.time.length;
    const skipped = end === "newest" ? Math.max(0, length - limit) : 0;
    return { columns: rowsBetween(columns, skipped, Math.min(length, skipped + limit)), imported };
  }

  async function readStored(client: Queries, asked: KlinesQuery, at: PastInstant | null): Promise<ReadColumns> {
    const query = { ...asked, from: Math.max(0, asked.from), to: Math.min(asked.to, TIME_MAX_S) };
    if (query.to <= query.from) return { columns: emptyColumns(0), imported: new Set() };
    return untilFound(() => readOnce(client, query, at));
  }

  return {
    /**
     * Reads klines: minutes as they show, longer ones computed from them or, where an interval has no minute, imported as such.
     * @throws SegmentMissing, SegmentDamaged; pg's error when the database is unavailable
     */
    read: (client: Queries, query: KlinesQuery) => readStored(client, query, null),
    /**
     * Reads klines as `read` would have answered at an instant: of what was stored and not undone then, the feed's minutes that had ended. What
     * a retention dropped since is not known any more.
     * @throws as `read`; TooManyStatements
     */
    readAt: (client: Queries, query: KlinesQuery, at: PastInstant) => readStored(client, query, at),
  };
}
