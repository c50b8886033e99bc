import { z } from "zod";
import { LINK_TOKEN_MAX_CHARACTERS } from "#lib/operations/link/declaration";
import { createSignedTokens } from "../signed-token";

const Claims = z.strictObject({ link: z.uuid() });

/** Writes and reads the tokens in the addresses of links. */
interface LinkTokens {
  /** The token of the link with this id; always the same. */
  sign(id: string): string;
  /** The id of the link; undefined unless the token was signed here and is unchanged. Whether the link still exists is not checked. */
  read(token: string): string | undefined;
}

/** Tokens signed with a key derived from the installation's secret, so that a guess is refused without asking the database. */
export function createLinkTokens(secret: string, keyPrefix: string): LinkTokens {
  const tokens = createSignedTokens({
    secret,
    purpose: "link",
    prefix: `${keyPrefix}_link_`,
    claims: Claims,
    maxCharacters: LINK_TOKEN_MAX_CHARACTERS,
  });
  return { sign: (link) => tokens.sign({ link }), read: (token) => tokens.read(token)?.link };
}
