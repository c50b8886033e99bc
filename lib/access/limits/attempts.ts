import type { Clock } from "#lib/clock";
import { Fault } from "#lib/fault";
import type { BucketLimits, Verdict } from "./bucket";
import { type BucketStore, createMemoryBucketStore } from "./bucket-store";

/**
 * Rate limits of the portal across all nodes. A password attempt counts for the client, for the account, and for the account
 * together with the client and its network, so that neither a guessing client nor its whole network locks the owner out, and
 * many networks cannot guess the password either. A browser that signed in to the account before counts only for itself: no
 * stranger can lock it out.
 */
const SHARED_LIMITS = {
  /** Password attempts by client. */
  password_client: { restPerMinute: 30, restBurst: 20 },
  /** Password attempts by account. */
  password_account: { restPerMinute: 30, restBurst: 30 },
  /** Password attempts by account and client. */
  password_both: { restPerMinute: 5, restBurst: 8 },
  /** The same by account and network: an IPv4 /24 or an IPv6 /48. */
  password_network: { restPerMinute: 10, restBurst: 10 },
  /** Password attempts of a browser that signed in to the account before. */
  password_browser: { restPerMinute: 5, restBurst: 8 },
  /** Codes of a second factor by client, by account, and of browsers that signed in to the account before, together. */
  code_client: { restPerMinute: 5, restBurst: 10 },
  code_account: { restPerMinute: 3, restBurst: 10 },
  code_browser: { restPerMinute: 5, restBurst: 8 },
  /** Accounts created and emails requested, by client. */
  mail_client: { restPerMinute: 6, restBurst: 10 },
  /** Emails to one address: three, then one every ten minutes. */
  mail_address: { restPerMinute: 0.1, restBurst: 3 },
  /** Emails that notify a user of something, by kind. */
  mail_notice: { restPerMinute: 3, restBurst: 3 },
  /** Webhooks added, and test events sent, by account. */
  webhook_add: { restPerMinute: 10, restBurst: 10 },
  webhook_test: { restPerMinute: 3, restBurst: 3 },
  /** Links created, by account. */
  link_add: { restPerMinute: 10, restBurst: 10 },
  /** Sign-ins of agents that are shown, allowed or declined, by account: each may read a document of a server outside. */
  agent_sign_in: { restPerMinute: 20, restBurst: 20 },
} as const satisfies Record<string, BucketLimits>;

/** Rate limits of each node, which bound what one process spends on unknown clients. */
const LOCAL_LIMITS = {
  /** Account requests without a session, by client; a sign-in takes two. */
  auth_client: { restPerMinute: 120, restBurst: 60 },
  /** The same by network, an IPv4 /24 or an IPv6 /48, because a client with one of its addresses can have all of them. */
  auth_network: { restPerMinute: 240, restBurst: 90 },
  /** The same for all clients together. */
  auth: { restPerMinute: 900, restBurst: 120 },
  /**
   * Past the limit of all clients, the same for a network that rarely asks and for all such networks together: a few networks
   * that use up the common rate close nothing for the others.
   */
  auth_rare: { restPerMinute: 4, restBurst: 4 },
  auth_reserve: { restPerMinute: 300, restBurst: 60 },
  /** Passwords rated while they are typed, by client and for all together: each can take a tenth of a second of a thread. */
  strength_client: { restPerMinute: 30, restBurst: 20 },
  strength: { restPerMinute: 200, restBurst: 60 },
  /** Entries in the audit log that strangers cause, for those about accounts and for the others. */
  audit_stranger: { restPerMinute: 10, restBurst: 10 },
  /** Tokens with which pages call for a reader, by client: a browser needs one an hour. */
  page_token: { restPerMinute: 60, restBurst: 60 },
  /** All calls of the portal's API, by client. */
  portal: { restPerMinute: 600, restBurst: 200 },
} as const satisfies Record<string, BucketLimits>;

/** Counts attempts, and rejects those over their rate limit. */
export interface Attempts {
  /** Counts across all nodes. @throws Fault rate_limited with the seconds to wait, whether or not the account exists */
  take(kind: keyof typeof SHARED_LIMITS, key: string): Promise<void>;
  /** Counts on this node. @throws Fault rate_limited with the seconds to wait */
  takeHere(kind: keyof typeof LOCAL_LIMITS, key: string): void;
}

function requireAllowed({ allowed, retryAfterS }: Verdict): void {
  if (allowed) return;
  throw new Fault("rate_limited", { detail: `Too many attempts. Try again in ${retryAfterS} s.`, retry_after: retryAfterS });
}

/** Makes the counters: in `shared`, the buckets of all nodes, and in the memory of this process; both are bounded. */
export function createAttempts(clock: Clock, shared: BucketStore = createMemoryBucketStore(clock)): Attempts {
  const here = createMemoryBucketStore(clock);
  return {
    async take(kind, key) {
      requireAllowed(await shared.take(`${kind} ${key}`, SHARED_LIMITS[kind], 1));
    },
    takeHere: (kind, key) => requireAllowed(here.take(`${kind} ${key}`, LOCAL_LIMITS[kind], 1)),
  };
}
