import { createHash, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "#lib/clock";
import { STREAM_TICKET_LIFETIME_S } from "#lib/contract/limits";
import type { PortalTokenClaims } from "./portal-token";

/** Printed without "+" and "/", which a subprotocol may not hold. */
const TICKET_RANDOM_BYTES = 24;
/** Tickets that wait to be used; past it the oldest is void. */
const TICKETS_MAX_COUNT = 100_000;

/** What a ticket stands for. */
export interface TicketGrant {
  readonly keyId: string;
  /** Of the token that asked for it in place of the key. */
  readonly portal?: PortalTokenClaims;
  /** The one origin it may come from; null: from no browser. */
  readonly origin: string | null;
}

export interface MintedTicket {
  readonly ticket: string;
  /** Unix milliseconds. */
  readonly expiresAtMs: number;
}

/** Tickets that are out: each opens one connection, once, within its lifetime. */
export interface Tickets {
  mint(grant: TicketGrant): MintedTicket;
  /** What the ticket stands for; undefined for one that is unknown, used or expired. Whatever is asked for is used up. */
  redeem(ticket: string): TicketGrant | undefined;
}

/** Keeps tickets in this process's memory, by their hash. */
export function createTickets(clock: Clock, maxCount = TICKETS_MAX_COUNT): Tickets {
  const waiting = new LRUCache<string, { grant: TicketGrant; expiresAtMs: number }>({ max: maxCount });
  const hash = (ticket: string) => createHash("sha256").update(ticket).digest("base64");
  return {
    mint(grant) {
      const ticket = randomBytes(TICKET_RANDOM_BYTES).toString("base64url");
      const expiresAtMs = clock.now() + STREAM_TICKET_LIFETIME_S * 1000;
      waiting.set(hash(ticket), { grant, expiresAtMs });
      return { ticket, expiresAtMs };
    },
    redeem(ticket) {
      const key = hash(ticket);
      const entry = waiting.get(key);
      waiting.delete(key);
      return entry !== undefined && clock.now() < entry.expiresAtMs ? entry.grant : undefined;
    },
  };
}
