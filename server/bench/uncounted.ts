import { StreamUse } from "#lib/access/usage/stream-use";
import type { Usage } from "#lib/access/usage/usage";

/** Counts nothing: the service without accounting, to measure what that costs. */
export function createUncounted(): Usage {
  return {
    count: () => false,
    log: () => undefined,
    connected: (principal) => new StreamUse(principal),
    flush: async () => undefined,
    stop: async () => undefined,
  };
}
