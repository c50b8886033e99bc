/** Steps of an axis between powers of ten. */
const STEPS = [1, 2, 5, 10];

/**
 * Round values from `low` to `high` for an axis, ascending: multiples of 1, 2 or 5 times a power of ten, as dense as `maxCount`
 * allows, and never finer than `digits` decimals.
 */
export function roundSteps(low: number, high: number, maxCount: number, digits: number): number[] {
  const rough = (high - low) / maxCount;
  const power = Math.max(-digits, Math.floor(Math.log10(rough)));
  const step = (STEPS.find((one) => one * 10 ** power >= rough) ?? 10) * 10 ** power;
  const first = Math.ceil(low / step);
  const count = Math.max(0, Math.floor(high / step) - first + 1);
  return Array.from({ length: count }, (_, index) => Number(((first + index) * step).toFixed(digits)));
}
