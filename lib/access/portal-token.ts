import { z } from "zod";
import { PORTAL_TOKEN_LIFETIME_S } from "#lib/contract/portal";
import { createSignedTokens } from "./signed-token";

/** Longest text that is looked at. */
const TOKEN_MAX_CHARACTERS = 1_000;

/** The claims of a token. */
export const PortalTokenClaims = z.strictObject({
  /** Id of the key it is used instead of. */
  key: z.uuid(),
  /** The portal session it was made in. */
  session: z.uuid(),
  /** The one origin it may come from: the portal's own. */
  origin: z.string(),
  /** Unix milliseconds from which it is void. */
  until: z.int(),
});

/** What a portal-minted token stands for. */
export type PortalTokenClaims = z.infer<typeof PortalTokenClaims>;

/** Signs and reads the tokens with which a signed-in developer's browser uses one of their keys. `issuePortalToken` checks the key. */
interface PortalTokens {
  mint(claims: Omit<PortalTokenClaims, "until">, nowMs: number): { readonly token: string; readonly expiresAtMs: number };
  /** What a token stands for; undefined unless it was signed here, is unchanged and has not expired. Key and session are not checked. */
  read(token: string, nowMs: number): PortalTokenClaims | undefined;
}

/** Tokens signed with a key derived from the installation's secret. The prefix is that of its new keys. */
export function createPortalTokens(secret: string, keyPrefix: string): PortalTokens {
  const tokens = createSignedTokens({
    secret,
    purpose: "portal token",
    prefix: `${keyPrefix}_page_`,
    claims: PortalTokenClaims,
    maxCharacters: TOKEN_MAX_CHARACTERS,
  });
  return {
    mint(claims, nowMs) {
      const expiresAtMs = nowMs + PORTAL_TOKEN_LIFETIME_S * 1000;
      return { token: tokens.sign({ ...claims, until: expiresAtMs }), expiresAtMs };
    },
    read(token, nowMs) {
      const claims = tokens.read(token);
      return claims !== undefined && nowMs < claims.until ? claims : undefined;
    },
  };
}
