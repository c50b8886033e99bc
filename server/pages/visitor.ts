import type { Env } from "#lib/env";
import { readOwnCookie } from "#server/pages/sign-in/cookies";
import { readKnownBrowser } from "#server/pages/sign-in/signed-cookies";
import type { Visitor } from "#server/store/users/context";
import type { PortalRuntime } from "./runtime";

/** Set by our own server on every request it passes to pages, replacing any value a client sent. */
export const ADDRESS_HEADER = "x-spotwire-address";
const USER_AGENT_MAX_CHARACTERS = 300;
const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/;
const HOST = /^[a-z0-9.-]+(:\d{1,5})?$|^\[[0-9a-f:.]+\](:\d{1,5})?$/i;

type HeaderReader = Pick<Headers, "get">;

function hostOf(headers: HeaderReader): string {
  const host = headers.get("host") ?? "";
  return HOST.test(host) ? host : "localhost";
}

/**
 * The portal's own origin: that of PUBLIC_URL, else of the Host header. A page of another site cannot make a browser send
 * another Host, so Origin and Host agree exactly for requests from our own pages.
 */
export function ownOrigin({ PUBLIC_URL }: Pick<Env, "PUBLIC_URL">, headers: HeaderReader): string {
  return PUBLIC_URL ?? `http://${hostOf(headers)}`;
}

/**
 * Base URL of links in emails, without a trailing slash: PUBLIC_URL. Without it, only localhost names in Host are accepted:
 * the sender of a request chooses Host, and a link in an email must not lead to an attacker's site.
 */
function linkBase({ PUBLIC_URL, PORT }: Pick<Env, "PUBLIC_URL" | "PORT">, headers: HeaderReader): string {
  if (PUBLIC_URL !== undefined) return PUBLIC_URL;
  const host = headers.get("host") ?? "";
  return LOOPBACK_HOST.test(host) ? `http://${host}` : `http://localhost:${PORT}`;
}

/** The sender of a request: client address, browser with what it keeps for us, and the base URL of links in emails. */
export function visitorOf(running: Pick<PortalRuntime, "env" | "secrets" | "clock">, headers: HeaderReader): Visitor {
  const { env } = running;
  const cookies = headers.get("cookie");
  return {
    address: headers.get(ADDRESS_HEADER) ?? "",
    userAgent: (headers.get("user-agent") ?? "").slice(0, USER_AGENT_MAX_CHARACTERS),
    base: linkBase(env, headers),
    browserSecret: readOwnCookie(env, "link", cookies),
    known: readKnownBrowser(running, cookies),
  };
}
