import { MINUTE_S } from "#lib/units";
import type { PricedTime } from "./clock-evidence";
import type { SourceClock } from "./clock-zone";

/** Rows of a file that are compared with stored ones. */
const COMPARED_MAX_COUNT = 1_000;
/** Rows that must be stored at the times of a clock before its prices count. */
const MATCHED_MIN_COUNT = 30;
/** How many times nearer the prices on the right clock are: sources differ by a fraction of a pip, an hour by many. */
const NEARER_MIN_RATIO = 3;

/** The prices of a stored minute. */
export interface StoredMinute {
  readonly low: number;
  readonly high: number;
  readonly close: number;
}

/** Reads stored minutes by their open times, Unix seconds. */
type ReadMinutes = (times: readonly number[]) => Promise<ReadonlyMap<number, StoredMinute>>;

const minuteOf = (ms: number) => Math.floor(ms / 1000 / MINUTE_S) * MINUTE_S;

/**
 * The clock on which rows of a file have the prices that are stored for their minutes: the same minutes an hour off are proof.
 * @param kind prices of klines are compared with the stored close, those of ticks with the stored range
 * @returns undefined when too little is stored to tell
 */
export async function clockOfStored(
  clocks: readonly SourceClock[],
  samples: readonly PricedTime[],
  kind: "ticks" | "klines",
  read: ReadMinutes,
): Promise<SourceClock | undefined> {
  const step = Math.max(1, Math.ceil(samples.length / COMPARED_MAX_COUNT));
  const rows = samples.filter((_, index) => index % step === 0);
  const times = clocks.map((clock) => rows.map(({ timeMs }) => clock.toUtcMs(timeMs)));
  const stored = await read([...new Set(times.flat().map(minuteOf))]);
  const distances = times.map((own) =>
    own.map((atMs, index) => {
      const minute = stored.get(minuteOf(atMs));
      const { price } = rows[index] as PricedTime;
      if (minute === undefined) return Number.NaN;
      return kind === "klines" ? Math.abs(price - minute.close) : Math.max(0, minute.low - price, price - minute.high);
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
