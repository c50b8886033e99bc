import type { DataComparison } from "#lib/contract/portal-data";
import type { KlineColumns } from "#lib/domain/columns";
import { FEED_LAYER } from "#lib/domain/fold";
import { medianOf } from "#lib/domain/price";
import { isoOf, yearSpan } from "#lib/market/data-reads";
import { HOUR_S, MINUTE_S } from "#lib/units";
import { saidIn } from "#server/store/history/minutes";
import type { Queries } from "#server/store/segments/segment-store";
import type { Segments } from "#server/store/segments/segments";

/** The number of an import, or null for what feeds wrote. */
export type SourceId = number | null;

/** Every so many minutes are compared an hour off, which shows as much as all of them. */
const SHIFT_STEP_MINUTES = 7;
/** Fewer common minutes of a month say nothing about its clock. */
const SHIFT_MIN_MINUTES = 30;
/** Two clocks differ when the closes agree so much better an hour off. */
const SHIFT_FACTOR = 4;
const SHIFTS_S = [-HOUR_S, HOUR_S];

/** The median difference of the closes of a month, with the second source moved by `shift` seconds. */
interface MonthShift {
  readonly month: number;
  readonly shift: number;
  readonly minutes: number;
  readonly median: number;
}

/** The hour by which the clocks of two sources differ, with the months in which it shows; null when it does in none. */
export function clockShift(rows: readonly MonthShift[]): DataComparison["shift"] {
  const known = rows.filter(({ minutes }) => minutes >= SHIFT_MIN_MINUTES);
  const found = SHIFTS_S.map((shift) => ({
    // The second source is right where its prices of an hour later are those of the first: it has to be moved back.
    hours: -shift / HOUR_S,
    months: known
      .filter((row) => row.shift === shift)
      .filter(({ month, median }) => {
        const own = known.find((row) => row.shift === 0 && row.month === month)?.median;
        return own !== undefined && own > median * SHIFT_FACTOR;
      })
      .map(({ month }) => month)
      .sort((a, b) => a - b),
  }));
  const best = found.reduce((a, b) => (b.months.length > a.months.length ? b : a));
  return best.months.length === 0 ? null : best;
}

/** Calls `found` with the rows of the minutes that both have, those of `b` moved back by `shift` seconds; ascending. */
function eachCommon(a: KlineColumns, b: KlineColumns, shift: number, found: (rowA: number, rowB: number) => void): void {
  for (let rowA = 0, rowB = 0; rowA < a.time.length && rowB < b.time.length; ) {
    const apart = (a.time[rowA] as number) + shift - (b.time[rowB] as number);
    if (apart === 0) found(rowA, rowB);
    if (apart <= 0) rowA += 1;
    if (apart >= 0) rowB += 1;
  }
}

const closesApart = (a: KlineColumns, b: KlineColumns, rowA: number, rowB: number) =>
  Math.abs((a.close[rowA] as number) - (b.close[rowB] as number));

/** How far the closes of each month are apart with and without a shift of the second source. */
function shiftsOf(a: KlineColumns, b: KlineColumns): MonthShift[] {
  return [0, ...SHIFTS_S].flatMap((shift) => {
    const months = new Map<number, number[]>();
    eachCommon(a, b, shift, (rowA, rowB) => {
      const time = a.time[rowA] as number;
      if ((time / MINUTE_S) % SHIFT_STEP_MINUTES !== 0) return;
      const month = new Date(time * 1_000).getUTCMonth() + 1;
      const apart = months.get(month);
      if (apart === undefined) months.set(month, [closesApart(a, b, rowA, rowB)]);
      else apart.push(closesApart(a, b, rowA, rowB));
    });
    return [...months].map(([month, apart]) => ({
      month,
      shift,
      minutes: apart.length,
      median: medianOf(Float64Array.from(apart)),
    }));
  });
}

/** Compares what two sources said of the minutes of a UTC year; null when they have none in common. */
export async function compareYear(
  client: Queries,
  segments: Segments,
  { ticker, pipSize }: { readonly ticker: string; readonly pipSize: number },
  year: number,
  sources: readonly [SourceId, SourceId],
): Promise<DataComparison | null> {
  const said = (source: SourceId) => saidIn(client, segments, ticker, source ?? FEED_LAYER, yearSpan(year));
  const [a, b] = [await said(sources[0]), await said(sources[1])];
  const apart = new Float64Array(Math.min(a.time.length, b.time.length));
  let [common, equal, most, mostAt] = [0, 0, 0, Number.NaN];
  eachCommon(a, b, 0, (rowA, rowB) => {
    const difference = closesApart(a, b, rowA, rowB);
    apart[common] = difference;
    common += 1;
    if (a.open[rowA] === b.open[rowB] && a.high[rowA] === b.high[rowB] && a.low[rowA] === b.low[rowB] && difference === 0)
      equal += 1;
    if (common === 1 || difference > most) [most, mostAt] = [difference, a.time[rowA] as number];
  });
  if (common === 0) return null;
  const pips = (difference: number) => Number((difference / pipSize).toFixed(2));
  return {
    year,
    common,
    equal,
    median_pips: pips(medianOf(apart.subarray(0, common))),
    max_pips: pips(most),
    max_at: isoOf(mostAt),
    shift: clockShift(equal === common ? [] : shiftsOf(a, b)),
  };
}
