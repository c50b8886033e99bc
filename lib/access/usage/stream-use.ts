import type { Principal } from "#lib/access/principal";
import { DEMO_NAME } from "#lib/access/principal";
import type { Clock } from "#lib/clock";
import { MINUTE_MS } from "#lib/units";

/** Maximum number of keys whose usage is counted, even while it cannot be written; usage of further keys is dropped. */
const KEYS_MAX_COUNT = 50_000;

/** Stream usage of a key in one minute. */
export interface StreamCount {
  readonly accountId: string;
  readonly keyId: string;
  /** Start of the minute, Unix milliseconds. */
  readonly atMs: number;
  connections: number;
  subscriptions: number;
  messages: number;
  merged: number;
}

/**
 * Stream usage of one key, shared by its connections. A class, because its instances share their methods.
 */
export class StreamUse {
  readonly keyId: string;
  readonly accountId: string;
  /** Open connections. */
  open = 0;
  connections = 0;
  subscriptions = 0;
  messages = 0;
  records = 0;

  constructor({ keyId, accountId }: Pick<Principal, "keyId" | "accountId">) {
    this.keyId = keyId;
    this.accountId = accountId;
  }

  /** Counts topics that a connection starts to follow. */
  subscribed(topics: number): void {
    this.subscriptions += topics;
  }

  /** Counts messages passed to a connection. */
  sent(messages: number): void {
    this.messages += messages;
  }

  /** Counts records merged into newer ones because a connection was slow. */
  merged(records: number): void {
    this.records += records;
  }

  /** Counts the end of a connection. Call it once for each. */
  closed(): void {
    this.open -= 1;
  }
}

/** Stream usage of all keys. */
interface StreamCounts {
  /** Counts one opened connection; report its activity to the result. */
  connected(principal: Pick<Principal, "keyId" | "accountId">): StreamUse;
  /** Takes the new usage of up to `max` keys; the caller writes it or gives it back. */
  take(max: number): StreamCount[];
  giveBack(counts: readonly StreamCount[]): void;
  /** Connections opened without being counted since the last call of this function. */
  dropped(): number;
}

/**
 * Makes counts of streams, one per key. While they cannot be written, there is at most one per key in use: counts given back
 * are added to the minute in which they are taken again.
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
