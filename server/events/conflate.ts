import type { MarketEvent } from "./event";

/** An entry of a queue: a market event, or something else that is never dropped (`event` undefined). */
export interface Queued {
  readonly event: MarketEvent | undefined;
  /** Earlier events of the same topic that this one replaces. */
  readonly merged: number;
  /** Restarts its topic's sequence, so nothing may replace it. */
  readonly baseline: boolean;
}

/** True for an event that a newer one of its topic makes obsolete. */
function canMerge({ event, baseline }: Queued): boolean {
  return event !== undefined && !baseline && !(event.type === "kline" && event.closed);
}

/** The entries to keep: the newest mergeable event of each topic and everything that must not be dropped, in order. */
function newestOf<Item extends Queued>(queue: readonly Item[]): Item[] {
  const kept: Item[] = [];
  const merged = new Set<string>();
  /** Open times of the klines that close later in the queue, by topic. */
  const closed = new Map<string, Set<number>>();
  for (let index = queue.length - 1; index >= 0; index -= 1) {
    const item = queue[index] as Item;
    const { event } = item;
    if (event === undefined || !canMerge(item)) {
      kept.push(item);
      if (event?.type === "kline" && event.closed)
        closed.set(event.topic, (closed.get(event.topic) ?? new Set()).add(event.record.time));
      continue;
    }
    if (merged.has(event.topic) || (event.type === "kline" && closed.get(event.topic)?.has(event.record.time))) continue;
    merged.add(event.topic);
    kept.push(item);
  }
  return kept.reverse();
}

/**
 * Conflates quotes, snapshots and open klines to the newest of each topic. Closed klines, baselines and everything that is
 * not a market event stay. Sequences still rise, and an event that replaces others carries their number.
 * @param replacing returns the item with a new `merged` count
 */
export function conflate<Item extends Queued>(
  queue: readonly Item[],
  replacing: (item: Item, event: MarketEvent, merged: number) => Item,
): Item[] {
  /** The sequence before the first event of each topic. */
  const last = new Map<string, number>();
  for (const { event, merged } of queue)
    if (event !== undefined && !last.has(event.topic)) last.set(event.topic, event.seq - 1 - merged);
  return newestOf(queue).map((item) => {
    const { event, baseline } = item;
    if (event === undefined) return item;
    const merged = baseline ? 0 : Math.max(0, event.seq - (last.get(event.topic) ?? 0) - 1);
    last.set(event.topic, event.seq);
    return merged === item.merged ? item : replacing(item, event, merged);
  });
}
