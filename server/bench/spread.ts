/** Several measurements of one thing: the middle one, and the limits of the middle half. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** The value below which this share of the sorted values lies, between two of them where it falls between. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const place = (sorted.length - 1) * share;
  const [below, above] = [sorted[Math.floor(place)] ?? Number.NaN, sorted[Math.ceil(place)] ?? Number.NaN];
  return below + (above - below) * (place - Math.floor(place));
}

/** The spread of some values. @throws Error when there are none, or one is not a number: a round was not measured */
export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0 || values.some(Number.isNaN)) throw new Error("a round was not measured");
  const sorted = [...values].sort((a, b) => a - b);
  return { median: quantile(sorted, 0.5), low: quantile(sorted, 0.25), high: quantile(sorted, 0.75) };
}

/** Three significant digits, with thousands separators: "12,300", "0.87". */
export function rounded(value: number): string {
  return value.toLocaleString("en-US", { maximumSignificantDigits: 3 });
}

/** A spread as text: "12,300 (11,900 to 12,500)". */
export function spreadText({ median, low, high }: Spread): string {
  return `${rounded(median)} (${rounded(low)} to ${rounded(high)})`;
}
