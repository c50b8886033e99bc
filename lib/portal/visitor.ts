import type { Visitor } from "#lib/access/users/context";
import type { Env } from "#lib/env";

/** Set by our own server on every request it hands to pages, over whatever a client sent. */
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
 * The portal's own origin as browsers name it: that of PUBLIC_URL, else of the Host a request was sent to. A page of another
 * site cannot make a browser lie about Host, so the two agree exactly for requests that our own pages make.
 */
export function ownOrigin({ PUBLIC_URL }: Pick<Env, "PUBLIC_URL">, headers: HeaderReader): string {
  return PUBLIC_URL === undefined ? `http://${hostOf(headers)}` : new URL(PUBLIC_URL).origin;
}

/**
 * What links in mails start with, without a slash at the end: PUBLIC_URL. Where it is unset only this machine's own names are
 * believed: whoever asks for a mail chooses Host, and its link must not lead the reader to a stranger.
 */
function linkBase({ PUBLIC_URL, PORT }: Pick<Env, "PUBLIC_URL" | "PORT">, headers: HeaderReader): string {
  if (PUBLIC_URL !== undefined) return PUBLIC_URL;
  const host = headers.get("host") ?? "";
  return LOOPBACK_HOST.test(host) ? `http://${host}` : `http://localhost:${PORT}`;
}

/** Who sent a request: client address and browser, and what the links in its mails start with. */
export function visitorOf(env: Pick<Env, "PUBLIC_URL" | "PORT">, headers: HeaderReader): Visitor {
  return {
    address: headers.get(ADDRESS_HEADER) ?? "",
    userAgent: (headers.get("user-agent") ?? "").slice(0, USER_AGENT_MAX_CHARACTERS),
    base: linkBase(env, headers),
  };
}
