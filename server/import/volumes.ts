import type { Role } from "./layout";

/** No minute has as many quotes: a larger whole number is an amount. */
const TICK_VOLUME_MAX = 100_000;

/** Whether the values of a column can be numbers of quotes; null when all are 0 or empty. */
export function areCounts(values: readonly string[]): boolean | null {
  const numbers = values.map(Number).filter((value) => value > 0);
  if (numbers.length === 0) return null;
  return numbers.every((value) => Number.isInteger(value) && value < TICK_VOLUME_MAX);
}

/**
 * What the columns "volume" and "vol" of klines contain: whatever no other column is named for, else what their values can be.
 * @param names as plainName returns them
 */
export function volumeRoles(names: readonly string[], rows: readonly (readonly string[])[]): Record<string, Role | null> {
  const [name] = ["volume", "vol"].filter((one) => names.includes(one));
  if (name === undefined) return {};
  const has = (...others: string[]) => others.some((other) => names.includes(other));
  if (has("tickvolume", "tickvol")) return { [name]: has("realvolume") ? null : "realVolume" };
  if (has("realvolume")) return { [name]: "tickVolume" };
  const counts = areCounts(rows.map((row) => row[names.indexOf(name)] ?? ""));
  return { [name]: counts === false ? "realVolume" : "tickVolume" };
}
