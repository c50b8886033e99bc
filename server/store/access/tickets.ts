import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import type { MintedTicket } from "#lib/access/access";
import { createLru } from "#lib/access/lru";
import { PortalTokenClaims } from "#lib/access/portal-token";
import { createSignedTokens } from "#lib/access/signed-token";
import type { Clock } from "#lib/clock";
import { STREAM_TICKET_LIFETIME_S } from "#lib/contract/limits";
import type { Redis } from "#server/store/database/redis";

const LIFETIME_MS = STREAM_TICKET_LIFETIME_S * 1000;
/** By so much the clocks of two nodes may differ. */
const CLOCKS_DIFFER_MAX_MS = LIFETIME_MS;
/** Past this no node takes a ticket for valid, so that it need not be known as used any longer. */
const USED_KEPT_MS = LIFETIME_MS + 2 * CLOCKS_DIFFER_MAX_MS;
/** Used tickets this node remembers; past it the oldest is forgotten. */
const USED_MAX_COUNT = 100_000;
const ID_RANDOM_BYTES = 16;
/** Longest text that is looked at; a ticket of the portal's, the longest there is, has some 600. */
const TICKET_MAX_CHARACTERS = 1_500;

/** What a ticket stands for. */
interface TicketGrant {
  readonly keyId: string;
  /** Of the token that asked for it in place of the key. */
  readonly portal?: PortalTokenClaims;
}

/** A ticket that was used just now. */
interface RedeemedTicket extends TicketGrant {
  /** False where it came from another origin than it was made for. */
  readonly originMatches: boolean;
}

/** Tickets: each opens one connection, once, within its lifetime, on any node. */
interface Tickets {
  /** @param origin the one origin it may come from; null: from no browser */
  mint(grant: TicketGrant, origin: string | null): MintedTicket;
  /** What the ticket stands for; undefined for one that is unknown, used or expired. The ticket is used up either way. */
  redeem(ticket: string, origin: string | null): Promise<RedeemedTicket | undefined>;
  /** Marks a ticket as used, by its id; false where it was already. */
  use(id: string): Promise<boolean>;
}

interface TicketsOptions {
  /** The installation's secret. */
  readonly secret: string;
  readonly clock: Clock;
  /** Where nodes tell each other which are used; without it there is one node. */
  readonly redis?: Redis | undefined;
  /** `use` of the process that knows which are used, where this is another one of the same node. @throws when it does not answer */
  readonly markThere?: ((id: string) => Promise<boolean>) | undefined;
  readonly usedMaxCount?: number;
}

/** The origin stands as its hash, because it may be long. */
const Claims = z.strictObject({
  id: z.string(),
  key: z.string(),
  portal: PortalTokenClaims.optional(),
  origin: z.string().nullable(),
  until: z.int(),
});

const originHash = (origin: string | null) => (origin === null ? null : createHash("sha256").update(origin).digest("base64url"));

/**
 * Tickets carry their claims, signed, so that every node can read them; a mark in Redis says which are used. While Redis is unreachable a ticket opens at most one connection at each node.
 */
export function createTickets({ secret, clock, redis, markThere, usedMaxCount = USED_MAX_COUNT }: TicketsOptions): Tickets {
  const tokens = createSignedTokens({
    secret,
    purpose: "stream ticket",
    prefix: "",
    claims: Claims,
    maxCharacters: TICKET_MAX_CHARACTERS,
  });
  const used = createLru<true>(usedMaxCount);

  /** Marks a ticket as used; false where it was already. */
  async function use(id: string): Promise<boolean> {
    if (used.has(id)) return false;
    used.set(id, true);
    if (markThere !== undefined) return markThere(id);
    if (!redis?.connected()) return true;
    const options = { condition: "NX", expiration: { type: "PX", value: USED_KEPT_MS } } as const;
    // Redis became unreachable: this node decides by what it knows.
    return redis.client.set(redis.key(`t:${id}`, "used"), "", options).then(
      (set) => set !== null,
      () => true,
    );
  }

  return {
    use,
    mint({ keyId, portal }, origin) {
      const until = Math.floor(clock.now()) + LIFETIME_MS;
      const id = randomBytes(ID_RANDOM_BYTES).toString("base64url");
      const claims = { id, key: keyId, origin: originHash(origin), until, ...(portal && { portal }) };
      return { ticket: tokens.sign(claims), expiresAtMs: until };
    },
    async redeem(ticket, origin) {
      const claims = tokens.read(ticket);
      if (claims === undefined) return undefined;
      const { id, key: keyId, portal, until } = claims;
      const leftMs = until - clock.now();
      // One from the future was made before a clock went back: it would be valid for long, and its mark is not kept so long.
      if (leftMs <= 0 || leftMs > LIFETIME_MS + CLOCKS_DIFFER_MAX_MS || !(await use(id))) return undefined;
      return { keyId, ...(portal && { portal }), originMatches: claims.origin === originHash(origin) };
    },
  };
}
