import { Fault } from "#lib/fault";
import { createQueue } from "#lib/queue";

/** Reads that wait while one runs; further ones are refused. */
const WAITING_MAX_COUNT = 19;
const BUSY_RETRY_S = 5;

/**
 * Reads of much history, one after the other: a year is twelve segments to decode, and its minutes take memory.
 * @returns runs work, and throws Fault service_unavailable when too many wait
 */
export function createDataReader() {
  return createQueue({
    runningMaxCount: 1,
    waitingMaxCount: WAITING_MAX_COUNT,
    refusal: () =>
      new Fault("service_unavailable", { detail: "Too many reads of history are waiting.", retry_after: BUSY_RETRY_S }),
  });
}

/** Unix seconds as ISO 8601. */
export function isoOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}

/** The instants at which a UTC year begins and ends, Unix seconds. */
export function yearSpan(year: number): { readonly from: number; readonly to: number } {
  return { from: Date.UTC(year, 0) / 1_000, to: Date.UTC(year + 1, 0) / 1_000 };
}

/** The UTC year of an instant in Unix seconds. */
export function yearOf(seconds: number): number {
  return new Date(seconds * 1_000).getUTCFullYear();
}

/**
 * Collects pages of a list until they took `budgetMs`, at least one.
 * @param next reads an item; null for one that is left out
 */
export async function withinBudget<Key, Item>(
  keys: readonly Key[],
  now: () => number,
  budgetMs: number,
  next: (key: Key) => Promise<Item | null>,
): Promise<{ items: Item[]; next_before: string | null }> {
  const endMs = now() + budgetMs;
  const items: Item[] = [];
  for (const [index, key] of keys.entries()) {
    const item = await next(key);
    if (item !== null) items.push(item);
    if (now() >= endMs && index + 1 < keys.length) return { items, next_before: String(key) };
  }
  return { items, next_before: null };
}
