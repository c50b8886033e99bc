import type { Timeframe } from "#lib/contract/primitives";
import { TIMEFRAME_SECONDS } from "#lib/domain/timeframe";
import type { StoredPrices } from "#lib/market/kline-store";
import { HOUR_S } from "#lib/units";
import type { PricedTime } from "./clock-evidence";
import type { SourceClock } from "./clock-zone";
import type { RowKind } from "./row";

/** Rows of a file that are compared with stored ones. */
const COMPARED_MAX_COUNT = 1_000;
/** Rows that must be stored at the times of a clock before its prices count. */
const MATCHED_MIN_COUNT = 30;
/** How many times nearer the prices on the right clock are: sources differ by a fraction of a pip, an hour by many. */
const NEARER_MIN_RATIO = 3;

/** Reads stored klines of a timeframe by their open times, Unix seconds. */
type ReadKlines = (timeframe: Timeframe, times: readonly number[]) => Promise<ReadonlyMap<number, StoredPrices>>;

/** What rows are compared with: the price of a row and a stored kline of this timeframe are this far apart. */
interface Comparison {
  readonly timeframe: Timeframe;
  distance(price: number, stored: StoredPrices): number;
}

/** Klines longer than an hour are compared with the hour that they begin with, because hours have no clock of their own. */
function comparisonOf(kind: RowKind, timeframe: Timeframe): Comparison {
  if (kind === "ticks") return { timeframe: "M1", distance: (price, { low, high }) => Math.max(0, low - price, price - high) };
  if (TIMEFRAME_SECONDS[timeframe] > HOUR_S) return { timeframe: "H1", distance: (price, { open }) => Math.abs(price - open) };
  return { timeframe, distance: (price, { close }) => Math.abs(price - close) };
}

/**
 * The clock on which rows of a file have the prices that are stored for their times: the same klines an hour off are proof.
 * @returns undefined when too little is stored to tell
 */
export async function clockOfStored(
  clocks: readonly SourceClock[],
  samples: readonly PricedTime[],
  { kind, timeframe: own }: { readonly kind: RowKind; readonly timeframe: Timeframe },
  read: ReadKlines,
): Promise<SourceClock | undefined> {
  const { timeframe, distance } = comparisonOf(kind, own);
  const slotS = TIMEFRAME_SECONDS[timeframe];
  const slotOf = (ms: number) => Math.floor(ms / 1000 / slotS) * slotS;
  const step = Math.max(1, Math.ceil(samples.length / COMPARED_MAX_COUNT));
  const rows = samples.filter((_, index) => index % step === 0);
  const times = clocks.map((clock) => rows.map(({ timeMs }) => clock.toUtcMs(timeMs)));
  const stored = await read(timeframe, [...new Set(times.flat().map(slotOf))]);
  const distances = times.map((onClock) =>
    onClock.map((atMs, index) => {
      const kline = stored.get(slotOf(atMs));
      return kline === undefined ? Number.NaN : distance((rows[index] as PricedTime).price, kline);
    }),
  );

  /** The mean distance on one clock, over the rows that another one reads differently. */
  function meanWhereDifferent(one: number, other: number): number {
    let [sum, count] = [0, 0];
    for (const [index, distance] of (distances[one] as number[]).entries()) {
      if (Number.isNaN(distance) || times[one]?.[index] === times[other]?.[index]) continue;
      sum += distance;
      count += 1;
    }
    return count < MATCHED_MIN_COUNT ? Number.NaN : sum / count;
  }
  const beats = (one: number, other: number) => {
    const [own, theirs] = [meanWhereDifferent(one, other), meanWhereDifferent(other, one)];
    return theirs > 0 && own * NEARER_MIN_RATIO <= theirs;
  };
  return clocks.find((_, one) => clocks.every((__, other) => one === other || beats(one, other)));
}
