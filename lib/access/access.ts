import type { Clock } from "#lib/clock";
import { isWellFormedKey } from "#lib/contract/key-text";
import {
  INGEST_TICKS_BURST_COUNT,
  INGEST_TICKS_PER_MINUTE_COUNT,
  LINK_CALLS_BURST_COUNT,
  LINK_CALLS_PER_MINUTE_COUNT,
  type PlanLimits,
  STREAM_HANDSHAKES_BURST_COUNT,
  STREAM_HANDSHAKES_PER_MINUTE_COUNT,
} from "#lib/contract/limits";
import type { Database } from "#lib/db";
import type { Env } from "#lib/env";
import { Fault } from "#lib/fault";
import type { Logger } from "#lib/log";
import type { Metrics } from "#lib/metrics";
import type { Redis } from "#lib/redis";
import { DEMO_NAME, findDemo, findKey, findKeyById, findPortalToken } from "./find-key";
import { hashKey } from "./key-format";
import { createLastUsed } from "./last-used";
import type { Verdict } from "./limits/bucket";
import type { BucketBanks } from "./limits/bucket-bank";
import type { BucketLender } from "./limits/bucket-lender";
import { type BucketStore, createMemoryBucketStore } from "./limits/bucket-store";
import { createDemoDays } from "./limits/demo-days";
import { createFailures } from "./limits/failures";
import { createRedisLender } from "./limits/leased-bucket-script";
import { createLeasedBuckets } from "./limits/leased-buckets";
import { createTakeBoth } from "./limits/take-both";
import { findLink } from "./links/find-link";
import { createLinkTokens } from "./links/link-token";
import { createPortalTokens } from "./portal-token";
import { hasBegun, type LinkPrincipal, limitOwner, ownSlot, type Principal, requireBegun } from "./principal";
import { createTickets, type MintedTicket } from "./tickets";
import { createVerifier, type KeyVerifier } from "./verify-key";

/** Handshakes a minute that each connection of a plan adds: all of them may reconnect a few times. */
const HANDSHAKES_PER_CONNECTION_COUNT = 6;

const TICK_LIMITS = { restPerMinute: INGEST_TICKS_PER_MINUTE_COUNT, restBurst: INGEST_TICKS_BURST_COUNT };
const LINK_LIMITS = { restPerMinute: LINK_CALLS_PER_MINUTE_COUNT, restBurst: LINK_CALLS_BURST_COUNT };

/** How often connections may be opened under these limits. */
const handshakeLimits = ({ streamConnections }: PlanLimits) => ({
  restPerMinute: STREAM_HANDSHAKES_PER_MINUTE_COUNT + HANDSHAKES_PER_CONNECTION_COUNT * streamConnections,
  restBurst: STREAM_HANDSHAKES_BURST_COUNT + streamConnections,
});

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
   * Takes `cost` units like `take`, for a page that shows what a key may read.
   * @returns undefined, and takes nothing, for a key that is no longer valid
   */
  takeFor(keyId: string, cost: number, address: string): Promise<Verdict | undefined>;
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
  /** Signs a token that can be used instead of a key; `issuePortalToken` has checked that the key is the user's. */
  mintPortalToken(claims: { key: string; session: string; origin: string }): { token: string; expiresAtMs: number };
  /** Ends the background work; the last use of keys is written. */
  stop(): Promise<void>;
}

interface AccessOptions {
  db: Pick<Database, "pool">;
  clock: Clock;
  env: Pick<Env, "DEMO_KEY">;
  /** The installation's secret, from which the signing key of portal tokens is derived. */
  secret: string;
  log: Logger;
  metrics: Pick<Metrics, "authFailed">;
  /** True while every control message arrives (the control listener's `connected`). */
  controlConnected: () => boolean;
  /** What nodes share: buckets, and which tickets are used. Without it there is one node, and its memory is enough. */
  redis?: Redis | undefined;
  /** The buckets, where edge workers lease from them. */
  bank?: Pick<BucketBanks, "buckets" | "strangers"> | undefined;
  /** The market process, in an edge worker: it lends buckets, and knows which tickets are used. */
  market?: { readonly lender: BucketLender; readonly useTicket: Access["useTicket"] } | undefined;
}

/**
 * Opens access over a database. Feed every control message to `apply`, so that revocation counts at once.
 * @throws Error when DEMO_KEY is not a key: its last six characters must be the checksum of the rest.
 */
