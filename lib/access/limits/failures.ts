import type { Clock } from "#lib/clock";
import { AUTH_FAILURES_NETWORK_PER_MINUTE_COUNT, AUTH_FAILURES_PER_MINUTE_COUNT } from "#lib/contract/limits";
import { Fault } from "#lib/fault";
import { MINUTE_MS } from "#lib/units";
import { clientBlock, coarseAddress } from "../address";
import { createLru } from "../lru";

const WINDOW_MS = MINUTE_MS;
/** Maximum number of clients, and of networks, kept; past it the least recently seen one is dropped. */
const KEPT_MAX_COUNT = 100_000;

/** Counts the failed authentications of each client and of each network. */
export interface Failures {
  /** Counts one more failure. Returns its answer: the fault given, or rate_limited after too many. */
  add(address: string, fault: Fault): Fault;
  /** True after too many failures of the client or its network, until the minute ends. */
  isBlocked(address: string): boolean;
}

/** Failures in a fixed minute that starts with the first. */
function createWindows(clock: Clock, max: number) {
  const windows = createLru<{ endMs: number; count: number }>(KEPT_MAX_COUNT);

  function running(name: string) {
    const window = windows.get(name);
    return window !== undefined && clock.now() < window.endMs ? window : undefined;
  }

  return {
    /** Counts one; returns the milliseconds until the minute ends, 0 while there are not too many. */
    add(name: string): number {
      const window = running(name);
      if (window === undefined) {
        windows.set(name, { endMs: clock.now() + WINDOW_MS, count: 1 });
        return 0;
      }
      window.count += 1;
      return window.count > max ? window.endMs - clock.now() : 0;
    },
    isFull: (name: string) => (running(name)?.count ?? 0) > max,
  };
}

/** Makes the counters. */
export function createFailures(clock: Clock): Failures {
  const clients = createWindows(clock, AUTH_FAILURES_PER_MINUTE_COUNT);
  const networks = createWindows(clock, AUTH_FAILURES_NETWORK_PER_MINUTE_COUNT);
  const networkOf = (address: string) => coarseAddress(address) ?? address;
  return {
    add(address, fault) {
      const waitMs = Math.max(clients.add(clientBlock(address)), networks.add(networkOf(address)));
      if (waitMs <= 0) return fault;
      return new Fault("rate_limited", {
        detail: "Too many failed authentications from this address or its network.",
        retry_after: Math.max(1, Math.ceil(waitMs / 1000)),
      });
    },
    isBlocked: (address) => clients.isFull(clientBlock(address)) || networks.isFull(networkOf(address)),
  };
}
