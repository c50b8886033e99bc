/** Passes batches of several sources to one reader. A source waits until its batch is taken, so no more wait than there are sources. */
export function createHandOff<Batch>() {
  const waiting: { readonly batch: Batch; readonly taken: () => void }[] = [];
  let wake: () => void = () => undefined;
  let over = false;

  return {
    /** Resolves once the reader asks for the next batch, or will read no more. */
    put(batch: Batch): Promise<void> {
      if (over) return Promise.resolve();
      return new Promise((resolve) => {
        waiting.push({ batch, taken: resolve });
        wake();
      });
    },
    /** The batches in the order in which they came, until the signal aborts. */
    async *read(signal: AbortSignal): AsyncGenerator<Batch> {
      const stopped = () => wake();
      signal.addEventListener("abort", stopped, { once: true });
      try {
        while (!signal.aborted) {
          const next = waiting.shift();
          if (next !== undefined) {
            try {
              yield next.batch;
            } finally {
              next.taken();
            }
            continue;
          }
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      } finally {
        signal.removeEventListener("abort", stopped);
        over = true;
        for (const { taken } of waiting.splice(0)) taken();
      }
    },
  };
}
