import { randomUUID } from "node:crypto";
import { z } from "zod";
import { createSignedTokens } from "#lib/access/signed-token";
import type { KnownBrowser } from "#lib/access/users/context";
import { KNOWN_BROWSER_LIFETIME_S } from "#lib/contract/portal";
import { SECOND_MS } from "#lib/units";
import { ownCookie, readOwnCookie } from "./cookies";
import type { PortalRuntime } from "./runtime";

const Claims = z.strictObject({ id: z.uuid(), userId: z.uuid(), until: z.int() });
const COOKIE_MAX_CHARACTERS = 500;

type Running = Pick<PortalRuntime, "env" | "secrets" | "clock">;

function tokens({ secrets }: Running) {
  const purpose = "known browser";
  return createSignedTokens({
    secret: secrets.nextAuth,
    purpose,
    prefix: "",
    claims: Claims,
    maxCharacters: COOKIE_MAX_CHARACTERS,
  });
}

/** The Set-Cookie header by which a browser is known after a sign-in. It gives no access: only its limits are its own. */
export function knownBrowserCookie(running: Running, userId: string): string {
  const until = Math.floor(running.clock.now()) + KNOWN_BROWSER_LIFETIME_S * SECOND_MS;
  return ownCookie(running.env, "known", tokens(running).sign({ id: randomUUID(), userId, until }));
}

/** The browser that a Cookie header shows to have signed in before; undefined without such a cookie of ours. */
export function readKnownBrowser(running: Running, cookies: string | null): KnownBrowser | undefined {
  const text = readOwnCookie(running.env, "known", cookies);
  const claims = text === undefined ? undefined : tokens(running).read(text);
  if (claims === undefined || running.clock.now() >= claims.until) return undefined;
  return { id: claims.id, userId: claims.userId, sinceMs: claims.until - KNOWN_BROWSER_LIFETIME_S * SECOND_MS };
}
