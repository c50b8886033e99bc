const ORIGIN_MAX_CHARACTERS = 260;
const WILDCARD = /^https:\/\/\*((?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?){2,})$/;
const OTHER_SCHEME = /^[a-z][a-z0-9+.-]{0,30}:\/\/[a-z0-9._-]+(?::\d{1,5})?$/;
const HOST_LABELS = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/;

/** What browsers send for each page that has no origin of its own. */
const SHARED = /^(?:null$|file:)/i;
const SHARED_REASON =
  "Every page that was opened from a file or runs in a sandboxed frame has the origin `null` (or `file://`), so no key can allow it. Serve the page over HTTP, for example at http://localhost:8000.";

/** Why no key can allow this origin, as a sentence; undefined for one that a key can allow. */
export function sharedOriginReason(origin: string | null): string | undefined {
  return origin !== null && SHARED.test(origin.trim()) ? SHARED_REASON : undefined;
}

/**
 * An allowed origin as it is stored: `scheme://host[:port]`, in the form browsers send (lower case, no default port), or
 * `https://*.example.com`. Undefined for anything else: a path, credentials, a bare `*`, `https://*.com`, `null`, `file://`.
 */
export function parseOrigin(text: string): string | undefined {
  const entry = text.trim().toLowerCase();
  if (entry.length > ORIGIN_MAX_CHARACTERS || SHARED.test(entry)) return undefined;
  if (entry.includes("*")) return WILDCARD.test(entry) ? entry : undefined;
  if (!/^https?:/.test(entry)) return OTHER_SCHEME.test(entry) ? entry : undefined;
  if (!URL.canParse(entry)) return undefined;
  const url = new URL(entry);
  const bare = url.username === "" && url.password === "" && url.pathname === "/" && url.search === "" && url.hash === "";
  return bare && !entry.endsWith("/") && !/[?#@]/.test(entry) ? url.origin : undefined;
}

/**
 * True when `origin`, as a browser sends it, is one of the entries. `https://*.example.com` stands for every name below
 * example.com, at any depth, on the default port, but not for example.com itself.
 */
export function matchesOrigin(entries: readonly string[], origin: string): boolean {
  return entries.some((entry) => {
    if (entry === origin) return true;
    if (!entry.startsWith("https://*.")) return false;
    const suffix = entry.slice("https://*".length);
    if (!origin.startsWith("https://") || !origin.endsWith(suffix)) return false;
    return HOST_LABELS.test(origin.slice("https://".length, -suffix.length));
  });
}
