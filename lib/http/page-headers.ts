/** One year, as browsers want it before a site may be preloaded. */
const HSTS_MAX_AGE_S = 31_536_000;

/** What the headers of one page depend on. */
interface PageFacts {
  /** Fresh for each request; at least 128 bits, in base64. */
  readonly nonce: string;
  /** True when the reader's connection is encrypted, up to a proxy of ours at the least. */
  readonly tls: boolean;
  /** True under Next's development server, which evaluates what it hot-reloads. */
  readonly development: boolean;
}

function contentSecurityPolicy({ nonce, tls, development }: PageFacts): string {
  const directives = [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${development ? " 'unsafe-eval'" : ""}`,
    // Hot reload inserts styles without a nonce. A nonce would switch 'unsafe-inline' off again.
    `style-src 'self' ${development ? "'unsafe-inline'" : `'nonce-${nonce}'`}`,
    // Charts and popovers place themselves by style attributes; an attribute cannot fetch or run anything here.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    // Over plain HTTP this would send a reader of a machine without a certificate to addresses that do not answer.
    ...(tls ? ["upgrade-insecure-requests"] : []),
  ];
  return directives.join("; ");
}

/**
 * Security headers of a page, names in lower case. The policy belongs on the request that Next renders as well: it takes the
 * nonce of its own scripts from there.
 */
export function pageHeaders(facts: PageFacts): Readonly<Record<string, string>> {
  return {
    "content-security-policy": contentSecurityPolicy(facts),
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    ...(facts.tls ? { "strict-transport-security": `max-age=${HSTS_MAX_AGE_S}` } : {}),
  };
}
