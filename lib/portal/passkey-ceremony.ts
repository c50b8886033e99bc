import { z } from "zod";
import { createSignedTokens } from "#lib/access/signed-token";
import type { Ceremony, PasskeySite } from "#lib/access/users/passkeys";
import { PASSKEY_CHALLENGE_LIFETIME_S } from "#lib/contract/second-factor";
import { SECOND_MS } from "#lib/units";
import { ownCookie, readOwnCookie } from "./cookies";
import type { PortalRuntime } from "./runtime";
import { ownOrigin } from "./visitor";

const Claims = z.strictObject({ challenge: z.string(), until: z.int() });
const COOKIE_MAX_CHARACTERS = 500;

type Running = Pick<PortalRuntime, "env" | "secrets" | "clock">;

function tokens({ secrets }: Running) {
  const purpose = "passkey challenge";
  return createSignedTokens({
    secret: secrets.nextAuth,
    purpose,
    prefix: "",
    claims: Claims,
    maxCharacters: COOKIE_MAX_CHARACTERS,
  });
}

/** The site that a request reached, which its passkeys belong to. */
export function siteOf({ env }: Pick<PortalRuntime, "env">, headers: Headers): PasskeySite {
  const origin = ownOrigin(env, headers);
  return { origin, rpId: new URL(origin).hostname };
}

/** The Set-Cookie header that binds a challenge to this browser. The service stores nothing until it is used. */
export function challengeCookie(running: Running, challenge: string): string {
  const until = Math.floor(running.clock.now()) + PASSKEY_CHALLENGE_LIFETIME_S * SECOND_MS;
  return ownCookie(running.env, "challenge", tokens(running).sign({ challenge, until }));
}

/** The challenge that this browser was given last; undefined without one of ours, or past its time. */
export function ceremonyOf(running: Running, headers: Headers): Ceremony | undefined {
  const text = readOwnCookie(running.env, "challenge", headers.get("cookie"));
  const claims = text === undefined ? undefined : tokens(running).read(text);
  if (claims === undefined || claims.until <= running.clock.now()) return undefined;
  return { ...siteOf(running, headers), challenge: claims.challenge };
}
