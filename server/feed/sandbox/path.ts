import { LRUCache } from "lru-cache";
import { bits, normal, seriesKey, textKey, unit, valueNoise } from "./noise";

export const MINUTES_PER_DAY = 1_440;
const MINUTES_PER_BURST = 30;
/** Square root of MINUTES_PER_DAY: the standard deviation of a day divided by this is that of a minute. */
const DAY_TO_MINUTE = 37.95;
/** Cached days of paths, 11 KiB each: the days of a block for every currency, because pairs of a currency share its path. */
const DAYS_KEPT_COUNT = 544;

/**
 * Slow drift: value noise with these periods in days, each with this weight of the daily standard deviation (about the square
 * root of its period).
 */
const OCTAVES: readonly (readonly [days: number, weight: number])[] = [
  [2, 1.4],
  [4, 2],
  [8, 2.8],
  [16, 4],
  [32, 5.7],
  [64, 8],
  [128, 11.3],
  [256, 16],
  [512, 22.6],
];

/** One random path through time: the value of a currency relative to its mean, as a logarithm. */
export interface PathModel {
  /** Paths of different names are independent. */
  readonly name: string;
  /** Standard deviation of a daily move, as a fraction. */
  readonly daily: number;
  /** Factor of a minute's standard deviation by hour of day (UTC), 24 values. */
  readonly hours: readonly number[];
}

/** The paths of one seed. */
export interface Paths {
  /**
   * Adds to `line`, `sign` times, the logarithm of the value at every minute boundary of the UTC day number `day`: 1441 values, the
   * last one equal to the next day's first.
   */
  add(line: Float64Array, model: PathModel, day: number, sign: 1 | -1): void;
}

/**
 * Volatility factor of half an hour: mostly 0.6 to 1.4, sometimes a multiple, as after news. Shared by all currencies that move
 * together.
 */
export function burst(key: number, block: number): number {
  const random = unit(bits(key, block));
  return random > 0.985 ? 2.6 : 0.6 + 0.8 * random;
}

function levelAtMidnight(key: number, daily: number, day: number): number {
  let sum = 0;
  for (const [period, weight] of OCTAVES) sum += weight * valueNoise(seriesKey(key, period), day, period);
  return sum * daily;
}

/**
 * A random walk over the minutes of a day, more volatile in its active hours, bent so that it starts and ends at the levels of
 * the two midnights. Those are noise around zero, so a path stays close to its mean and needs no history.
 */
function walkDay(path: Float64Array, key: number, model: PathModel, day: number): void {
  const steps = seriesKey(key, 1, day);
  const bursts = seriesKey(key, 2);
  let walked = 0;
  for (let minute = 0; minute < MINUTES_PER_DAY; minute += MINUTES_PER_BURST) {
    const block = (day * MINUTES_PER_DAY + minute) / MINUTES_PER_BURST;
    const hour = model.hours[Math.floor(minute / 60)] ?? 1;
    const deviation = (model.daily / DAY_TO_MINUTE) * hour * burst(bursts, block);
    for (let i = minute; i < minute + MINUTES_PER_BURST; i++) {
      path[i] = walked;
      walked += deviation * normal(bits(steps, i));
    }
  }
  const start = levelAtMidnight(key, model.daily, day);
  const end = levelAtMidnight(key, model.daily, day + 1);
  const slope = (end - start - walked) / MINUTES_PER_DAY;
  for (let i = 0; i < MINUTES_PER_DAY; i++) path[i] = start + (path[i] ?? 0) + slope * i;
  path[MINUTES_PER_DAY] = end;
}

/** Paths for one seed; caches a limited number of recently used days. */
export function createPaths(seed: number): Paths {
  // Arrays of evicted days are used again. A new array for each day would fragment the memory of the process.
  const spare: Float64Array[] = [];
  const days = new LRUCache<string, Float64Array>({ max: DAYS_KEPT_COUNT, dispose: (path) => spare.push(path) });

  function ofDay(model: PathModel, day: number): Float64Array {
    const name = `${model.name}:${day}`;
    const kept = days.get(name);
    if (kept !== undefined) return kept;
    const path = spare.pop() ?? new Float64Array(MINUTES_PER_DAY + 1);
    walkDay(path, seriesKey(seed, textKey(model.name)), model, day);
    days.set(name, path);
    return path;
  }

  return {
    add(line, model, day, sign) {
      const path = ofDay(model, day);
      for (let i = 0; i <= MINUTES_PER_DAY; i++) line[i] = (line[i] ?? 0) + sign * (path[i] ?? 0);
    },
  };
}
