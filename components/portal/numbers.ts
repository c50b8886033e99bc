const COUNT = new Intl.NumberFormat("en-GB");
/** Created on first use: most pages never show one, and it loads more data than all other formats together. */
let compact: Intl.NumberFormat | undefined;

/** A count with thousands separators. */
export function countText(count: number): string {
  return COUNT.format(count);
}

/** How many errors there were. */
export const errorsText = (count: number) => (count === 1 ? "1 error" : `${countText(count)} errors`);

/** A count in few characters, as "6.1M", where space is limited. */
export function compactText(count: number): string {
  compact ??= new Intl.NumberFormat("en-US", { notation: "compact" });
  return compact.format(count);
}

/** Milliseconds with their unit; an en dash for null. */
export function msText(ms: number | null): string {
  if (ms === null) return "–";
  return `${ms < 10 ? ms.toFixed(1) : COUNT.format(Math.round(ms))} ms`;
}

/** A share in percent; an en dash when the total is zero. */
export function shareText(part: number, whole: number): string {
  return whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)}%`;
}

/** A change in percent with its sign, and the class of its color. A change that rounds to zero has neither. */
export function changeText(percent: number): { readonly text: string; readonly tone: string } {
  const size = Math.abs(percent).toFixed(2);
  if (Number(size) === 0) return { text: `${size}%`, tone: "text-ink-soft" };
  return percent > 0 ? { text: `+${size}%`, tone: "text-positive" } : { text: `−${size}%`, tone: "text-danger" };
}

/** A rate, rounded; an en dash while there is none. */
export function rateText(rate: number | null | undefined): string {
  return rate == null ? "–" : countText(Math.round(rate));
}

const KIB = 1_024;
const MIB = 1_024 * KIB;
const GIB = 1_024 * MIB;

/** A size in KiB, MiB or GiB, with a decimal where it is small for its unit. */
export function sizeText(bytes: number): string {
  if (bytes >= GIB) return `${(bytes / GIB).toFixed(1)} GiB`;
  if (bytes < MIB) return `${countText(Math.ceil(bytes / KIB))} KiB`;
  return `${bytes < 10 * MIB ? (bytes / MIB).toFixed(1) : countText(Math.round(bytes / MIB))} MiB`;
}

const prices = new Map<number, Intl.NumberFormat>();

/** A price with its decimals and thousands separators, as in "3,055.752". */
export function priceText(price: number, digits: number): string {
  let format = prices.get(digits);
  if (format === undefined) {
    format = new Intl.NumberFormat("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    prices.set(digits, format);
  }
  return format.format(price);
}
