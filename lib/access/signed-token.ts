import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import type { z } from "zod";

const SIGNING_KEY_BYTES = 32;

/** Makes and reads texts that nobody else can make. Anyone who has one can read its content. */
interface SignedTokens<Claims> {
  sign(claims: Claims): string;
  /** What a token says; undefined unless it was made with the same secret for the same purpose, and is unchanged. */
  read(token: string): Claims | undefined;
}

interface SignedTokensOptions<Claims> {
  /** The installation's secret. */
  readonly secret: string;
  /** A token made for one purpose is void for any other. */
  readonly purpose: string;
  /** What each token starts with. */
  readonly prefix: string;
  readonly claims: z.ZodType<Claims>;
  /** Longest text that is read. */
  readonly maxCharacters: number;
}

/** A key for one purpose, derived from the installation's secret (RFC 5869). */
export function derivedKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", `spotwire ${purpose}`, SIGNING_KEY_BYTES));
}

/**
 * Tokens signed with HMAC-SHA-256 by a key of their own, derived from the installation's secret. After the prefix
 * they hold letters, digits, "-", "_" and one ".": they fit into a header, an address and a subprotocol.
 */
export function createSignedTokens<Claims>(options: SignedTokensOptions<Claims>): SignedTokens<Claims> {
  const { secret, purpose, prefix, claims: schema, maxCharacters } = options;
  const signingKey = derivedKey(secret, purpose);
  const signatureOf = (body: string) => Buffer.from(createHmac("sha256", signingKey).update(body).digest("base64url"));

  return {
    sign(claims) {
      const body = Buffer.from(JSON.stringify(claims)).toString("base64url");
      return `${prefix}${body}.${signatureOf(body)}`;
    },
    read(token) {
      if (!token.startsWith(prefix) || token.length > maxCharacters) return undefined;
      const end = token.indexOf(".", prefix.length);
      const body = token.slice(prefix.length, end);
      // As text: another spelling of the same bytes is another token.
      const [given, wanted] = [Buffer.from(token.slice(end + 1)), signatureOf(body)];
      if (end < 0 || given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
      const claims = schema.safeParse(JSON.parse(Buffer.from(body, "base64url").toString()));
      return claims.success ? claims.data : undefined;
    },
  };
}
