import type { CookiesOptions } from "next-auth";
import type { Env } from "#lib/env";

/** Cookies read from one request; the rest are ignored. */
const COOKIES_MAX_COUNT = 100;
/** Time limit of a sign-in at a provider. */
const PROVIDER_SIGN_IN_MAX_S = 900;

/** True when browsers reach the portal only over TLS. */
export function isSecure({ PUBLIC_URL }: Pick<Env, "PUBLIC_URL">): boolean {
  return PUBLIC_URL?.startsWith("https://") ?? false;
}

/** Name of the portal session cookie. `__Host-` keeps sibling domains from setting it. */
export function sessionCookieName(env: Pick<Env, "PUBLIC_URL">): string {
  return isSecure(env) ? "__Host-spotwire.session" : "spotwire.session";
}

/** Options of every portal cookie: HttpOnly, SameSite, and Secure where the portal uses TLS. */
export function cookieOptions(env: Pick<Env, "PUBLIC_URL">): CookiesOptions {
  const secure = isSecure(env);
  const prefix = secure ? "__Host-" : "";
  const options = { httpOnly: true, sameSite: "lax", path: "/", secure } as const;
  const named = (name: string, maxAge?: number) => ({
    name: `${prefix}spotwire.${name}`,
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
