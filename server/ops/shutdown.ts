import type { Server } from "node:http";

/** Maximum time from the signal to the exit. */
export const DRAIN_MAX_MS = 10_000;
/** The part of it for requests in flight; the rest is for the recorder and the database. */
const REQUESTS_MAX_MS = 5_000;

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
