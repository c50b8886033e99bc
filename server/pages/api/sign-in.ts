import { ForgotForm, MailLinkForm, ProofForm, ResetForm, SignUpForm, StrengthForm, VerifyForm } from "#lib/contract/portal";
import { PasskeyProofForm } from "#lib/contract/second-factor";
import { portalRoute } from "#server/pages/route";
import { ownCookie } from "#server/pages/sign-in/cookies";
import { ceremonyOf } from "#server/pages/sign-in/passkey-ceremony";
import { keepEntry, knownBrowserCookie } from "#server/pages/sign-in/signed-cookies";
import { purposeOfLink, verifyEmail } from "#server/store/users/email";
import { accessBehindReset, requestReset, resetPassword } from "#server/store/users/password";
import { proveByPasskey, proveByPassword } from "#server/store/users/proof";
import { resendVerification, signUp } from "#server/store/users/sign-up";
import { rateTyped } from "#server/threads/password-strength";

export const signInRoutes = [
  /** Signs up; the answer does not reveal whether the address was taken. */
  portalRoute("POST /sign-up", { input: SignUpForm, user: "none" }, async ({ input, running, visitor, keepCookie }) => {
    keepCookie(ownCookie(running.env, "link", await signUp(running.users, input, visitor)));
    return {};
  }),

  /** Sends the verification mail again, to an address that waits for it. */
  portalRoute("POST /resend", { input: ForgotForm, user: "none" }, async ({ input, running, visitor }) => {
    await resendVerification(running.users, input.email, visitor);
    return {};
  }),

  /** Follows the link of an email: it verifies an address, or is one of the two that change it. */
  portalRoute("POST /verify", { input: VerifyForm, user: "none" }, async ({ input, user, running, visitor, keepCookie }) => {
    const { entry, ...verified } = await verifyEmail(running.users, input, user, visitor);
    keepEntry(running, entry, keepCookie);
    return { ...verified, entry: entry.kind };
  }),

  /** What the link of an email would do, without following it; null for one that does not work. */
  portalRoute("POST /verify/purpose", { input: MailLinkForm, user: "none" }, async ({ input, running }) => ({
    purpose: (await purposeOfLink(running.users, input.token)) ?? null,
  })),

  /** Mails a link to set a new password, if the address has an account. */
  portalRoute("POST /forgot", { input: ForgotForm, user: "none" }, async ({ input, running, visitor }) => {
    await requestReset(running.users, input.email, visitor);
    return {};
  }),

  /** Sets a new password with the link of a mail. */
  portalRoute("POST /reset", { input: ResetForm, user: "none" }, async ({ input, running, visitor, keepCookie }) => {
    // The caller can read the owner's mail. Wrong passwords of strangers must not lock this browser out from now on.
    keepCookie(knownBrowserCookie(running, await resetPassword(running.users, input, visitor)));
    return {};
  }),

  /** What opens the account of a reset link besides its password; nothing for a link that does not work. */
  portalRoute("POST /reset/access", { input: MailLinkForm, user: "none" }, ({ input, running }) =>
    accessBehindReset(running.users, input.token),
  ),

  /** Rates a new password while it is typed. It is compared with the address and the name of the signed-in user, or those given. */
  portalRoute("POST /password/strength", { input: StrengthForm, user: "none" }, ({ input, user, running, visitor }) =>
    rateTyped(running.users, input.password, user ?? input, visitor),
  ),

  /** Proves by the password that the user of this session is its owner. */
  portalRoute("POST /proof", { input: ProofForm, user: "self" }, async ({ input, user, running, visitor }) => {
    await proveByPassword(running.users, user, input.current, visitor);
    return {};
  }),

  /** Proves by a passkey that the user of this session is its owner. */
  portalRoute("POST /proof/passkey", { input: PasskeyProofForm, user: "self" }, async (call) => {
    const { input, user, running, request } = call;
    await proveByPasskey(running.users, user, input.passkey, ceremonyOf(running, request.headers));
    return {};
  }),
];
