import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import type { z } from "zod";
import { KEY_PREFIX, KEY_PREFIX_DEFAULT } from "#lib/contract/key-text";

const SIGNING_KEY_BYTES = 32;
const PREFIX = new RegExp(`^${KEY_PREFIX}(?=_)`);

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
  /** What each token starts with: the prefix of the installation and the kind, as in `sw_page_`, or nothing. */
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
 * they hold letters, digits, "-", "_" and one ".": they fit into a header, an address and a subprotocol. One that was made before
 * the installation chose another prefix stays valid.
 */
export function createSignedTokens<Claims>(options: SignedTokensOptions<Claims>): SignedTokens<Claims> {
  const { secret, purpose, prefix, claims: schema, maxCharacters } = options;
  const signingKey = derivedKey(secret, purpose);
  const kind = prefix.replace(PREFIX, "");

  function signatureOf(start: string, body: string): Buffer {
    // Earlier releases knew one prefix, and did not sign it.
    const text = start === "" || start === KEY_PREFIX_DEFAULT + kind ? body : start + body;
    return Buffer.from(createHmac("sha256", signingKey).update(text).digest("base64url"));
  }

  return {
    sign(claims) {
      const body = Buffer.from(JSON.stringify(claims)).toString("base64url");
      return `${prefix}${body}.${signatureOf(prefix, body)}`;
    },
    read(token) {
      const start = prefix === "" ? "" : `${PREFIX.exec(token)?.[0]}${kind}`;
      if (!token.startsWith(start) || token.length > maxCharacters) return undefined;
      const end = token.indexOf(".", start.length);
      const body = token.slice(start.length, end);
      // As text: another spelling of the same bytes is another token.
      const [given, wanted] = [Buffer.from(token.slice(end + 1)), signatureOf(start, body)];
      if (end < 0 || given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
      const claims = schema.safeParse(JSON.parse(Buffer.from(body, "base64url").toString()));
      return claims.success ? claims.data : undefined;
    },
  };
}
