import Credentials from "next-auth/providers/credentials";
import { SignInForm } from "#lib/contract/portal";
import { CodeForm, UsedPasskey } from "#lib/contract/second-factor";
import { faultOf } from "#lib/http/respond";
import type { PortalRuntime } from "#server/pages/runtime";
import type { Visitor } from "#server/store/users/context";
import { redeemEntry } from "#server/store/users/entry";
import { type Ceremony, userOfPasskey } from "#server/store/users/passkeys";
import { passSecondStep, type SignInStep, secondStepOf } from "#server/store/users/second-factor";
import { checkSignIn } from "#server/store/users/sign-in";

/** The error of a sign-in that goes on with the second factor. */
export const SECOND_FACTOR = "second_factor";

/** One request to sign in, and what its browser keeps of earlier ones. */
export interface SignInCall {
  readonly running: PortalRuntime;
  readonly visitor: Visitor;
  /** The session the browser has until now. */
  readonly claimed: string | undefined;
  /** The challenge it was given for a passkey. */
  readonly ceremony: Ceremony | undefined;
  /** The sign-in it began. */
  readonly step: SignInStep | undefined;
  /** What it was given when it verified an address. */
  readonly entry: string | undefined;
  /** The page that was asked for. */
  readonly next: string;
  /** Called for a sign-in that still needs the second factor. */
  readonly onStep: (step: SignInStep) => void;
  /** Called with the user's id when a session was started. */
  readonly onSignIn: (userId: string) => void;
}

/** The user who signed in; null for wrong credentials. */
type Outcome = { id: string } | null;

/** An error by whose message the sign-in page chooses its words. */
const refused = (error: string) => new Error(error);

async function byPassword({ running: { users }, visitor, onStep }: SignInCall, given: unknown): Promise<Outcome> {
  const { email, password } = (given ?? {}) as Record<string, unknown>;
  const form = SignInForm.safeParse({ email, password });
  const id = form.success ? await checkSignIn(users, form.data, visitor) : undefined;
  if (id === undefined) return null;
  const step = await secondStepOf(users, id);
  if (step === undefined) return { id };
  onStep(step);
  throw refused(SECOND_FACTOR);
}

async function byCode({ running: { users }, visitor, step }: SignInCall, given: unknown): Promise<Outcome> {
  const form = CodeForm.safeParse({ code: (given as { code?: unknown } | undefined)?.code });
  if (step === undefined) throw refused("step_expired");
  const outcome = form.success ? await passSecondStep(users, step, form.data.code, visitor) : "wrong_code";
  if (outcome === "passed") return { id: step.userId };
  throw refused(outcome);
}

async function byEntry({ running: { users }, entry, onStep }: SignInCall): Promise<Outcome> {
  const id = entry === undefined ? undefined : await redeemEntry(users, entry);
  if (id === undefined) throw refused("step_expired");
  // It was asked for when the ticket was made, and may have been added since.
  const step = await secondStepOf(users, id);
  if (step === undefined) return { id };
  onStep(step);
  throw refused(SECOND_FACTOR);
}

async function byPasskey({ running: { users }, ceremony }: SignInCall, given: unknown): Promise<Outcome> {
  const { passkey } = (given ?? {}) as Record<string, unknown>;
  const used = UsedPasskey.safeParse(jsonOf(passkey));
  const id = used.success ? await userOfPasskey(users, used.data, ceremony) : undefined;
  if (id === undefined) throw refused("wrong_passkey");
  return { id };
}

function jsonOf(text: unknown): unknown {
  try {
    return typeof text === "string" ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The ways to sign in on our own: a password, the code after it, a passkey, the link that verified the address. A failure has a fault's identifier or one of ours as
 * its message, which next-auth passes to the sign-in page as `error`.
 */
export function ownCredentials(call: SignInCall) {
  const { log } = call.running;
  const guarded = (check: (call: SignInCall, given: unknown) => Promise<Outcome>) => async (given: unknown) => {
    try {
      return await check(call, given);
    } catch (error) {
      if (error instanceof Error && OWN_ERRORS.has(error.message)) throw error;
      const fault = faultOf(error);
      if (fault.id === "internal_error") log.error({ err: error }, "sign-in failed");
      throw refused(fault.id);
    }
  };
  const field = { type: "text" };
  return [
    Credentials({ credentials: { email: { type: "email" }, password: { type: "password" } }, authorize: guarded(byPassword) }),
    Credentials({ id: "code", name: "Code", credentials: { code: field }, authorize: guarded(byCode) }),
    Credentials({ id: "entry", name: "Verified address", credentials: {}, authorize: guarded(byEntry) }),
    Credentials({ id: "passkey", name: "Passkey", credentials: { passkey: field }, authorize: guarded(byPasskey) }),
  ];
}

const OWN_ERRORS: ReadonlySet<string> = new Set([SECOND_FACTOR, "step_expired", "wrong_code", "too_many_codes", "wrong_passkey"]);
