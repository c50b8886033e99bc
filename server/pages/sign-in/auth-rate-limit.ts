import type { IncomingMessage } from "node:http";
import { clientBlock, coarseAddress } from "#lib/access/address";
import type { Attempts } from "#lib/access/limits/attempts";
import { requestIdOf } from "#lib/http/request-id";
import { failureOf, jsonHeaders, type WholeAnswer } from "#lib/http/respond";

/** Paths of next-auth: sign-in, providers, tokens. */
const AUTH_PREFIX = "/api/auth/";
/** Reads of next-auth that cost next to nothing. Every sign-in needs one, so a flood of them must not use up the common rate. */
const CHEAP_READS: ReadonlySet<string> = new Set(["csrf", "session", "providers"].map((read) => AUTH_PREFIX + read));
/** Forms that need no sign-in. Each costs a password hash, an email, or both; those that look at a link could try tokens. */
const OPEN_FORMS: ReadonlySet<string> = new Set(
  [
    "sign-up",
    "verify",
    "verify/purpose",
    "resend",
    "forgot",
    "reset",
    "reset/access",
    "email/cancel",
    "passkeys/challenge",
    "invitations/read",
    "invitations/sign-up",
  ].map((form) => `/api/portal/${form}`),
);
const EVERYONE = "everyone";

interface AuthRateLimitOptions {
  readonly attempts: Attempts;
  readonly addressOf: (request: IncomingMessage) => string;
  /** Base URL of links to the documentation. */
  readonly docsBase: string;
}

/** Returns the refusal of a request over the limit, or undefined when it may pass. */
export type AuthRateLimit = (request: IncomingMessage, path: string) => WholeAnswer | undefined;

/** Counts a request for all clients together, or in the reserve. @throws Fault rate_limited */
function takeCommon(attempts: Attempts, network: string): void {
  try {
    attempts.takeHere("auth", EVERYONE);
  } catch {
    attempts.takeHere("auth_rare", network);
    attempts.takeHere("auth_reserve", EVERYONE);
  }
}

/**
 * Limits account requests without a sign-in before they cost anything. One such request costs as much as a hundred market
 * requests (rendering, password hash, email), so a flood of sign-ins would slow the market. Each client and each network has
 * its own rate, so that one attacker with a whole network locks nobody else out. What a few networks leave of the common rate
 * may be nothing, so the others have a reserve. An attacker with very many networks can block sign-ins while the attack
 * lasts; market requests are not affected.
 */
export function createAuthRateLimit({ attempts, addressOf, docsBase }: AuthRateLimitOptions): AuthRateLimit {
  return (request, path) => {
    if (!path.startsWith(AUTH_PREFIX) && !OPEN_FORMS.has(path)) return undefined;
    try {
      const address = addressOf(request);
      attempts.takeHere("auth_client", clientBlock(address));
      const network = coarseAddress(address) ?? address;
      attempts.takeHere("auth_network", network);
      if (request.method !== "GET" || !CHEAP_READS.has(path)) takeCommon(attempts, network);
      return undefined;
    } catch (error) {
      const id = request.headers["x-request-id"];
      return failureOf(error, jsonHeaders(requestIdOf(typeof id === "string" ? id : null)), docsBase);
    }
  };
}
