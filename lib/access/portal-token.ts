import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { PORTAL_TOKEN_LIFETIME_S } from "#lib/contract/portal";

/** Tells a token from a key. */
export const PORTAL_TOKEN_PREFIX = "sw_page_";
/** Longest text that is looked at. */
const TOKEN_MAX_CHARACTERS = 1_000;
const SIGNING_KEY_BYTES = 32;

const Claims = z.strictObject({
  /** Id of the key it stands in for. */
  key: z.uuid(),
  /** The portal session it was made in. */
  session: z.uuid(),
  /** The one origin it may come from: the portal's own. */
  origin: z.string(),
  /** Unix milliseconds from which it is void. */
  until: z.int(),
});

/** What a portal-minted token stands for. */
export type PortalTokenClaims = z.infer<typeof Claims>;

/** Makes and reads the tokens with which a signed-in developer's browser uses one of their keys. */
export interface PortalTokens {
  mint(claims: Omit<PortalTokenClaims, "until">, nowMs: number): { readonly token: string; readonly expiresAtMs: number };
  /** What a token stands for; undefined unless it was made here, whole and in time. Key and session are not looked at. */
  read(token: string, nowMs: number): PortalTokenClaims | undefined;
}

/** Tokens signed with HMAC-SHA-256 by a key of their own, derived from the installation's secret (RFC 5869). */
export function createPortalTokens(secret: string): PortalTokens {
  const signingKey = Buffer.from(hkdfSync("sha256", secret, "", "spotwire portal token", SIGNING_KEY_BYTES));
  const sign = (body: string) => createHmac("sha256", signingKey).update(body).digest();

  return {
    mint(claims, nowMs) {
      const expiresAtMs = nowMs + PORTAL_TOKEN_LIFETIME_S * 1000;
      const body = Buffer.from(JSON.stringify({ ...claims, until: expiresAtMs })).toString("base64url");
      return { token: `${PORTAL_TOKEN_PREFIX}${body}.${sign(body).toString("base64url")}`, expiresAtMs };
    },
    read(token, nowMs) {
      if (!token.startsWith(PORTAL_TOKEN_PREFIX) || token.length > TOKEN_MAX_CHARACTERS) return undefined;
      const [body = "", signature = ""] = token.slice(PORTAL_TOKEN_PREFIX.length).split(".");
      const given = Buffer.from(signature, "base64url");
      const wanted = sign(body);
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
      const claims = Claims.safeParse(JSON.parse(Buffer.from(body, "base64url").toString()));
      return claims.success && nowMs < claims.data.until ? claims.data : undefined;
    },
  };
}
