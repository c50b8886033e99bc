import { z } from "zod";
import { PAGE_TOKEN_LIFETIME_S, PORTAL_TOKEN_LIFETIME_S } from "#lib/contract/portal";
import { SECOND_MS } from "#lib/units";
import { createSignedTokens } from "./signed-token";

/** Longest text that is looked at. */
const TOKEN_MAX_CHARACTERS = 1_000;

const EVERY = {
  /** The one origin it may come from: the portal's own. */
  origin: z.string(),
  /** Unix milliseconds from which it is void. */
  until: z.int(),
};
const KeyClaims = z.strictObject({
  /** Id of the key it is used instead of. */
  key: z.uuid(),
  /** The portal session it was made in. */
  session: z.uuid(),
  ...EVERY,
});
const PageClaims = z.strictObject({
  /** A reader of pages, who has no key and need not be signed in. */
  reader: z.uuid(),
  ...EVERY,
});

const LivePageClaims = z.strictObject({
  /** Id of the key that says what pages may show of the live venue. Nothing counts for it. */
  shows: z.uuid(),
  /** Its account, whose pages share a budget. */
  account: z.uuid(),
  /** The portal session it was made in. */
  session: z.uuid(),
  ...EVERY,
});

/** The claims of a token: of one that is used instead of a key of the user's, or of one with which pages call for a reader. */
export const PortalTokenClaims = z.union([KeyClaims, PageClaims, LivePageClaims]);
export type PortalTokenClaims = z.infer<typeof PortalTokenClaims>;
/** The claims of a token with which pages of the sandbox call for a reader. */
export type PageClaims = z.infer<typeof PageClaims>;
/** The claims of a token with which pages of the live venue call for a user who may read it. */
export type LivePageClaims = z.infer<typeof LivePageClaims>;

/** What a token is made of: its claims but its end. */
export type NewPortalToken = Omit<z.infer<typeof KeyClaims>, "until"> | Omit<PageClaims, "until"> | Omit<LivePageClaims, "until">;

/** Signs and reads the tokens of browsers on the portal's pages. `issuePortalToken` checks the key. */
interface PortalTokens {
  mint(claims: NewPortalToken, nowMs: number): { readonly token: string; readonly expiresAtMs: number };
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
      const expiresAtMs = nowMs + ("reader" in claims ? PAGE_TOKEN_LIFETIME_S : PORTAL_TOKEN_LIFETIME_S) * SECOND_MS;
      return { token: tokens.sign({ ...claims, until: expiresAtMs }), expiresAtMs };
    },
    read(token, nowMs) {
      const claims = tokens.read(token);
      return claims !== undefined && nowMs < claims.until ? claims : undefined;
    },
  };
}
