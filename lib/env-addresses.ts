import { z } from "zod";

/** Why an address cannot be used, as the end of a sentence about its setting; null for one that can. Never a part of the address. */
type Problem = (address: string) => string | null;

const UNREADABLE =
  "cannot be read: it must name one host, and what is special in its user or password must be percent-encoded, such as # as %23, / as %2F, ? as %3F, @ as %40 and % as %25.";
const SMTP_TLS_PORT = "465";
/** What the client of Redis reads of a socket: unix://user:password@/path?db=2, all but the path optional. */
const REDIS_SOCKET = /^unix:\/\/(?:[^:@/?]*(?::[^@/?]*)?@)?\/[^@?]+(?:\?db=\d{1,5})?$/;

/**
 * An address as its library is to get it: pg, the client of Redis and nodemailer each read a space or a `%` that encodes nothing in a
 * way of their own, and fail at it outside of any check of ours.
 */
function tidied(text: string): string {
  return text
    .trim()
    .replace(/^[a-z+]+:/i, (scheme) => scheme.toLowerCase())
    .replace(/%(?![0-9a-f]{2})/gi, "%25")
    .replaceAll(" ", "%20");
}

/**
 * The parts of an address; undefined where it has none, and where they are not those that were meant: a `/`, `?` or `#` of a password
 * ends the host, so that the `@` after it lies elsewhere and `u:12/34@db` would lead to port 12 of the host u.
 */
export function partsOf(address: string): URL | undefined {
  // A socket has no host, which a URL needs after a password.
  const url = URL.parse(address.replace("@/", "@localhost/"));
  if (url === null || address.includes("#") || url.hostname.includes(",")) return undefined;
  if ([url.pathname, ...url.searchParams.keys()].some((part) => part.includes("@"))) return undefined;
  try {
    for (const part of [url.username, url.password, url.hostname, url.pathname]) decodeURIComponent(part);
    return url;
  } catch {
    // Bytes that are no UTF-8.
    return undefined;
  }
}

const schemeOf = (address: string) => /^[a-z+]+(?=:)/.exec(address)?.[0] ?? "";

const databaseProblem: Problem = (address) => {
  const scheme = schemeOf(address);
  if (!["postgres", "postgresql", "socket"].includes(scheme))
    return "must be a postgresql:// URL; for a socket postgresql:///name?host=/run/postgresql, or socket:/run/postgresql?db=name.";
  const parts = partsOf(address);
  if (parts === undefined) return UNREADABLE;
  // pg drops this host.
  const isAbsolute = parts.pathname.startsWith("/") && (parts.hostname === "" || address.includes("@/"));
  return scheme === "socket" && !isAbsolute ? "must have the path of a directory, as socket:/run/postgresql?db=name." : null;
};

const redisProblem: Problem = (address) => {
  const scheme = schemeOf(address);
  if (!["redis", "rediss", "unix"].includes(scheme))
    return "must be a redis:// or rediss:// URL, or unix:///path?db=0 for a socket.";
  const parts = partsOf(address);
  if (parts === undefined) return UNREADABLE;
  if (scheme === "unix")
    return REDIS_SOCKET.test(address)
      ? null
      : "must be unix://user:password@/path?db=0 for a socket, percent-encoded where user and password have an @ or a slash.";
  if (!URL.canParse(address)) return UNREADABLE;
  if (/^(\/\d{0,5})?$/.test(parts.pathname) && !parts.searchParams.has("db")) return null;
  return "must name a database by its number in the path, as redis://host:6379/2; a socket is unix:///path?db=2.";
};

const smtpProblem: Problem = (address) => {
  if (!["smtp", "smtps"].includes(schemeOf(address))) return "must be an smtp:// or smtps:// URL.";
  if (partsOf(address) === undefined) return UNREADABLE;
  return URL.parse(address)?.hostname ? null : "must name a host, as smtp://user:password@host:587.";
};

const publicProblem: Problem = (address) => {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return "must be an http:// or https:// URL.";
  const { username, password, pathname } = url;
  if (username === "" && password === "" && pathname === "/" && !/[?#]/.test(address)) return null;
  return "must be a host, with its port if it has one, as https://market.example.com: the service works under no path, and takes no query, fragment, user or password there.";
};

/** At port 465 a mail server waits for TLS, and one that speaks plain text to it waits until it gives up. */
function withTls(address: string): string {
  const parts = partsOf(address);
  const isPlain = parts?.protocol === "smtp:" && parts.port === SMTP_TLS_PORT && !parts.searchParams.has("secure");
  return isPlain ? address.replace(/^smtp:/, "smtps:") : address;
}

function address(problemOf: Problem, tidy = tidied) {
  return z
    .string()
    .transform(tidy)
    .superRefine((text, context) => {
      const problem = problemOf(text);
      if (problem !== null) context.addIssue({ code: "custom", message: problem });
    });
}

/** An address of PostgreSQL that pg reads as it is meant. */
export const databaseAddress = address(databaseProblem);
/** An address that the client of Redis reads as it is meant. */
export const redisAddress = address(redisProblem);
/** An address of a mail server that nodemailer reads as it is meant; `smtps:` at the port of TLS. */
export const smtpAddress = address(smtpProblem, (text) => withTls(tidied(text)));
/** An origin as browsers send it, which they are compared with: lower case, without a default port. */
export const publicAddress = address(publicProblem, (text) => text.trim()).transform((text) => URL.parse(text)?.origin ?? text);
