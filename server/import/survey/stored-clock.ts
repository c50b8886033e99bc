import type { Timeframe } from "#lib/contract/primitives";
import { TIMEFRAME_SECONDS } from "#lib/domain/timeframe";
import { HOUR_MS, HOUR_S } from "#lib/units";
import { knownClock, type SourceClock, shiftedClock } from "#server/import/formats/clocks";
import type { RowKind } from "#server/import/rows/row";
import type { StoredPrices } from "#server/store/klines/kline-store";
import type { PricedTime } from "./clock";

/** Rows of a file that are compared with stored ones. */
const COMPARED_MAX_COUNT = 1_000;
/** Rows that must be stored at the times of a clock before its prices count. */
const MATCHED_MIN_COUNT = 30;
/** How many times nearer the prices on the right clock are: sources differ by a fraction of a pip, an hour by many. */
const NEARER_MIN_RATIO = 3;

/** At most so many rows, spread evenly. */
export function thinned(samples: readonly PricedTime[]): PricedTime[] {
  const step = Math.max(1, Math.ceil(samples.length / COMPARED_MAX_COUNT));
  return samples.filter((_, index) => index % step === 0);
}

/** Reads stored klines of a timeframe by their open times, Unix seconds. */
type ReadKlines = (timeframe: Timeframe, times: readonly number[]) => Promise<ReadonlyMap<number, StoredPrices>>;

/** The timeframe of the stored klines that rows are compared with, and how far apart the price of a row and one of them are. */
function comparisonOf(kind: RowKind, own: Timeframe): [Timeframe, (price: number, stored: StoredPrices) => number] {
  if (kind === "ticks") return ["M1", (price, { low, high }) => Math.max(0, low - price, price - high)];
  // Longer ones are compared with the hour that they begin with, because hours have no clock of their own.
  if (TIMEFRAME_SECONDS[own] > HOUR_S) return ["H1", (price, { open }) => Math.abs(price - open)];
  return [own, (price, { close }) => Math.abs(price - close)];
}

/** What kind of rows are compared. */
interface Rows {
  readonly kind: RowKind;
  readonly timeframe: Timeframe;
}

/** How near the prices of rows are to those that are stored for their times, on each of several clocks. */
async function compareOn(
  clocks: readonly SourceClock[],
  rows: readonly PricedTime[],
  { kind, timeframe: own }: Rows,
  read: ReadKlines,
) {
  const [timeframe, distance] = comparisonOf(kind, own);
  const slotS = TIMEFRAME_SECONDS[timeframe];
  const slotOf = (ms: number) => Math.floor(ms / 1000 / slotS) * slotS;
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
  return {
    /** Whether the prices are much nearer on one clock than on another. */
    beats(one: number, other: number): boolean {
      const [own, theirs] = [meanWhereDifferent(one, other), meanWhereDifferent(other, one)];
      return theirs > 0 && own * NEARER_MIN_RATIO <= theirs;
    },
    /** Whether too little is stored at the times of a clock to say how near it is. */
    isUnknown: (one: number) => (distances[one] as number[]).filter((each) => !Number.isNaN(each)).length < MATCHED_MIN_COUNT,
  };
}

/**
 * The clock on which rows of a file have the prices that are stored for their times: the same klines an hour off are proof.
 * @returns undefined when too little is stored to tell
 */
export async function clockOfStored(
  clocks: readonly SourceClock[],
  samples: readonly PricedTime[],
  kind: Rows,
  read: ReadKlines,
): Promise<SourceClock | undefined> {
  const rows = thinned(samples);
  if (rows.length < MATCHED_MIN_COUNT) return undefined;
  const { beats } = await compareOn(clocks, rows, kind, read);
  return clocks.find((_, one) => clocks.every((__, other) => one === other || beats(one, other)));
}

/** Hours that a stated clock may be off: local times that are labelled as UTC, of any zone. */
const OFF_MAX_HOURS = 14;

/**
 * How many hours after their own times the prices of rows are stored; less than 0 where it is before them.
 * @param samples of times in UTC
 * @returns null without proof that it is not at these times
 */
export async function hoursOff(samples: readonly PricedTime[], kind: Rows, read: ReadKlines): Promise<number | null> {
  const rows = thinned(samples);
  if (rows.length < MATCHED_MIN_COUNT) return null;
  const hours = [0, ...Array.from({ length: OFF_MAX_HOURS }, (_, index) => [index + 1, -index - 1]).flat()];
  const clocks = hours.map((hour) => shiftedClock(knownClock("UTC"), -hour * HOUR_MS));
  const { beats, isUnknown } = await compareOn(clocks, rows, kind, read);
  // Where nothing is stored, nothing speaks against the nearest of the others.
  const rivals = [...clocks.keys()].filter((one) => one === 0 || !isUnknown(one));
  const nearest = rivals.find((one) => rivals.every((other) => one === other || beats(one, other)));
  return nearest === undefined || nearest === 0 ? null : (hours[nearest] as number);
}
