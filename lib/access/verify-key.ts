import { LRUCache } from "lru-cache";
import type { Clock } from "#lib/clock";
import { KEY_TRUST_STORE_AWAY_S } from "#lib/contract/limits";
import type { ControlMessage } from "#lib/control/control";
import { isDatabaseAway } from "#lib/db";
import { Fault } from "#lib/fault";
import { clientBlock } from "./address";
import type { Failures } from "./limits/failures";
import type { Principal } from "./principal";

/** A verified key is looked up again after this, also when nobody said that it changed. */
const FRESH_MS = 60_000;
/** The same while control messages may be missed: revocation must take effect within a second all the same. */
const FRESH_UNHEARD_MS = 1_000;
const VERIFIED_MAX_COUNT = 10_000;
const REFUSED_MAX_COUNT = 10_000;
/** Look-ups under way at once; past it a key that is not yet known has to come again. */
const LOOK_UPS_MAX_COUNT = 1_000;
/** Longest wait of a request for a look-up, which goes on without it: a database that does not answer counts as away. */
const LOOK_UP_WAIT_MAX_MS = 2_000;
/** While the database is away a key is asked for again this often, off the path of its requests. */
const AWAY_ASK_INTERVAL_MS = 1_000;
/** Such look-ups under way at once: one that succeeds is enough to tell that the database is back. */
const AWAY_LOOK_UPS_MAX_COUNT = 8;
const RETRY_AFTER_S = 1;
const NEVER_MS = Number.NEGATIVE_INFINITY;

/** Turns key texts into principals. */
export interface KeyVerifier {
  /**
   * The principal of a key, at once when it was verified lately. Missing, malformed, mistyped, unknown, expired and
   * revoked keys all get the same answer. While the database is away, a key it confirmed in the last
   * KEY_TRUST_STORE_AWAY_S seconds goes on being what it was, unless a control message named it since.
   * @param text as it stands after `Bearer `, null when there was none
   * @param address of the client, for counting failures
   * @throws Fault unauthorized; rate_limited where this client failed too often and the key is not one verified before;
   * service_unavailable when too many unknown keys are being looked up, or the database is away and the key not trusted;
   * pg's own error for the latter where the database said so itself
   */
  verify(text: string | null, address: string): Principal | Promise<Principal>;
  /** Forgets what a control message voids. */
  apply(message: ControlMessage): void;
}

interface VerifierOptions {
  /** False for a text that can be told to be no key and no token without asking anybody. */
  mayBeValid: (text: string) => boolean;
  /** The principal of such a text as the database has it now; undefined when it is not valid. */
  lookUp: (text: string) => Promise<Principal | undefined>;
  failures: Failures;
  clock: Clock;
  /** True while every control message is heard. */
  controlConnected: () => boolean;
  onFailure: () => void;
}

interface Entry {
  readonly principal: Principal;
  /** When the database said so; NEVER_MS after a message that may have changed it. */
  lookedUpMs: number;
  /** Until when it is trusted while the database is away; NEVER_MS after a message that named it. */
  trustedUntilMs: number;
  /** When it was last asked for while the database was away. */
  askedMs: number;
}