export function createAccess(options: AccessOptions): Access {
  const { db, clock, env, secret, log, metrics, controlConnected, redis, bank, market } = options;
  const demoKey = env.DEMO_KEY;
  if (demoKey !== "off" && !isWellFormedKey(demoKey))
    throw new Error(
      "DEMO_KEY: its last six characters are not the checksum of the rest. `npm run keys -- demo` prints a new one.",
    );

  const { pool } = db;
  const portalTokens = createPortalTokens(secret);
  const linkTokens = createLinkTokens(secret);
  const stopping = new AbortController();
  const lender = market?.lender ?? (redis && createRedisLender({ redis, clock, log }));
  const [leased, leasedByStrangers] = lender
    ? [createLeasedBuckets({ lender, clock }), createLeasedBuckets({ lender, clock })]
    : [];
  const buckets = leased ?? bank?.buckets ?? createMemoryBucketStore(clock);
  const strangers = leasedByStrangers ?? bank?.strangers ?? createMemoryBucketStore(clock);
  const failures = createFailures(strangers);
  const verifying = { failures, clock, controlConnected, onFailure: metrics.authFailed };
  const verifier = createVerifier({
    ...verifying,
    mayBeValid: (text) => isWellFormedKey(text) || portalTokens.read(text, clock.now()) !== undefined,
    lookUp,
    fault: new Fault("unauthorized"),
  });
  // It has a cache of its own, so that the token of a link is never taken for a key.
  const linkVerifier = createVerifier({
    ...verifying,
    mayBeValid: (token) => linkTokens.read(token) !== undefined,
    lookUp: lookUpLink,
    fault: new Fault("invalid_link"),
  });
  const lastUsed = createLastUsed({ pool, clock, log, table: "api_key" });
  const linksLastUsed = createLastUsed({ pool, clock, log, table: "data_link" });
  const tickets = createTickets({ secret, clock, redis, markThere: market?.useTicket });
  const written = [lastUsed, linksLastUsed].map((uses) => uses.run(stopping.signal));
  const running = Promise.all([...written, leased?.run(stopping.signal), leasedByStrangers?.run(stopping.signal)]);

  const takeBoth = createTakeBoth(buckets, clock);

  /** Takes from the buckets of this kind: the account's, and the key's where it has limits of its own. */
  function takeUnits(kind: string, principal: Principal, address: string, cost: number): Verdict | Promise<Verdict> {
    const { plan, limits, ownLimits } = principal;
    const account = { name: kind + limitOwner(principal, address), limits: plan };
    if (ownLimits.restPerMinute === null && ownLimits.restBurst === null) return buckets.take(account.name, plan, cost);
    return takeBoth({ name: kind + ownSlot(principal), limits }, account, cost);
  }

  function note({ perAddress, keyId }: Principal, address: string): void {
    if (!perAddress) lastUsed.note(keyId, clock.now(), address);
  }

  async function findAgain({ keyId, portal }: Pick<Principal, "keyId" | "portal">): Promise<Principal | undefined> {
    if (portal !== undefined) return clock.now() < portal.until ? findPortalToken(pool, clock, portal) : undefined;
    return keyId === DEMO_NAME ? findDemo(pool, demoKey) : findKeyById(pool, clock, keyId);
  }

  async function lookUp(text: string): Promise<Principal | undefined> {
    if (text === demoKey) return findDemo(pool, demoKey);
    const claims = portalTokens.read(text, clock.now());
    return claims === undefined ? findKey(pool, clock, hashKey(text)) : findPortalToken(pool, clock, claims);
  }

  async function lookUpLink(token: string): Promise<LinkPrincipal | undefined> {
    const id = linkTokens.read(token);
    return id === undefined ? undefined : findLink(pool, clock, id);
  }

  async function refresh(known: Pick<Principal, "keyId" | "portal">): Promise<Principal | undefined> {
    const principal = await findAgain(known);
    return principal && hasBegun(principal, clock.now()) ? principal : undefined;
  }

  function take(principal: Principal, cost: number, address: string): Verdict | Promise<Verdict> {
    note(principal, address);
    return takeUnits("", principal, address, cost);
  }

  return {
    verify: verifier.verify,
    verifyLink: linkVerifier.verify,
    apply(message) {
      verifier.apply(message);
      linkVerifier.apply(message);
    },
    async takeLink({ link }, address) {
      linksLastUsed.note(link.id, clock.now(), address);
      return { ...(await buckets.take(`link ${link.id}`, LINK_LIMITS, 1)), of: "link" };
    },
    buckets,
    strangers,
    take,
    async takeFor(keyId, cost, address) {
      const principal = await refresh({ keyId });
      return principal && take(principal, cost, address);
    },
    async takeFree(principal, address) {
      note(principal, address);
      const left = await takeUnits("", principal, address, 0);
      const { allowed, retryAfterS, refusedBy = "quota" } = await takeUnits("free ", principal, address, 1);
      return allowed ? left : { ...left, allowed, retryAfterS, refusedBy };
    },
    async takeTicks(principal, ticks, address) {
      note(principal, address);
      return { ...(await buckets.take(`ticks ${limitOwner(principal, address)}`, TICK_LIMITS, ticks)), of: "ticks" };
    },
    takeDemoDays: createDemoDays(clock),
    remaining: (accountId, plan) => buckets.take(accountId, plan, 0),
    async takeHandshake(principal, address) {
      note(principal, address);
      const { plan, limits, ownLimits } = principal;
      const account = { name: `handshakes ${limitOwner(principal, address)}`, limits: handshakeLimits(plan) };
      const own = { name: `handshakes ${ownSlot(principal)}`, limits: handshakeLimits(limits) };
      const taken =
        ownLimits.streamConnections === null ? buckets.take(account.name, account.limits, 1) : takeBoth(own, account, 1);
      const { allowed, retryAfterS } = await taken;
      if (!allowed) throw new Fault("rate_limited", { detail: "Connections are opened too often.", retry_after: retryAfterS });
    },
    mintTicket: ({ keyId, portal }, origin) => tickets.mint({ keyId, ...(portal && { portal }) }, origin),
    async redeemTicket(text, origin, address) {
      const grant = await tickets.redeem(text, origin);
      const principal = grant && (await findAgain(grant));
      if (grant === undefined || principal === undefined) {
        metrics.authFailed();
        throw await failures.add(address, new Fault("unauthorized", { detail: "The ticket is unknown, used or expired." }));
      }
      if (!grant.originMatches) throw new Fault("origin_not_allowed", { detail: "The ticket was made for another origin." });
      return requireBegun(principal, clock.now());
    },
    useTicket: tickets.use,
    refresh,
    mintPortalToken: (claims) => portalTokens.mint(claims, clock.now()),
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
