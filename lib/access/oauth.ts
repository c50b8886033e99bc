import { createHash } from "node:crypto";
import { isIP } from "node:net";

/** The one thing an agent may be allowed: to read the market. */
const OAUTH_SCOPE = "market:read";
/** Of RFC 7636: what the challenge is the hash of. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** True for the redirect of a program on the reader's own machine. */
export const isLoopback = ({ protocol, hostname }: URL) =>
  protocol === "http:" &&
  (hostname === "localhost" || hostname === "[::1]" || (isIP(hostname) === 4 && hostname.startsWith("127.")));

/**
 * True for a redirect that the document of the client lists. It has to be the same text; that of a program on the reader's own
 * machine may have another port, which it gets when it starts (RFC 8252).
 */
export function isListedRedirect(asked: string, listed: readonly string[]): boolean {
  if (!URL.canParse(asked)) return false;
  const url = new URL(asked);
  if (url.hash !== "" || (url.protocol !== "https:" && !isLoopback(url))) return false;
  if (listed.includes(asked)) return true;
  if (!isLoopback(url)) return false;
  const withoutPort = (text: string) => {
    if (!URL.canParse(text)) return undefined;
    const other = new URL(text);
    other.port = "";
    return isLoopback(other) ? other.href : undefined;
  };
  return listed.some((text) => withoutPort(text) === withoutPort(asked));
}

/** True when the verifier is what the challenge is the hash of (RFC 7636, S256). */
export function answersChallenge(verifier: string, challenge: string): boolean {
  return VERIFIER.test(verifier) && createHash("sha256").update(verifier).digest("base64url") === challenge;
}

/** The MCP endpoint of a base URL, which tokens are for. */
export const resourceOf = (base: string): string => `${base}/mcp`;

/** True for the URL of the endpoint, however its host is written, with or without a slash at its end. */
export const isResource = (asked: string | undefined, base: string): boolean =>
  asked === undefined || (URL.canParse(asked) && new URL(asked).href.replace(/\/$/, "") === resourceOf(base));

/** What the endpoint says of itself (RFC 9728). */
export const resourceMetadata = (base: string) => ({
  resource: resourceOf(base),
  authorization_servers: [base],
  scopes_supported: [OAUTH_SCOPE],
  bearer_methods_supported: ["header"],
  resource_documentation: `${base}/docs/mcp`,
});

/** What the authorization server says of itself (RFC 8414). */
export const serverMetadata = (base: string) => ({
  issuer: base,
  authorization_endpoint: `${base}/connect`,
  token_endpoint: `${base}/oauth/token`,
  scopes_supported: [OAUTH_SCOPE],
  response_types_supported: ["code"],
  response_modes_supported: ["query"],
  grant_types_supported: ["authorization_code"],
  token_endpoint_auth_methods_supported: ["none"],
  code_challenge_methods_supported: ["S256"],
  client_id_metadata_document_supported: true,
  authorization_response_iss_parameter_supported: true,
  service_documentation: `${base}/docs/mcp`,
});

/** The header of a 401 that says where a host learns how to sign in, and that the key it sent, if it did, is none (RFC 6750). */
export const challengeOf = (base: string, sentKey: boolean): string =>
  `Bearer ${sentKey ? 'error="invalid_token", ' : ""}resource_metadata="${base}/.well-known/oauth-protected-resource/mcp", scope="${OAUTH_SCOPE}"`;
