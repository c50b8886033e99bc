import type { Clock } from "#lib/clock";
import { KEY_TRUST_STORE_AWAY_S } from "#lib/contract/limits";
import type { ControlMessage } from "#lib/control";
import type { Fault } from "#lib/fault";
import { SECOND_MS } from "#lib/units";
import { createKeyLookUps } from "./key-look-ups";
import type { Failures } from "./limits/failures";
import { createLru } from "./lru";
import { type Principal, requireBegun } from "./principal";

/** A verified key is looked up again after this, even if no message said that it changed. */
const FRESH_MS = 60_000;
/** The same while control messages may be missed: revocation must still take effect within a second. */
const FRESH_DISCONNECTED_MS = 1_000;
const VERIFIED_MAX_COUNT = 10_000;
const REFUSED_MAX_COUNT = 10_000;
/** While the database is unavailable a key is looked up this often, off the path of its requests. */
const AWAY_LOOK_UP_INTERVAL_MS = 1_000;
const NEVER_MS = Number.NEGATIVE_INFINITY;

/** Turns key texts into principals; a verifier of links does the same with their tokens, and with a fault of its own. */
export interface KeyVerifier<Found extends Principal = Principal> {
  /**
   * The principal of a key, without a promise when it was verified lately. Missing, malformed, mistyped, unknown, expired
   * and revoked keys all get the same answer. While the database is unavailable, a key it confirmed in the last
   * KEY_TRUST_STORE_AWAY_S seconds stays valid, unless a control message named it since.
   * @param text as it stands after `Bearer `, null when there was none
   * @param address of the client, for counting failures
   * @throws Fault unauthorized; key_not_yet_valid until the key is valid; rate_limited instead when this client failed too often: valid keys of others behind its
   * address still pass, unless many are being looked up and this one was never verified;
   * service_unavailable when too many unknown keys are being looked up, or the database is unavailable and the key not
   * trusted; pg's own error for the latter where the database said so itself
   */
  verify(text: string | null, address: string): Found | Promise<Found>;
  /** Forgets what a control message voids. */
  apply(message: ControlMessage): void;
}

interface VerifierOptions<Found extends Principal> {
  /** False for a text that cannot be a key or a token, whatever the database says. */
  mayBeValid: (text: string) => boolean;
  /** The principal of such a text as the database has it now; undefined when it is not valid. `address` is that of who uses it. */
  lookUp: (text: string, address: string) => Promise<Found | undefined>;
  /** The answer to a text that is not valid, before there were too many of them; the same for every caller, so that a flood makes none. */
  fault: Fault;
  failures: Failures;
  clock: Clock;
  /** True while every control message arrives. */
  controlConnected: () => boolean;
  onFailure: () => void;
}

interface Entry<Found> {
  readonly principal: Found;
  /** When the database said so; NEVER_MS after a message that may have changed it. */
  lookedUpMs: number;
  /** Until when it is trusted while the database is unavailable; NEVER_MS after a message that named it. */
  trustedUntilMs: number;
  /** When it was last looked up in the background. */
  backgroundMs: number;
}

/** A key that is not valid yet is cached like any other, so that it becomes valid on time. */
function requireBegunBy<Found extends Principal>(clock: Clock, found: Found | Promise<Found>): Found | Promise<Found> {
  if (found instanceof Promise) return found.then((principal) => requireBegun(principal, clock.now()));
  return requireBegun(found, clock.now());
}

/** Refuses a text. @throws Fault at once where the failure was counted without a promise */
function rejected(counted: Fault | Promise<Fault>): Promise<never> {
  if (!(counted instanceof Promise)) throw counted;
  return counted.then((answer) => {
    throw answer;
  });
}

