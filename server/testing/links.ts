import { createLinkTokens } from "#lib/access/links/link-token";
import { KEY_PREFIX_DEFAULT } from "#lib/contract/key-text";
import type { LinkedId } from "#lib/contract/linked-ids";
import { linkOperation } from "#lib/operations/link/declaration";
import { DAY_MS } from "#lib/units";
import type { KeyContext } from "#server/store/access/keys";
import { createLink } from "#server/store/access/links";

interface LinkWish {
  readonly operation?: LinkedId;
  /** The text after "?". */
  readonly query?: string;
  /** A day unless given. */
  readonly lastsMs?: number;
}

/** A link and what a program asks for: its path with its token. */
interface MadeLink {
  readonly id: string;
  readonly token: string;
  readonly path: string;
  readonly accountId: string;
}

/** Creates a link of a key. */
export async function makeLink(
  context: KeyContext & { readonly secret: string },
  keyId: string,
  { operation = "latestQuotes", query = "tickers=EURUSD&format=json", lastsMs = DAY_MS }: LinkWish = {},
): Promise<MadeLink> {
  const { accountId } = await context.db.prisma.apiKey.findUniqueOrThrow({ where: { id: keyId } });
  const by = { actor: { name: "owner@example.com" }, accountId, address: null };
  const expiresAt = new Date(context.clock.now() + lastsMs);
  const { id } = await createLink(context, { name: operation, keyId, operation, query, expiresAt }, by);
  const token = createLinkTokens(context.secret, context.brand?.keyPrefix ?? KEY_PREFIX_DEFAULT).sign(id);
  return { id, token, path: `${linkOperation.path}?token=${token}`, accountId };
}
