import type { Clock } from "#lib/clock";
import { Fault } from "#lib/fault";
import type { BucketLimits, Verdict } from "./bucket";
import { type BucketStore, createMemoryBucketStore } from "./bucket-store";

/**
 * Rate limits of the portal over all nodes, each by the key it names. A password attempt counts three times: for the client,
 * for the account, and for both together, so that one client guessing does not lock the owner out and many clients still get
 * nowhere.
 */
const SHARED_LIMITS = {
  /** Passwords tried, by client. */
  password_client: { restPerMinute: 30, restBurst: 20 },
  /** Passwords tried, by account. */
  password_account: { restPerMinute: 30, restBurst: 30 },
  /** Passwords tried, by account and client. */
  password_both: { restPerMinute: 5, restBurst: 8 },
  /** Accounts made and mails asked for, by client. */
  mail_client: { restPerMinute: 6, restBurst: 10 },
  /** Mails to one address: three, then one every ten minutes. */
  mail_address: { restPerMinute: 0.1, restBurst: 3 },
} as const satisfies Record<string, BucketLimits>;

/** Rate limits of this node alone: each bounds what one process spends on unknown clients. */
const LOCAL_LIMITS = {
  /** Requests about accounts that need no sign-in, by client; a sign-in takes two. */
  auth_client: { restPerMinute: 120, restBurst: 60 },
  /** The same by network, an IPv4 /24 or an IPv6 /48: a client with one address of it may well have them all. */
  auth_network: { restPerMinute: 240, restBurst: 90 },
  /** The same by all clients together. */
  auth: { restPerMinute: 900, restBurst: 120 },
  /** Any call of the portal's interface, by client. */
  portal: { restPerMinute: 600, restBurst: 200 },
} as const satisfies Record<string, BucketLimits>;

/** Counts attempts, and refuses those past their rate limit. */
export interface Attempts {
  /** Counts on all nodes together. @throws Fault rate_limited with the seconds to wait; the same whether or not what is tried exists */
  take(kind: keyof typeof SHARED_LIMITS, key: string): Promise<void>;
  /** Counts at this node. @throws Fault rate_limited with the seconds to wait */
  takeHere(kind: keyof typeof LOCAL_LIMITS, key: string): void;
}

function requireAllowed({ allowed, retryAfterS }: Verdict): void {
  if (allowed) return;
  throw new Fault("rate_limited", { detail: `Too many attempts. Try again in ${retryAfterS} s.`, retry_after: retryAfterS });
}

/** Makes the counters: in `shared`, the buckets of all nodes, and in this process's memory; bounded as buckets are. */
export function createAttempts(clock: Clock, shared: BucketStore = createMemoryBucketStore(clock)): Attempts {
  const here = createMemoryBucketStore(clock);
  return {
    async take(kind, key) {
      requireAllowed(await shared.take(`${kind} ${key}`, SHARED_LIMITS[kind], 1));
    },
    takeHere: (kind, key) => requireAllowed(here.take(`${kind} ${key}`, LOCAL_LIMITS[kind], 1)),
  };
}
