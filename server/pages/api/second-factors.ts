import { AddPasskeyForm, CodeForm } from "#lib/contract/second-factor";
import { portalRoute } from "#server/pages/route";
import { ceremonyOf, challengeCookie, siteOf } from "#server/pages/sign-in/passkey-ceremony";
import { knownBrowserCookie } from "#server/pages/sign-in/signed-cookies";
import { addPasskey, passkeyCreation, passkeyRequest, removePasskey } from "#server/store/users/passkeys";
import { readSecondFactors, renewRecoveryCodes } from "#server/store/users/second-factor";
import { confirmTotp, removeTotp, startTotp } from "#server/store/users/totp";

export const secondFactorRoutes = [
  /** The passkeys of the reader, the authenticator app, and how many recovery codes are left. */
  portalRoute("GET /second-factors", { user: "self" }, ({ user, running }) => readSecondFactors(running, user.id)),

  /** A new secret for an authenticator app; it counts once a code confirms it. */
  portalRoute("POST /second-factors/app", { user: "self", proof: true }, ({ user, running }) => startTotp(running.users, user)),

  /** Turns the app on by a code that it shows; the answer contains recovery codes if the user had none. */
  portalRoute("PUT /second-factors/app", { input: CodeForm, user: "self", proof: true }, async (call) => {
    const { input, user, running, visitor, keepCookie } = call;
    const made = await confirmTotp(running.users, user, input.code, visitor);
    keepCookie(knownBrowserCookie(running, user.id));
    return made;
  }),

  /** Turns the app off. */
  portalRoute("DELETE /second-factors/app", { user: "self", proof: true }, async ({ user, running, visitor }) => {
    await removeTotp(running.users, user, visitor);
    return {};
  }),

  /** Makes new recovery codes; only this answer contains them. */
  portalRoute("POST /second-factors/recovery-codes", { user: "self", proof: true }, ({ user, running, visitor }) =>
    renewRecoveryCodes(running.users, user, visitor),
  ),

  /** Adds the passkey that the browser made; the answer contains recovery codes if the user had none. */
  portalRoute("POST /passkeys", { input: AddPasskeyForm, user: "self", proof: true }, async (call) => {
    const { input, user, running, request, visitor, keepCookie } = call;
    const made = await addPasskey(running.users, user, input, ceremonyOf(running, request.headers), visitor);
    keepCookie(knownBrowserCookie(running, user.id));
    return made;
  }),

  /** Removes a passkey. */
  portalRoute("DELETE /passkeys/[id]", { user: "self", proof: true }, async ({ user, params, running, visitor }) => {
    await removePasskey(running.users, user, params.id, visitor);
    return {};
  }),

  /** What this browser needs to use a passkey, to sign in or as a proof, with a challenge of its own. */
  portalRoute("POST /passkeys/challenge", { user: "none" }, async ({ running, request, keepCookie }) => {
    const options = await passkeyRequest(siteOf(running, request.headers));
    keepCookie(challengeCookie(running, options.challenge));
    return options;
  }),

  /** What this browser needs to make a passkey, with a challenge of its own. */
  portalRoute("POST /passkeys/creation", { user: "self", proof: true }, async ({ user, running, request, keepCookie }) => {
    const options = await passkeyCreation(running.users, user, siteOf(running, request.headers));
    keepCookie(challengeCookie(running, options.challenge));
    return options;
  }),
];
