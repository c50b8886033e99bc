import { LRUCache } from "lru-cache";
import type { Clock } from "#lib/clock";
import { AUTH_FAILURES_PER_MINUTE_COUNT } from "#lib/contract/limits";
import { MINUTE_MS } from "#lib/units";

const WINDOW_MS = MINUTE_MS;
/** Most addresses kept; past it the least recently seen one is dropped. */
const ADDRESSES_MAX_COUNT = 100_000;

/** Counts the failed authentications of each client. */
export interface Failures {
  /** Counts one more failure. */
  add(client: string): void;
  /** Whole seconds during which unverified keys of this client are not looked up; 0 when they are. */
  blockedS(client: string): number;
}

/** Failures in a fixed minute that starts with the first. */
export function createFailures(clock: Clock): Failures {
  const windows = new LRUCache<string, { endMs: number; count: number }>({ max: ADDRESSES_MAX_COUNT });

  function running(client: string) {
    const window = windows.get(client);
    return window !== undefined && clock.now() < window.endMs ? window : undefined;
  }

  return {
    add(client) {
      const window = running(client);
      if (window === undefined) windows.set(client, { endMs: clock.now() + WINDOW_MS, count: 1 });
      else window.count += 1;
    },
    blockedS(client) {
      const window = running(client);
      if (window === undefined || window.count < AUTH_FAILURES_PER_MINUTE_COUNT) return 0;
      return Math.max(1, Math.ceil((window.endMs - clock.now()) / 1000));
    },
  };
}
