/**
 * Stateless randomness: every number is a hash of its purpose, so numbers can be requested in any order.
 * Integer arithmetic only, hence the same on every engine and machine.
 */

/** Odd constant near 2^32 / golden ratio: consecutive counters land far apart (SplitMix, Steele et al. 2014). */
const GOLDEN = 0x9e3779b9;
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const UNIT = 1 / 4_294_967_296;
/** Mean and standard deviation of the sum of four uniform bytes. */
const BYTES_MEAN = 510;
const BYTES_DEVIATION = 147.8;

/** 32-bit finalizer with low bias (C. Wellons, "lowbias32"): every input bit affects every output bit. */
function mix(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return (h ^ (h >>> 16)) >>> 0;
}

/** 32 random bits: number `counter` of the series `key`. */
export function bits(key: number, counter: number): number {
  return mix(key + Math.imul(counter, GOLDEN));
}

/** Key of a series named by whole numbers, the first one usually the seed. */
export function seriesKey(...parts: readonly number[]): number {
  return parts.reduce((key, part) => mix(key ^ mix(part + GOLDEN)), 0);
}

/** Hash of a text, for use in a key (FNV-1a). */
export function textKey(text: string): number {
  let h = FNV_OFFSET;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), FNV_PRIME);
  return mix(h);
}

/** 32 random bits as a number in [0, 1). */
export function unit(random: number): number {
  return random * UNIT;
}

/** 32 random bits as an approximately normal number: mean 0, standard deviation 1, within ±3.5. */
export function normal(random: number): number {
  const sum = (random & 255) + ((random >>> 8) & 255) + ((random >>> 16) & 255) + (random >>> 24);
  return (sum - BYTES_MEAN) / BYTES_DEVIATION;
}

/**
 * Value noise in [-1, 1]: a random value at every multiple of `period`, linear in between.
 * `position` may be negative.
 */
export function valueNoise(key: number, position: number, period: number): number {
  const cell = Math.floor(position / period);
  const left = unit(bits(key, cell));
  const right = unit(bits(key, cell + 1));
  return 2 * (left + (right - left) * (position / period - cell)) - 1;
}

/** e^x to about 1e-6 for |x| < 0.3 by the Padé approximant [2/2]: exact arithmetic, where engines may differ in Math.exp. */
export function exponential(x: number): number {
  const even = 12 + x * x;
  return (even + 6 * x) / (even - 6 * x);
}
