import type { PlanLimits } from "#lib/contract/limits";
import type { Verdict } from "./limits/bucket";
import type { BucketStore } from "./limits/bucket-store";
import type { LivePageClaims, NewPortalToken } from "./portal-token";
import type { LinkPrincipal, Principal } from "./principal";
import type { KeyVerifier } from "./verify-key";

/** A ticket, which opens one connection of a stream. */
export interface MintedTicket {
  readonly ticket: string;
  /** Unix milliseconds. */
  readonly expiresAtMs: number;
}

/** Who may do what, and how often: what the guards of REST and the handshakes of sockets ask. */
export interface Access extends KeyVerifier {
  /**
   * The principal of a link, by the token in its address. No other function takes such a token, and this one takes no key.
   * @throws Fault like `verify`, but invalid_link instead of unauthorized
   */
  verifyLink(token: string, address: string): LinkPrincipal | Promise<LinkPrincipal>;
  /** Counts one call of a link, which has a limit of its own. `take` counts the call of its key. */
  takeLink(principal: LinkPrincipal, address: string): Promise<Verdict>;
  /** The buckets behind `take`, of all nodes together, for other rate limits with keys of their own. */
  readonly buckets: BucketStore;
  /** The same for limits of clients that nobody knows, in a store of their own: however many there are, they push out nobody else's. */
  readonly strangers: BucketStore;
  /**
   * Takes `cost` units from the bucket of the principal's account (from that of the client's address for the demo key), and from
   * the key's own, if it has limits of its own.
   */
  take(principal: Principal, cost: number, address: string): Verdict | Promise<Verdict>;
  /**
   * Counts a call that costs nothing. Such calls have a bucket of their own, of the same size, so that they are bounded too.
   * The verdict tells what is left of the bucket that `take` uses.
   */
  takeFree(principal: Principal, address: string): Promise<Verdict>;
  /** Counts pushed ticks of the principal's account, which have a limit of their own. */
  takeTicks(principal: Principal, ticks: number, address: string): Promise<Verdict>;
  /**
   * Counts days of history that are computed for a user of the demo key.
   * @throws Fault rate_limited when too many are computed for all of them together
   */
  takeDemoDays(days: number): void;
  /**
   * Takes `cost` units like `take`, for a page of the live venue that a user opened: of the pages of the account.
   * @returns undefined, and takes nothing, once the key or the session is no longer valid
   */
  takeForPage(page: Omit<LivePageClaims, "origin" | "until">, cost: number, address: string): Promise<Verdict | undefined>;
  /** The requests an account has left; takes nothing. */
  remaining(accountId: string, plan: PlanLimits): Verdict | Promise<Verdict>;
  /**
   * Counts one handshake of a stream connection.
   * @throws Fault rate_limited when the account opens connections too often
   */
  takeHandshake(principal: Principal, address: string): Promise<void>;
  /** A ticket that opens one connection for this key from this origin (null: from no browser). */
  mintTicket(principal: Principal, origin: string | null): MintedTicket;
  /**
   * The principal behind a ticket, as the database has it now. The ticket is used up either way.
   * @throws Fault unauthorized for one that is unknown, used or expired, or whose key is no longer valid, rate_limited
   * instead when this client failed too often; key_not_yet_valid; origin_not_allowed from another origin
   */
  redeemTicket(ticket: string, origin: string | null, address: string): Promise<Principal>;
  /** Marks a ticket as used for an edge worker, by its id; false where it was already. */
  useTicket(id: string): Promise<boolean>;
  /** A principal that was verified before, as the database has it now; undefined when it is no longer valid. */
  refresh(principal: Pick<Principal, "keyId" | "portal">): Promise<Principal | undefined>;
  /** Signs a token that can be used instead of a key; `issuePortalToken` has checked that a key is the user's. */
  mintPortalToken(claims: NewPortalToken): { token: string; expiresAtMs: number };
  /** Ends the background work; the last use of keys is written. */
  stop(): Promise<void>;
}
