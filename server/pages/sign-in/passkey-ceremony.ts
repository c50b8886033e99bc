import { z } from "zod";
import type { PortalRuntime } from "#server/pages/runtime";
import { ownOrigin } from "#server/pages/visitor";
import type { Ceremony, PasskeySite } from "#server/store/users/passkeys";
import { type SignedCookieRuntime, signedCookie } from "./signed-cookies";

const cookie = signedCookie("challenge", "passkey challenge", z.strictObject({ challenge: z.string(), until: z.int() }));

/** The site that a request reached, which its passkeys belong to. */
export function siteOf({ env }: Pick<PortalRuntime, "env">, headers: Headers): PasskeySite {
  const origin = ownOrigin(env, headers);
  return { origin, rpId: new URL(origin).hostname };
}

/** The Set-Cookie header that binds a challenge to this browser. The service stores nothing until it is used. */
export const challengeCookie = (running: SignedCookieRuntime, challenge: string): string => cookie.write(running, { challenge });

/** The challenge that this browser was given last; undefined without one of ours, or past its time. */
export function ceremonyOf(running: SignedCookieRuntime, headers: Headers): Ceremony | undefined {
  const claims = cookie.read(running, headers.get("cookie"));
  return claims && { ...siteOf(running, headers), challenge: claims.challenge };
}
