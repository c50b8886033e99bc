import { randomBytes } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";
import { Fault } from "#lib/fault";
import { createQueue } from "#lib/queue";

/** OWASP's first choice for argon2id in its password storage cheat sheet (the library's default): 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Concurrent hashes: each takes a thread and 19 MiB. The remaining threads serve file system and DNS calls. */
const RUNNING_MAX_COUNT = 2;
/** Maximum number of waiting hashes. */
const WAITING_MAX_COUNT = 32;
const BUSY_RETRY_AFTER_S = 2;

/** Creates and checks password hashes, few at a time, so that a flood of sign-ins does not slow down market data. */
export interface Passwords {
  /**
   * The hash of a password in PHC form, salted.
   * @throws Fault rate_limited when too many are waiting
   */
  hash(password: string): Promise<string>;
  /**
   * True when the password matches the hash. Without a hash it returns false after the same time.
   * @throws Fault rate_limited when too many are waiting
   */
  matches(stored: string | null, password: string): Promise<boolean>;
}

/** Makes a separate queue; a process has one. */
export function createPasswords(): Passwords {
  // Compared when there is no hash; its password is unknown.
  let decoy: Promise<string> | undefined;

  const queued = createQueue({
    runningMaxCount: RUNNING_MAX_COUNT,
    waitingMaxCount: WAITING_MAX_COUNT,
    refusal: () => new Fault("rate_limited", { detail: "Too many sign-ins at once.", retry_after: BUSY_RETRY_AFTER_S }),
  });

  return {
    hash: (password) => queued(() => hash(password, COST)),
    async matches(stored, password) {
      decoy ??= hash(randomBytes(32), COST);
      const against = stored ?? (await decoy);
      const same = await queued(() => verify(against, password));
      return same && stored !== null;
    },
  };
}
