import type { Kline } from "#lib/domain/kline";
import type { WindowRead } from "#lib/domain/window";

/** How many of the newest rows may still have been open when they were read: a kline closes shortly after the next opens. */
const UNSETTLED_ROWS = 2;

/**
 * Stored rows overlaid with the rows of the view (both ascending), cut to the window that was read. Where both have a kline,
 * the one with more ticks is later: the view of a node that receives no events is older than the store.
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
 * True when the view has every change since `rows` were read: it still holds every row that was open then, so no row can have
 * come and gone in between. Stored history must not have been rewritten since.
 */
export function coversChanges(rows: readonly Kline[], recent: readonly Kline[]): boolean {
  const unsettled = rows.at(-UNSETTLED_ROWS);
  const first = recent[0];
  return unsettled !== undefined && first !== undefined && first.time <= unsettled.time;
}

/**
 * True when the view can no longer change the window: all its rows are later, so every row of the window is stored. This
 * stays true until stored history is rewritten.
 */
export function isSettled(rows: readonly Kline[], recent: readonly Kline[], read: WindowRead): boolean {
  const first = recent[0];
  if (first === undefined) return false;
  if (first.time >= read.to) return true;
  const last = rows.at(-1);
  return read.end === "oldest" && rows.length >= read.limit && last !== undefined && last.time < first.time;
}

/** True when the rows of the view, the newest of their series without a gap, include every row that a read could find. */
export function coversWindow(recent: readonly Kline[], read: WindowRead): boolean {
  const first = recent[0];
  if (first === undefined) return false;
  if (first.time <= read.from) return true;
  return read.end === "newest" && recent.filter(({ time }) => time < read.to).length >= read.limit;
}
