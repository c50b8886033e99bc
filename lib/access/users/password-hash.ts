import { randomBytes } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";
import { Fault } from "#lib/fault";

/** The first choice of OWASP's password storage cheat sheet for argon2id (the library's default): 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Hashes at once: each takes a thread and 19 MiB. The threads that are left serve files and names. */
const RUNNING_MAX_COUNT = 2;
/** Hashes that wait for their turn. */
const WAITING_MAX_COUNT = 32;
const BUSY_RETRY_AFTER_S = 2;

/** Makes and checks password hashes, few at a time, so that a flood of sign-ins does not slow the market. */
export interface Passwords {
  /**
   * The hash of a password in PHC form, salted.
   * @throws Fault rate_limited when too many wait already
   */
  hash(password: string): Promise<string>;
  /**
   * True when the password is the one behind the hash. Without a hash it takes the same time and is false.
   * @throws Fault rate_limited when too many wait already
   */
  matches(stored: string | null, password: string): Promise<boolean>;
}

/** Makes a queue of its own; one process has one. */
export function createPasswords(): Passwords {
  const waiting: (() => void)[] = [];
  let running = 0;
  // What is compared where there is no hash; nobody knows its password.
  let decoy: Promise<string> | undefined;

  async function inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    if (running >= RUNNING_MAX_COUNT) {
      if (waiting.length >= WAITING_MAX_COUNT)
        throw new Fault("rate_limited", { detail: "Too many sign-ins at once.", retry_after: BUSY_RETRY_AFTER_S });
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      // The turn is handed on, never given back first, so that nobody gets in between.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  }

  return {
    hash: (password) => inTurn(() => hash(password, COST)),
    async matches(stored, password) {
      decoy ??= hash(randomBytes(32), COST);
      const against = stored ?? (await decoy);
      const same = await inTurn(() => verify(against, password));
      return same && stored !== null;
    },
  };
}
