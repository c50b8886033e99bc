import type { Server, ServerResponse } from "node:http";

/** Maximum time from the signal to the exit. */
export const DRAIN_MAX_MS = 10_000;
/** The part of it for requests in flight; the rest is for the recorder and the database. */
const REQUESTS_MAX_MS = 5_000;
/** Node takes 0 for never, and adds up to a second. */
const SOON_MS = 1;

/**
 * Returns a function that drains a server: it accepts no more connections, closes those that are idle, lets requests in flight
 * finish and closes their connections then, and cuts the rest after a time limit. Every call returns the same promise.
 */
export function createDrain(server: Server): () => Promise<void> {
  let drained: Promise<void> | undefined;
  const drain = () =>
    new Promise<void>((resolve) => {
      // Node closes the connections that are idle now. One with a request in flight would stay as long as any idle one, and with it
      // the stop; one that a proxy never leaves idle would be cut in the middle of a request.
      server.keepAliveTimeout = SOON_MS;
      server.prependListener("request", (_, response: ServerResponse) => {
        response.shouldKeepAlive = false;
      });
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
