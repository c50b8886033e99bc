import { LRUCache } from "lru-cache";
import { bits, normal, seriesKey, textKey, unit, valueNoise } from "./noise";

export const MINUTES_PER_DAY = 1_440;
const MINUTES_PER_BURST = 30;
/** Square root of MINUTES_PER_DAY: a day's deviation over this is a minute's. */
const DAY_TO_MINUTE = 37.95;
/** Days of paths that are kept, 11 KiB each: enough for every currency's running day; older ones are cheap to make anew. */
const DAYS_KEPT_COUNT = 128;

/** Slow drift: value noise over these many days, each with this weight of the daily deviation (about the root of its period). */
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

/** One random path through time: the worth of a currency against its mean, as a logarithm. */
export interface PathModel {
  /** Paths of different names are independent. */
  readonly name: string;
  /** Deviation of a day's move, as a fraction. */
  readonly daily: number;
  /** Factor of a minute's deviation by hour of day (UTC), 24 of them. */
  readonly hours: readonly number[];
}

/** The paths of one seed. */
export interface Paths {
  /** Logarithm of the worth at every minute boundary of the UTC day number `day`: 1441 values, the last one the next day's first. */
  ofDay(model: PathModel, day: number): Float64Array;
}

/** How nervous half an hour is: mostly 0.6 to 1.4, now and then a multiple, as after news. Shared by all that move along. */
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
 * A random walk over the minutes of a day, livelier in its lively hours, bent so that it starts and ends at the midnights'
 * levels. Those come from noise around zero, so a path never leaves the neighbourhood of its mean and needs no history.
 */
function walkDay(key: number, model: PathModel, day: number): Float64Array {
  const path = new Float64Array(MINUTES_PER_DAY + 1);
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
  return path;
}

/** Paths for one seed, with a bounded memory of the days last asked for. */
export function createPaths(seed: number): Paths {
  const days = new LRUCache<string, Float64Array>({ max: DAYS_KEPT_COUNT });
  return {
    ofDay(model, day) {
      const name = `${model.name}:${day}`;
      const kept = days.get(name);
      if (kept !== undefined) return kept;
      const path = walkDay(seriesKey(seed, textKey(model.name)), model, day);
      days.set(name, path);
      return path;
    },
  };
}