/** Verifies keys with a memory of what was verified. Texts are kept as they are: they are in memory with each request anyway. */
export function createVerifier({
  mayBeValid,
  lookUp,
  failures,
  clock,
  controlConnected,
  onFailure,
}: VerifierOptions): KeyVerifier {
  const verified = new LRUCache<string, Entry>({ max: VERIFIED_MAX_COUNT });
  const refused = new LRUCache<string, number>({ max: REFUSED_MAX_COUNT });
  const pending = new Map<string, Promise<Principal | undefined>>();
  /** Rises with each message: what was read before it is looked up again. */
  let generation = 0;
  /** True since a look-up found no database, or none that answers, until one succeeds. */
  let away = false;

  const isFresh = (lookedUpMs: number) => clock.now() - lookedUpMs < (controlConnected() ? FRESH_MS : FRESH_UNHEARD_MS);
  const isValid = ({ validUntil }: Principal) => validUntil === null || clock.now() < validUntil;
  const isTrusted = ({ principal, trustedUntilMs }: Entry) => clock.now() < trustedUntilMs && isValid(principal);

  function unauthorized(client: string): Fault {
    failures.add(client);
    onFailure();
    return new Fault("unauthorized");
  }

  async function ask(text: string): Promise<Principal | undefined> {
    const asked = generation;
    const lookedUpMs = clock.now();
    const principal = await lookUp(text);
    away = false;
    const changed = asked !== generation;
    if (principal !== undefined) {
      const trustedUntilMs = changed ? NEVER_MS : lookedUpMs + KEY_TRUST_STORE_AWAY_S * 1000;
      verified.set(text, { principal, lookedUpMs: changed ? NEVER_MS : lookedUpMs, trustedUntilMs, askedMs: NEVER_MS });
    } else {
      verified.delete(text);
      if (!changed) refused.set(text, lookedUpMs);
    }
    return principal;
  }

  /** One look-up a key at a time, shared by all requests that wait for it. */
  function askOnce(text: string): Promise<Principal | undefined> {
    const running = pending.get(text);
    if (running !== undefined) return running;
    if (pending.size >= LOOK_UPS_MAX_COUNT) throw new Fault("service_unavailable", { retry_after: RETRY_AFTER_S });
    const asking = ask(text)
      .catch((error: unknown) => {
        if (isDatabaseAway(error)) away = true;
        throw error;
      })
      .finally(() => pending.delete(text));
    pending.set(text, asking);
    return asking;
  }

  /** The same for a request, which waits only so long. */
  async function askInTime(text: string): Promise<Principal | undefined> {
    const asking = askOnce(text);
    const answered = new AbortController();
    const late = clock.wait(LOOK_UP_WAIT_MAX_MS, answered.signal).then(() => {
      if (answered.signal.aborted) return undefined;
      away = true;
      throw new Fault("service_unavailable", { detail: "The database does not answer.", retry_after: RETRY_AFTER_S });
    });
    try {
      return await Promise.race([asking, late]);
    } finally {
      answered.abort();
      // Who waits no longer does not hear how it ends.
      asking.catch(() => undefined);
    }
  }

  /** Sees off the path of requests whether the database is back. */
  function askAside(text: string, entry: Entry): void {
    if (clock.now() - entry.askedMs < AWAY_ASK_INTERVAL_MS || pending.size >= AWAY_LOOK_UPS_MAX_COUNT) return;
    entry.askedMs = clock.now();
    askOnce(text).catch(() => undefined);
  }

  async function verifyKnown(text: string, address: string): Promise<Principal> {
    try {
      return await verifyUnknown(text, address, true);
    } catch (error) {
      // A key that the database answered about has another entry by now, or none.
      const entry = verified.peek(text);
      if (away && entry !== undefined && isTrusted(entry)) return entry.principal;
      throw error;
    }
  }

  async function verifyUnknown(text: string, address: string, wasVerified: boolean): Promise<Principal> {
    const client = clientBlock(address);
    const blockedS = wasVerified ? 0 : failures.blockedS(client);
    if (blockedS > 0)
      throw new Fault("rate_limited", { detail: "Too many failed authentications from this address.", retry_after: blockedS });
    const refusedMs = refused.get(text);
    if ((refusedMs !== undefined && isFresh(refusedMs)) || !mayBeValid(text)) throw unauthorized(client);
    const principal = await askInTime(text);
    if (principal === undefined) throw unauthorized(client);
    return principal;
  }

  return {
    verify(text, address) {
      if (text === null) throw new Fault("unauthorized");
      const entry = verified.get(text);
      if (entry === undefined) return verifyUnknown(text, address, false);
      if (isFresh(entry.lookedUpMs) && isValid(entry.principal)) return entry.principal;
      if (!away || !isTrusted(entry)) return verifyKnown(text, address);
      askAside(text, entry);
      return entry.principal;
    },
    apply(message) {
      const { kind } = message;
      if (kind !== "keys" && kind !== "account" && kind !== "sessions" && kind !== "everything") return;
      generation += 1;
      refused.clear();
      // The channel is back, so the database may be: the next look-up tells.
      if (kind === "everything") away = false;
      // An entry stays, to be looked up again: its key was good once, so a blocked address does not keep it out.
      for (const entry of verified.values()) {
        if (!concerns(message, entry.principal)) continue;
        entry.lookedUpMs = NEVER_MS;
        // Messages that may have been missed say nothing of this key: with the database away, it is as good as before.
        if (kind !== "everything") entry.trustedUntilMs = NEVER_MS;
      }
    },
  };
}

/** True when a message may have changed what a principal may do. */
export function concerns(message: ControlMessage, { keyId, accountId, portal }: Principal): boolean {
  if (message.kind === "keys") return message.keyId === undefined || message.keyId === keyId;
  if (message.kind === "account") return message.accountId === undefined || message.accountId === accountId;
  if (message.kind === "sessions") return portal !== undefined && (message.sessionId ?? portal.session) === portal.session;
  return message.kind === "everything";
}
