import type { Server } from "node:http";
import type { Logger } from "#lib/log";

/** Longest a drain may take from the signal to the exit. */
export const DRAIN_MAX_MS = 10_000;
/** Part of it that requests in flight may take; the rest is for the recorder and the database. */
const REQUESTS_MAX_MS = 5_000;

/** One thing to stop, named for the log. */
export interface Stoppable {
  readonly name: string;
  stop(): Promise<void> | void;
}

/**
 * What drains a server when it is first called: it accepts no more connections, requests in flight end, what is left after a
 * while is cut. Each call gives the same promise of the end.
 */
export function createDrain(server: Server): () => Promise<void> {
  let drained: Promise<void> | undefined;
  const drain = () =>
    new Promise<void>((resolve) => {
      const cut = setTimeout(() => server.closeAllConnections(), REQUESTS_MAX_MS);
      server.close(() => {
        clearTimeout(cut);
        resolve();
      });
      server.closeIdleConnections();
    });
  return () => {
    drained ??= drain();
    return drained;
  };
}

/** Stops all parts in the order given; one that fails is logged and does not keep the others from stopping. */
export async function stopAll(parts: readonly Stoppable[], log: Logger): Promise<void> {
  for (const part of parts) {
    try {
      await part.stop();
    } catch (error) {
      log.error({ err: error, part: part.name }, "part did not stop cleanly");
    }
  }
}