/** Verifies keys and caches the results. The cache holds plain texts: they are in memory with each request anyway. */
export function createVerifier<Found extends Principal>({
  mayBeValid,
  lookUp,
  fault,
  failures,
  clock,
  controlConnected,
  onFailure,
}: VerifierOptions<Found>): KeyVerifier<Found> {
  const verified = createLru<Entry<Found>>(VERIFIED_MAX_COUNT);
  const refused = createLru<number>(REFUSED_MAX_COUNT);
  const lookUps = createKeyLookUps(lookUpAndCache, clock);
  /** Rises with each message: what was read before it is looked up again. */
  let generation = 0;
  /** Rises with each message that names a change of keys: what was read before it is not trusted. */
  let changes = 0;

  const isFresh = (lookedUpMs: number) => clock.now() - lookedUpMs < (controlConnected() ? FRESH_MS : FRESH_DISCONNECTED_MS);
  const isValid = ({ validUntil }: Principal) => validUntil === null || clock.now() < validUntil;
  const isTrusted = ({ principal, trustedUntilMs }: Entry<Found>) => clock.now() < trustedUntilMs && isValid(principal);

  function refuse(address: string): Promise<never> {
    onFailure();
    return rejected(failures.add(address, fault));
  }

  async function lookUpAndCache(text: string, address: string): Promise<Found | undefined> {
    const [before, changesBefore] = [generation, changes];
    const lookedUpMs = clock.now();
    const principal = await lookUp(text, address);
    const changed = before !== generation;
    if (principal !== undefined) {
      const trustedUntilMs = changesBefore === changes ? lookedUpMs + KEY_TRUST_STORE_AWAY_S * SECOND_MS : NEVER_MS;
      verified.set(text, { principal, lookedUpMs: changed ? NEVER_MS : lookedUpMs, trustedUntilMs, backgroundMs: NEVER_MS });
    } else {
      verified.delete(text);
      if (!changed) refused.set(text, lookedUpMs);
    }
    return principal;
  }

  /** Finds out whether the database is back, off the path of requests. */
  function lookUpInBackground(text: string, entry: Entry<Found>, address: string): void {
    if (clock.now() - entry.backgroundMs < AWAY_LOOK_UP_INTERVAL_MS) return;
    if (lookUps.findInBackground(text, address)) entry.backgroundMs = clock.now();
  }

  async function verifyKnown(text: string, address: string): Promise<Found> {
    try {
      return await verifyUnknown(text, address, true);
    } catch (error) {
      // A key that the database answered about has a new entry by now, or none.
      const entry = verified.peek(text);
      if (lookUps.databaseAway() && entry !== undefined && isTrusted(entry)) return entry.principal;
      throw error;
    }
  }

  /** Refuses what needs no look-up without a promise, because that is what floods consist of. */
  function verifyUnknown(text: string, address: string, wasVerified: boolean): Promise<Found> {
    const refusedMs = refused.get(text);
    if ((refusedMs !== undefined && isFresh(refusedMs)) || !mayBeValid(text)) return refuse(address);
    // Others behind a blocked address may have valid keys. Its look-ups are refused only before they burden the database.
    const blocked = !wasVerified && lookUps.busy() && failures.isBlocked(address);
    if (blocked === true) return refuse(address);
    const find = () => lookUps.find(text, address).then((principal) => principal ?? refuse(address));
    return blocked instanceof Promise ? blocked.then((is) => (is ? refuse(address) : find())) : find();
  }

  function find(text: string | null, address: string): Found | Promise<Found> {
    if (text === null) throw fault;
    const entry = verified.get(text);
    if (entry === undefined) return verifyUnknown(text, address, false);
    if (isFresh(entry.lookedUpMs) && isValid(entry.principal)) return entry.principal;
    if (!lookUps.databaseAway() || !isTrusted(entry)) return verifyKnown(text, address);
    lookUpInBackground(text, entry, address);
    return entry.principal;
  }

  return {
    verify: (text, address) => requireBegunBy(clock, find(text, address)),
    apply(message) {
      const { kind } = message;
      if (kind !== "keys" && kind !== "account" && kind !== "sessions" && kind !== "everything") return;
      generation += 1;
      if (kind !== "everything") changes += 1;
      refused.clear();
      // The channel is back, so the database may be: the next look-up shows it.
      if (kind === "everything") lookUps.databaseMayBeBack();
      // An entry stays, to be looked up again: its key was good once, so a blocked address does not keep it out.
      for (const entry of verified.values()) {
        if (!concerns(message, entry.principal)) continue;
        entry.lookedUpMs = NEVER_MS;
        // Messages that may have been missed do not name this key: while the database is unavailable, it stays trusted.
        if (kind !== "everything") entry.trustedUntilMs = NEVER_MS;
      }
    },
  };
}

/** True when a message may have changed what a principal may do. */
export function concerns(message: ControlMessage, principal: Principal): boolean {
  const { portal } = principal;
  // What pages of the live venue read counts for no key of their reader, and ends with one.
  const { keyId, accountId } =
    portal !== undefined && "shows" in portal ? { keyId: portal.shows, accountId: portal.account } : principal;
  if (message.kind === "keys") return message.keyId === undefined || message.keyId === keyId;
  if (message.kind === "account") return message.accountId === undefined || message.accountId === accountId;
  if (message.kind === "sessions")
    return portal !== undefined && "session" in portal && (message.sessionId ?? portal.session) === portal.session;
  return message.kind === "everything";
}
