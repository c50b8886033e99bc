import type { SummaryRow } from "#lib/operations/marketSummary/declaration";
import { isoDate } from "#lib/units";
import type { Kline } from "./kline";
import { medianOf, roundTo } from "./price";
import type { SummaryPeriod } from "./summary-periods";

/** What klines add up to. Prices and spreads are whole points, so that sums are exact. */
interface Sum {
  open: number;
  high: number;
  low: number;
  close: number;
  count: number;
  spread: number;
  /** Klines whose spread is known. */
  spreads: number;
}

const emptySum = (): Sum => ({ open: 0, high: 0, low: 0, close: 0, count: 0, spread: 0, spreads: 0 });

interface Group {
  readonly name: string;
  readonly order: number;
  /** Of the last period with klines. */
  last: Sum | undefined;
  /** In points, one for each period with klines. */
  readonly ranges: number[];
  widest: number;
  widestMs: number;
  change: number;
  up: number;
  count: number;
  spread: number;
  spreads: number;
  expected: number | null;
}

/** Periods that follow one another, with what was added to the one that is read. */
interface Lane {
  readonly periods: Iterator<SummaryPeriod>;
  period: SummaryPeriod | undefined;
  sum: Sum;
}

/**
 * Adds klines up to a summary, period by period, in memory that grows with the number of periods alone.
 *
 * Of a period: range = high - low, change = close - open. Of a row with n periods that have klines: `range` = Σ range / n, `change` =
 * Σ change / n, `median_range` = the middle range, or the mean of the two in the middle; prices where n = 1. `spread` = Σ spread / m over
 * the m klines whose spread is known. Prices have the digits of the instrument, means and medians one more.
 * @param lanes as summaryLanes makes them
 * @param expected number of klines of [fromS, toS), Unix seconds, while the market was open; null where that is not known
 */
export function createSummary(
  lanes: readonly Iterator<SummaryPeriod>[],
  digits: number,
  expected: (fromS: number, toS: number) => number | null,
) {
  const points = 10 ** digits;
  const groups = new Map<string, Group>();
  const open = lanes.map((periods): Lane => ({ periods, period: periods.next().value, sum: emptySum() }));
  let reachedS = 0;

  function groupOf({ name, order }: SummaryPeriod["groups"][number]): Group {
    const known = groups.get(name);
    if (known !== undefined) return known;
    const figures = { widest: -1, widestMs: 0, change: 0, up: 0, count: 0, spread: 0, spreads: 0, expected: 0 };
    const group = { name, order, last: undefined, ranges: [], ...figures };
    groups.set(name, group);
    return group;
  }

  function addKline(sum: Sum, { open: first, high, low, close, spread }: Kline): void {
    const [highest, lowest] = [Math.round(high * points), Math.round(low * points)];
    if (sum.count === 0) {
      sum.open = Math.round(first * points);
      sum.high = highest;
      sum.low = lowest;
    } else {
      sum.high = Math.max(sum.high, highest);
      sum.low = Math.min(sum.low, lowest);
    }
    sum.close = Math.round(close * points);
    sum.count += 1;
    if (spread === null) return;
    sum.spread += Math.round(spread * points);
    sum.spreads += 1;
  }

  /** Counts a period that has ended in its rows, and takes the next one. */
  function turn(lane: Lane): void {
    const { period, sum } = lane;
    if (period === undefined) return;
    const due = expected(period.fromS, period.toS);
    for (const name of period.groups) {
      const group = groupOf(name);
      group.expected = due === null || group.expected === null ? null : group.expected + due;
      group.count += sum.count;
      group.spread += sum.spread;
      group.spreads += sum.spreads;
      if (sum.count === 0) continue;
      const range = sum.high - sum.low;
      group.last = sum;
      group.ranges.push(range);
      group.change += sum.close - sum.open;
      if (sum.close > sum.open) group.up += 1;
      if (range <= group.widest) continue;
      group.widest = range;
      group.widestMs = period.dateMs;
    }
    lane.period = lane.periods.next().value;
    lane.sum = emptySum();
  }

  const price = (value: number | undefined) => (value === undefined ? null : roundTo(value / points, digits));
  const mean = (sum: number, count: number) => (count === 0 ? null : roundTo(sum / count / points, digits + 1));

  function figuresOf(group: Group): SummaryRow {
    const { ranges } = group;
    const periods = ranges.length;
    const only = periods === 1 ? group.last : undefined;
    return {
      group: group.name,
      periods,
      open: price(only?.open),
      high: price(only?.high),
      low: price(only?.low),
      close: price(only?.close),
      range: mean(
        ranges.reduce((sum, range) => sum + range, 0),
        periods,
      ),
      median_range: periods === 0 ? null : mean(medianOf(Float64Array.from(ranges)), 1),
      max_range: price(periods === 0 ? undefined : group.widest),
      max_range_on: periods === 0 ? null : isoDate(group.widestMs),
      change: mean(group.change, periods),
      up: group.up,
      spread: mean(group.spread, group.spreads),
      count: group.count,
      expected_count: group.expected,
    };
  }

  return {
    /** From when on klines are needed next, Unix seconds; undefined when all periods are complete. */
    nextS(): number | undefined {
      const starts = open.flatMap(({ period }) => (period === undefined ? [] : Math.max(period.fromS, reachedS)));
      return starts.length === 0 ? undefined : Math.min(...starts);
    },
    /** Adds the klines up to `untilS` (Unix seconds), ascending, which are all there are since the last call. */
    add(klines: readonly Kline[], untilS: number): void {
      for (const lane of open) {
        for (const kline of klines) {
          while (lane.period !== undefined && kline.time >= lane.period.toS) turn(lane);
          if (lane.period === undefined) break;
          if (kline.time >= lane.period.fromS) addKline(lane.sum, kline);
        }
        while (lane.period !== undefined && lane.period.toS <= untilS) turn(lane);
      }
      reachedS = untilS;
    },
    /** The rows, in the order of what they stand for. */
    rows(): SummaryRow[] {
      return [...groups.values()].sort((a, b) => a.order - b.order).map(figuresOf);
    },
  };
}
