import { DEMO_NAME } from "#lib/access/find-key";
import type { Principal } from "#lib/access/principal";
import type { Clock } from "#lib/clock";
import { MINUTE_MS } from "#lib/units";

/** Keys whose use is counted at once, also while it cannot be written; past it that of further keys is dropped. */
const KEYS_MAX_COUNT = 50_000;

/** What a key's streams did in one minute. */
export interface StreamCount {
  readonly accountId: string;
  readonly keyId: string;
  /** Begin of the minute, Unix milliseconds. */
  readonly atMs: number;
  connections: number;
  subscriptions: number;
  messages: number;
  merged: number;
}

/**
 * Use of streams by one key; its connections share it. A class: counting is one addition, and its methods are shared.
 */
export class StreamUse {
  readonly keyId: string;
  readonly accountId: string;
  /** Connections that are open now. */
  open = 0;
  connections = 0;
  subscriptions = 0;
  messages = 0;
  records = 0;

  constructor({ keyId, accountId }: Pick<Principal, "keyId" | "accountId">) {
    this.keyId = keyId;
    this.accountId = accountId;
  }

  /** Topics that a connection follows from now on. */
  subscribed(topics: number): void {
    this.subscriptions += topics;
  }

  /** Messages that were handed to a connection. */
  sent(messages: number): void {
    this.messages += messages;
  }

  /** Records that were merged into newer ones because a connection was slow. */
  merged(records: number): void {
    this.records += records;
  }

  /** One connection is gone. Call it once for each. */
  closed(): void {
    this.open -= 1;
  }
}

/** What the streams of all keys do. */
interface StreamCounts {
  /** Counts one opened connection; report what it does to the result. */
  connected(principal: Pick<Principal, "keyId" | "accountId">): StreamUse;
  /** Takes what was counted since of up to so many keys; it is the caller's to write, or to give back. */
  take(max: number): StreamCount[];
  giveBack(counts: readonly StreamCount[]): void;
  /** Connections that were opened and not counted since this was last asked. */
  dropped(): number;
}

/**
 * Makes counts of streams, one a key. While they cannot be written there are as many as keys in use, however long that
 * lasts: what is given back counts for the minute in which it is taken again.
 */
export function createStreamCounts(clock: Clock, keysMax = KEYS_MAX_COUNT): StreamCounts {
  const uses = new Map<string, StreamUse>();
  let dropped = 0;

  function entryOf(principal: Pick<Principal, "keyId" | "accountId">): StreamUse {
    const known = uses.get(principal.keyId);
    if (known !== undefined) return known;
    const use = new StreamUse(principal);
    if (uses.size < keysMax) uses.set(principal.keyId, use);
    return use;
  }

  return {
    connected(principal) {
      const use = entryOf(principal);
      if (!uses.has(principal.keyId)) dropped += 1;
      use.open += 1;
      use.connections += 1;
      return use;
    },
    take(max) {
      const nowMs = clock.now();
      const atMs = nowMs - (nowMs % MINUTE_MS);
      const taken: StreamCount[] = [];
      for (const use of uses.values()) {
        if (taken.length === max) break;
        const { accountId, keyId, connections, subscriptions, messages, records: merged } = use;
        if (use.open === 0) uses.delete(keyId);
        if (connections + subscriptions + messages + merged === 0) continue;
        if (accountId !== DEMO_NAME) taken.push({ accountId, keyId, atMs, connections, subscriptions, messages, merged });
        use.connections = use.subscriptions = use.messages = use.records = 0;
      }
      return taken;
    },
    giveBack(counts) {
      for (const count of counts) {
        const use = entryOf(count);
        if (!uses.has(count.keyId)) dropped += count.connections;
        use.connections += count.connections;
        use.subscriptions += count.subscriptions;
        use.messages += count.messages;
        use.records += count.merged;
      }
    },
    dropped() {
      const count = dropped;
      dropped = 0;
      return count;
    },
  };
}
