/** What is due for a connection is gathered this long and leaves in one write: writes are what fan-out costs most. */
export const FLUSH_INTERVAL_MS = 5;

/** Something with data due for a connection. */
interface Flushable {
  /** Hands over what the connection takes now. */
  flush(): void;
}

/** Lets outboxes flush together. */
export interface Flusher {
  /** Flushes it soon: at once in a quiet moment, within the interval under load. Called once until it is flushed. */
  add(due: Flushable): void;
}

/** Makes a flusher on real timers: it paces writes and means nothing by it. */
export function createFlusher(): Flusher {
  let due: Flushable[] = [];
  let lastMs = Number.NEGATIVE_INFINITY;

  function flush(): void {
    const outboxes = due;
    due = [];
    lastMs = performance.now();
    for (const outbox of outboxes) outbox.flush();
  }

  return {
    add(outbox) {
      if (due.push(outbox) > 1) return;
      const waitMs = lastMs + FLUSH_INTERVAL_MS - performance.now();
      if (waitMs <= 0) setImmediate(flush);
      else setTimeout(flush, waitMs);
    },
  };
}
