import { ACCEPT_TERMS } from "#lib/contract/portal";
import type { Env } from "#lib/env";
import { Fault } from "#lib/fault";

/** The settings that decide who may sign up. */
export type SignUpRules = Pick<Env, "SIGNUP" | "SIGNUP_DOMAINS" | "TERMS_URL" | "PRIVACY_URL" | "TERMS_VERSION">;

/** The part of an email address after the @, in lower case. */
export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf("@") + 1).toLowerCase();
}

/**
 * Whether the account of a new user without an invitation waits for an operator's approval.
 * @throws Fault sign_up_closed where accounts are created only by invitation
 */
export function mustWait({ SIGNUP, SIGNUP_DOMAINS }: SignUpRules, email: string): boolean {
  if (SIGNUP === "closed") throw new Fault("sign_up_closed");
  return SIGNUP === "invited" && !SIGNUP_DOMAINS.includes(domainOf(email));
}

/** True where the installation has terms or a privacy policy, which new users accept. */
function hasTerms({ TERMS_URL, PRIVACY_URL }: Pick<SignUpRules, "TERMS_URL" | "PRIVACY_URL">): boolean {
  return TERMS_URL !== undefined || PRIVACY_URL !== undefined;
}

/**
 * The version of the terms that a new user accepts; null where there are none.
 * @throws Fault missing_parameter for a sign-up that does not accept them
 */
export function acceptedTerms(rules: SignUpRules, accepted: boolean | undefined): string | null {
  if (!hasTerms(rules)) return null;
  if (accepted === true) return rules.TERMS_VERSION;
  throw new Fault("missing_parameter", { parameter: "terms", detail: ACCEPT_TERMS });
}
