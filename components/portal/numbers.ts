const COUNT = new Intl.NumberFormat("en-GB");
const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact" });

/** A count with its thousands apart. */
export function countText(count: number): string {
  return COUNT.format(count);
}

/** A count in few characters, as "6.1M", where there is no room for all of it. */
export function compactText(count: number): string {
  return COMPACT.format(count);
}

/** Milliseconds with their unit; an en dash for none. */
export function msText(ms: number | null): string {
  if (ms === null) return "–";
  return `${ms < 10 ? ms.toFixed(1) : COUNT.format(Math.round(ms))} ms`;
}

/** A part of a whole in percent; an en dash of nothing. */
export function shareText(part: number, whole: number): string {
  return whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)} %`;
}
