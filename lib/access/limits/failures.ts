import type { Clock } from "#lib/clock";
import { AUTH_FAILURES_PER_MINUTE_COUNT } from "#lib/contract/limits";
import { Fault } from "#lib/fault";
import { MINUTE_MS } from "#lib/units";
import { createLru } from "../lru";

const WINDOW_MS = MINUTE_MS;
/** Maximum number of addresses kept; past it the least recently seen one is dropped. */
const ADDRESSES_MAX_COUNT = 100_000;

/** Counts the failed authentications of each client. */
export interface Failures {
  /** Counts one more failure. Returns its answer: unauthorized, or rate_limited after too many. */
  add(client: string, detail?: string): Fault;
  /** True after too many failures, until the minute ends. */
  isBlocked(client: string): boolean;
}

const isBlocked = ({ count }: { readonly count: number }) => count > AUTH_FAILURES_PER_MINUTE_COUNT;

/** Failures in a fixed minute that starts with the first. */
export function createFailures(clock: Clock): Failures {
  const windows = createLru<{ endMs: number; count: number }>(ADDRESSES_MAX_COUNT);

  function running(client: string) {
    const window = windows.get(client);
    return window !== undefined && clock.now() < window.endMs ? window : undefined;
  }

  return {
    add(client, detail) {
      const window = running(client) ?? { endMs: clock.now() + WINDOW_MS, count: 0 };
      windows.set(client, window);
      window.count += 1;
      if (!isBlocked(window)) return new Fault("unauthorized", detail === undefined ? {} : { detail });
      const retryAfterS = Math.max(1, Math.ceil((window.endMs - clock.now()) / 1000));
      return new Fault("rate_limited", {
        detail: "Too many failed authentications from this address.",
        retry_after: retryAfterS,
      });
    },
    isBlocked(client) {
      const window = running(client);
      return window !== undefined && isBlocked(window);
    },
  };
}
