import type { CookiesOptions } from "next-auth";
import { KNOWN_BROWSER_LIFETIME_S, VERIFY_LINK_LIFETIME_S } from "#lib/contract/portal";
import { ENTRY_LIFETIME_S, PASSKEY_CHALLENGE_LIFETIME_S, SIGN_IN_STEP_LIFETIME_S } from "#lib/contract/second-factor";
import type { Env } from "#lib/env";

/** Cookies read from one request; the rest are ignored. */
const COOKIES_MAX_COUNT = 100;
/** Time limit of a sign-in at a provider. */
const PROVIDER_SIGN_IN_MAX_S = 900;

/** True when browsers reach the portal only over TLS. */
export function isSecure({ PUBLIC_URL }: Pick<Env, "PUBLIC_URL">): boolean {
  return PUBLIC_URL?.startsWith("https://") ?? false;
}

/** Name of a portal cookie. `__Host-` keeps sibling domains from setting it. */
const cookieName = (env: Pick<Env, "PUBLIC_URL">, name: string) => `${isSecure(env) ? "__Host-" : ""}spotwire.${name}`;

/** Name of the portal session cookie. */
export function sessionCookieName(env: Pick<Env, "PUBLIC_URL">): string {
  return cookieName(env, "session");
}

/** Cookies of our own beside those of next-auth, and how long browsers keep them. */
export const OWN_COOKIES = {
  /** The secret of a browser that asked for a link in an email; opening the link there needs no password. */
  link: VERIFY_LINK_LIFETIME_S,
  /** Who signed in here last, signed. */
  known: KNOWN_BROWSER_LIFETIME_S,
  /** The challenge for a passkey, signed. */
  challenge: PASSKEY_CHALLENGE_LIFETIME_S,
  /** Who may go on to the second factor, signed. */
  step: SIGN_IN_STEP_LIFETIME_S,
  /** Signs in once the browser that has just verified an address. */
  entry: ENTRY_LIFETIME_S,
} as const;
type OwnCookie = keyof typeof OWN_COOKIES;

/** The Set-Cookie header that keeps a value in the browser; an empty one removes it. */
export function ownCookie(env: Pick<Env, "PUBLIC_URL">, name: OwnCookie, value: string): string {
  const secure = isSecure(env) ? "; Secure" : "";
  const lifetimeS = value === "" ? 0 : OWN_COOKIES[name];
  return `${cookieName(env, name)}=${value}; Path=/; Max-Age=${lifetimeS}; HttpOnly; SameSite=Lax${secure}`;
}

/** The page that a sign-in at a provider returns to: what next-auth keeps of it, without the origin. */
export function callbackPath(env: Pick<Env, "PUBLIC_URL">, header: string | null): string {
  const url = readCookies(header)[cookieName(env, "callback-url")] ?? "";
  if (!URL.canParse(url)) return "/dashboard";
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** The value that `ownCookie` kept; undefined without one. */
export function readOwnCookie(env: Pick<Env, "PUBLIC_URL">, name: OwnCookie, header: string | null): string | undefined {
  return readCookies(header)[cookieName(env, name)] || undefined;
}

/** Options of every portal cookie: HttpOnly, SameSite, and Secure where the portal uses TLS. */
export function cookieOptions(env: Pick<Env, "PUBLIC_URL">): CookiesOptions {
  const secure = isSecure(env);
  const options = { httpOnly: true, sameSite: "lax", path: "/", secure } as const;
  const named = (name: string, maxAge?: number) => ({
    name: cookieName(env, name),
    options: maxAge === undefined ? options : { ...options, maxAge },
  });
  return {
    sessionToken: { name: sessionCookieName(env), options },
    callbackUrl: named("callback-url"),
    csrfToken: named("csrf-token"),
    pkceCodeVerifier: named("pkce", PROVIDER_SIGN_IN_MAX_S),
    state: named("state", PROVIDER_SIGN_IN_MAX_S),
    nonce: named("nonce", PROVIDER_SIGN_IN_MAX_S),
  };
}

/** The cookies of a Cookie header by name. The first of a name wins; values that cannot be decoded stay encoded. */
export function readCookies(header: string | null): Record<string, string> {
  const cookies: Record<string, string> = Object.create(null);
  for (const pair of (header ?? "").split(";", COOKIES_MAX_COUNT)) {
    const equals = pair.indexOf("=");
    if (equals === -1) continue;
    const name = pair.slice(0, equals).trim();
    cookies[name] ??= decode(pair.slice(equals + 1).trim());
  }
  return cookies;
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
