import { clientBlock } from "#lib/access/address";
import type { Attempts } from "#lib/access/limits/attempts";
import type { Clock } from "#lib/clock";
import { PASSWORD_MIN_SCORE, type PasswordRating } from "#lib/contract/portal";
import { Fault } from "#lib/fault";
import { MINUTE_MS } from "#lib/units";
import type { Strength, StrengthOrder } from "./strength-worker";
import { createThread } from "./thread";

/** Passwords that wait to be rated. */
const WAITING_MAX_COUNT = 16;
const RETRY_AFTER_S = 2;
/** How long the dictionaries stay in memory without use. */
const IDLE_MS = 10 * MINUTE_MS;
/** Most words of a name and an address that a password is compared with. */
const PERSONAL_MAX_COUNT = 20;
/** What every password of this service could contain. */
const PRODUCT = "spotwire";

/** The user a password is for. */
interface Owner {
  readonly email?: string | undefined;
  readonly name?: string | undefined;
}

/** Rates passwords by lists of common passwords, names and words, keyboard patterns, dates and repetitions. Asks no other host. */
export interface PasswordStrength {
  /** @throws Fault rate_limited when too many wait */
  rate(password: string, owner: Owner): Promise<Strength>;
  /** Ends its thread. */
  close(): Promise<void>;
}

/** What rates passwords, each client at a limited rate. */
interface Rating {
  readonly attempts: Attempts;
  readonly strength: PasswordStrength;
}

/** Who chooses a password. */
interface Chooser {
  /** The client's address. */
  readonly address: string;
}

/** Rates passwords in a thread, which starts with the first one and ends when there were none for ten minutes. */
export function createPasswordStrength(clock: Clock, waitingMaxCount = WAITING_MAX_COUNT): PasswordStrength {
  const thread = createThread<StrengthOrder, Strength>({
    name: "the thread that rates passwords",
    file: new URL("./strength-worker.ts", import.meta.url),
    waitingMaxCount,
    busy: () => new Fault("rate_limited", { detail: "Too many passwords at once.", retry_after: RETRY_AFTER_S }),
    idle: { clock, ms: IDLE_MS },
  });
  return {
    rate: (password, owner) => thread.ask({ password, personal: wordsOf(owner) }),
    close: thread.close,
  };
}

/** The address and the name, whole and in words. */
function wordsOf({ email = "", name = "" }: Owner): string[] {
  const words = `${email} ${name}`.split(/[^\p{L}\p{N}]+/u);
  return [PRODUCT, email, name, ...words].filter((word) => word.length > 2).slice(0, PERSONAL_MAX_COUNT);
}

/**
 * Rates a password while it is typed.
 * @throws Fault rate_limited, for one client or for all together
 */
export async function rateTyped(
  { attempts, strength }: Rating,
  password: string,
  owner: Owner,
  { address }: Chooser,
): Promise<PasswordRating> {
  attempts.takeHere("strength_client", clientBlock(address));
  attempts.takeHere("strength", "everyone");
  const { score, advice } = await strength.rate(password, owner);
  return { score, accepted: score >= PASSWORD_MIN_SCORE, advice };
}

/**
 * Refuses a new password that is easy to guess.
 * @throws Fault invalid_parameter naming `password`; rate_limited
 */
export async function requireStrong(
  { attempts, strength }: Rating,
  password: string,
  owner: Owner,
  { address }: Chooser,
): Promise<void> {
  attempts.takeHere("strength_client", clientBlock(address));
  const { score, advice } = await strength.rate(password, owner);
  if (score >= PASSWORD_MIN_SCORE) return;
  const detail = `This password is easy to guess. ${advice || "Add more words that are less common."}`;
  throw new Fault("invalid_parameter", { parameter: "password", detail });
}
