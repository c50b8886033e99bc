import { mergedOf, type Outgoing } from "./outgoing";

/** True for a record that a newer one of its topic makes needless: not for a closed kline, nor for the one sent on subscribe. */
function canMerge(message: Outgoing): boolean {
  const { event, baseline } = message;
  return event !== undefined && !baseline && !(event.type === "kline" && event.closed);
}

/** Messages that stay: the newest mergeable one of each topic, and all that must not be lost, in their order. */
function newestOf(queue: readonly Outgoing[]): Outgoing[] {
  const kept: Outgoing[] = [];
  const merged = new Set<string>();
  /** Open times of the klines that are closed later in the queue, by topic. */
  const closed = new Map<string, Set<number>>();
  for (let index = queue.length - 1; index >= 0; index -= 1) {
    const message = queue[index] as Outgoing;
    const { event } = message;
    if (event === undefined || !canMerge(message)) {
      kept.push(message);
      if (event?.type === "kline" && event.closed)
        closed.set(event.topic, (closed.get(event.topic) ?? new Set()).add(event.record.time));
      continue;
    }
    if (merged.has(event.topic) || (event.type === "kline" && closed.get(event.topic)?.has(event.record.time))) continue;
    merged.add(event.topic);
    kept.push(message);
  }
  return kept.reverse();
}

/**
 * A queue in which quotes, snapshots and open klines are conflated to the newest of each topic. Closed klines, records sent on
 * subscribe and everything that is not a market record stay. Sequences still rise in it; a record that stands for others says
 * how many.
 */
export function conflate(queue: readonly Outgoing[]): Outgoing[] {
  /** The sequence before the first record of each topic. */
  const last = new Map<string, number>();
  for (const message of queue) {
    const { event } = message;
    if (event !== undefined && !last.has(event.topic)) last.set(event.topic, event.seq - 1 - message.merged);
  }
  return newestOf(queue).map((message) => {
    const { event, baseline } = message;
    if (event === undefined) return message;
    const merged = baseline ? 0 : Math.max(0, event.seq - (last.get(event.topic) ?? 0) - 1);
    last.set(event.topic, event.seq);
    return merged === message.merged ? message : mergedOf(message, event, merged);
  });
}
