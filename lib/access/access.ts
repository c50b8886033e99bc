import type { Clock } from "#lib/clock";
import type { Database } from "#lib/db";
import type { Env } from "#lib/env";
import type { Logger } from "#lib/log";
import type { Metrics } from "#lib/metrics";
import { clientBlock } from "./address";
import type { Verdict } from "./bucket";
import { type BucketStore, createMemoryBucketStore } from "./bucket-store";
import { createFailures } from "./failures";
import { findDemo, findKey } from "./find-key";
import { hashKey, isWellFormedKey } from "./key-format";
import { createLastUsed } from "./last-used";
import type { Principal } from "./principal";
import { createVerifier, type KeyVerifier } from "./verify-key";

/** Who may do what, and how often: what the guards of REST and the handshakes of sockets ask. */
export interface Access extends KeyVerifier {
  /** Takes `cost` units from the bucket of the principal's account; from that of the client's address for the demo key. */
  take(principal: Principal, cost: number, address: string): Verdict | Promise<Verdict>;
  /** Ends the background work; what was noted of keys is written. */
  stop(): Promise<void>;
}

interface AccessOptions {
  db: Pick<Database, "pool">;
  clock: Clock;
  env: Pick<Env, "DEMO_KEY">;
  log: Logger;
  metrics: Pick<Metrics, "authFailed">;
  /** True while every control message is heard (the control listener's `connected`). */
  heard: () => boolean;
  /** In memory unless given. */
  buckets?: BucketStore;
}

/**
 * Opens access over a database. Feed every control message to `apply`, so that revocation counts at once.
 * @throws Error when DEMO_KEY is not a key: its last six characters must be the checksum of the rest.
 */
export function createAccess({ db, clock, env, log, metrics, heard, buckets }: AccessOptions): Access {
  const demoKey = env.DEMO_KEY;
  if (demoKey !== "off" && !isWellFormedKey(demoKey))
    throw new Error(
      "DEMO_KEY: its last six characters are not the checksum of the rest. `npm run keys -- demo` prints a new one.",
    );

  const { pool } = db;
  const verifier = createVerifier({
    lookUp: (text) => (text === demoKey ? findDemo(pool) : findKey(pool, clock, hashKey(text))),
    failures: createFailures(clock),
    clock,
    heard,
    onFailure: metrics.authFailed,
  });
  const store = buckets ?? createMemoryBucketStore(clock);
  const lastUsed = createLastUsed(pool, clock, log);
  const stopping = new AbortController();
  const running = lastUsed.run(stopping.signal);

  return {
    verify: verifier.verify,
    apply: verifier.apply,
    take(principal, cost, address) {
      if (principal.perAddress) return store.take(`${principal.keyId} ${clientBlock(address)}`, principal.plan, cost);
      lastUsed.note(principal.keyId, clock.now(), address);
      return store.take(principal.accountId, principal.plan, cost);
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
