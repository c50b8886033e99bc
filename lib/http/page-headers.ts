/** One year, which browsers require for preloading. */
const HSTS_MAX_AGE_S = 31_536_000;
/** The value of Strict-Transport-Security; `subdomains` asks browsers to use HTTPS for those, too. */
export function hsts(subdomains: boolean): string {
  return `max-age=${HSTS_MAX_AGE_S}${subdomains ? "; includeSubDomains" : ""}`;
}

/** What the headers of a page depend on. */
interface PageFacts {
  /** New for each request: at least 128 bits, in base64. Undefined for a page for everybody, see `sharedPagePolicy`. */
  readonly nonce: string | undefined;
  /** True when the browser's connection is encrypted, at least up to our proxy. */
  readonly tls: boolean;
  /** True under Next's development server, which evaluates what it hot-reloads. */
  readonly development: boolean;
}

/** The policy of a page whose scripts come from these sources. */
function contentSecurityPolicy(scripts: readonly string[], tls: boolean, development: boolean): string {
  const directives = [
    "default-src 'self'",
    `script-src ${scripts.join(" ")}${development ? " 'unsafe-eval'" : ""}`,
    // Hot reload inserts styles.
    `style-src 'self'${development ? " 'unsafe-inline'" : ""}`,
    // Charts and popovers are positioned with style attributes, which cannot load or run anything here.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    // Over plain HTTP this would redirect readers to HTTPS URLs that do not exist.
    ...(tls ? ["upgrade-insecure-requests"] : []),
  ];
  return directives.join("; ");
}

/**
 * Security headers of a page, by lower-case name. Set the policy on the request to Next as well: Next takes the nonce of its
 * own scripts from it.
 */
export function pageHeaders({ nonce, tls, development }: PageFacts): Readonly<Record<string, string>> {
  const scripts = ["'self'", `'nonce-${nonce}'`, "'strict-dynamic'"];
  return {
    ...(nonce !== undefined && { "content-security-policy": contentSecurityPolicy(scripts, tls, development) }),
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  };
}

/**
 * The policy of a page that is sent to everybody as it is: a nonce must be new for each request, so its inline scripts are allowed
 * by their hashes, and the files of this origin by its name.
 */
export function sharedPagePolicy(inlineHashes: readonly string[], tls: boolean): string {
  return contentSecurityPolicy(["'self'", ...inlineHashes], tls, false);
}
