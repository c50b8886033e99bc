import type { Server } from "node:http";
import type { Logger } from "#lib/log";

/** Maximum time from the signal to the exit. */
export const DRAIN_MAX_MS = 10_000;
/** The part of it for requests in flight; the rest is for the recorder and the database. */
const REQUESTS_MAX_MS = 5_000;

/** A component to stop, with its name for the log. */
export interface Stoppable {
  readonly name: string;
  stop(): Promise<void> | void;
}

/**
 * Returns a function that drains a server: it accepts no more connections, lets requests in flight finish, and cuts the rest
 * after a time limit. Every call returns the same promise.
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

/** Stops components in the given order; a failure is logged and does not keep the others from stopping. */
export async function stopAll(components: readonly Stoppable[], log: Logger): Promise<void> {
  for (const component of components) {
    try {
      await component.stop();
    } catch (error) {
      log.error({ err: error, part: component.name }, "component did not stop cleanly");
    }
  }
}
