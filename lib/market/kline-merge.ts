import type { Kline } from "#lib/contract/kline";
import type { WindowRead } from "#lib/domain/window";

/** Newest rows of a series that may still have been open when they were read: a kline closes a little after the next opened. */
const UNSETTLED_ROWS = 2;

/**
 * Stored rows with the rows of the view over them (both ascending), cut to the window that was read. Both are states of the
 * same kline, so the one with more ticks is the later one: a node that does not hear the market has less than the store.
 */
export function mergeRows(stored: readonly Kline[], recent: readonly Kline[], read: WindowRead): Kline[] {
  const within = recent.filter(({ time }) => time >= read.from && time < read.to);
  const first = within[0];
  if (first === undefined) return [...stored];
  const merged = stored.filter(({ time }) => time < first.time);
  const later = stored.slice(merged.length);
  let index = 0;
  for (const row of within) {
    let latest = row;
    for (let other = later[index]; other !== undefined && other.time <= row.time; other = later[index]) {
      if (other.time < row.time) merged.push(other);
      else if (other.tick_volume > row.tick_volume) latest = other;
      index += 1;
    }
    merged.push(latest);
  }
  for (const row of later.slice(index)) merged.push(row);
  return read.end === "oldest" ? merged.slice(0, read.limit) : merged.slice(-read.limit);
}

/**
 * True when all that changed since `rows` were read stands in the view: it still holds every row that was open then, so
 * nothing came and left it unseen. Stored history itself must not have been rewritten.
 */
export function coversChanges(rows: readonly Kline[], recent: readonly Kline[]): boolean {
  const unsettled = rows.at(-UNSETTLED_ROWS);
  const first = recent[0];
  return unsettled !== undefined && first !== undefined && first.time <= unsettled.time;
}

/**
 * True when the view cannot change the window any more: all it holds is later, so each row of the window was stored long
 * ago. It stays so until stored history is rewritten.
 */
export function isSettled(rows: readonly Kline[], recent: readonly Kline[], read: WindowRead): boolean {
  const first = recent[0];
  if (first === undefined) return false;
  if (first.time >= read.to) return true;
  const last = rows.at(-1);
  return read.end === "oldest" && rows.length >= read.limit && last !== undefined && last.time < first.time;
}

/** True when the rows of the view, which are the newest of their series without a gap, are all that a read can find. */
export function coversWindow(recent: readonly Kline[], read: WindowRead): boolean {
  const first = recent[0];
  if (first === undefined) return false;
  if (first.time <= read.from) return true;
  return read.end === "newest" && recent.filter(({ time }) => time < read.to).length >= read.limit;
}
