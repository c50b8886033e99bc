import type { IncomingMessage } from "node:http";
import { clientBlock, coarseAddress } from "#lib/access/address";
import type { Attempts } from "#lib/access/limits/attempts";
import { requestIdOf } from "#lib/http/request-id";
import { type Answer, failureOf, jsonHeaders } from "#lib/http/respond";

/** Everything of next-auth: sign-in, providers, its tokens. */
const AUTH_PREFIX = "/api/auth/";
/** Forms that anyone may send, signed in or not; each costs a password hash, a mail, or both. */
const OPEN_FORMS: ReadonlySet<string> = new Set(
  ["sign-up", "verify", "resend", "forgot", "reset"].map((form) => `/api/portal/${form}`),
);
const EVERYONE = "everyone";

interface AuthRateLimitOptions {
  readonly attempts: Attempts;
  readonly addressOf: (request: IncomingMessage) => string;
  /** What links to the documentation start with. */
  readonly docsBase: string;
}

/** Gives the refusal of a request that comes too often, undefined where it may pass. */
export type AuthRateLimit = (request: IncomingMessage, path: string) => Answer | undefined;

/**
 * Bounds what strangers can make the process do about accounts, before anything is spent on it: one such request costs what a
 * hundred market requests do (rendering framework, password hash, mail), so a flood of sign-ins would slow the market. One
 * client and one network have rates of their own, so that a single attacker, with all addresses of a network, keeps nobody
 * else out. Who has many networks can keep others from signing in for as long as it lasts; the market goes on.
 */
export function createAuthRateLimit({ attempts, addressOf, docsBase }: AuthRateLimitOptions): AuthRateLimit {
  return (request, path) => {
    if (!path.startsWith(AUTH_PREFIX) && !OPEN_FORMS.has(path)) return undefined;
    try {
      const address = addressOf(request);
      attempts.takeHere("door_client", clientBlock(address));
      attempts.takeHere("door_network", coarseAddress(address) ?? address);
      attempts.takeHere("door", EVERYONE);
      return undefined;
    } catch (error) {
      const id = request.headers["x-request-id"];
      return failureOf(error, jsonHeaders(requestIdOf(typeof id === "string" ? id : null)), docsBase);
    }
  };
}
