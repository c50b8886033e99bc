import type { IncomingMessage } from "node:http";
import { clientBlock, coarseAddress } from "#lib/access/address";
import type { Attempts } from "#lib/access/limits/attempts";
import { requestIdOf } from "#lib/http/request-id";
import { type Answer, failureOf, jsonHeaders } from "#lib/http/respond";

/** Paths of next-auth: sign-in, providers, tokens. */
const AUTH_PREFIX = "/api/auth/";
/** Forms that need no sign-in. Each costs a password hash, an email, or both. */
const OPEN_FORMS: ReadonlySet<string> = new Set(
  ["sign-up", "verify", "resend", "forgot", "reset", "email/cancel"].map((form) => `/api/portal/${form}`),
);
const EVERYONE = "everyone";

interface AuthRateLimitOptions {
  readonly attempts: Attempts;
  readonly addressOf: (request: IncomingMessage) => string;
  /** Base URL of links to the documentation. */
  readonly docsBase: string;
}

/** Returns the refusal of a request over the limit, or undefined when it may pass. */
export type AuthRateLimit = (request: IncomingMessage, path: string) => Answer | undefined;

/**
 * Limits account requests without a sign-in before they cost anything. One such request costs as much as a hundred market
 * requests (rendering, password hash, email), so a flood of sign-ins would slow the market. Each client and each network has
 * its own rate, so that one attacker with a whole network locks nobody else out. An attacker with many networks can block
 * sign-ins while the attack lasts; market requests are not affected.
 */
export function createAuthRateLimit({ attempts, addressOf, docsBase }: AuthRateLimitOptions): AuthRateLimit {
  return (request, path) => {
    if (!path.startsWith(AUTH_PREFIX) && !OPEN_FORMS.has(path)) return undefined;
    try {
      const address = addressOf(request);
      attempts.takeHere("auth_client", clientBlock(address));
      attempts.takeHere("auth_network", coarseAddress(address) ?? address);
      attempts.takeHere("auth", EVERYONE);
      return undefined;
    } catch (error) {
      const id = request.headers["x-request-id"];
      return failureOf(error, jsonHeaders(requestIdOf(typeof id === "string" ? id : null)), docsBase);
    }
  };
}
