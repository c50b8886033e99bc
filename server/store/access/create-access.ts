import type { Access } from "#lib/access/access";
import { hashKey } from "#lib/access/key-format";
import type { Verdict } from "#lib/access/limits/bucket";
import type { BucketBanks } from "#lib/access/limits/bucket-bank";
import type { BucketLender } from "#lib/access/limits/bucket-lender";
import { createMemoryBucketStore } from "#lib/access/limits/bucket-store";
import { createDemoDays } from "#lib/access/limits/demo-days";
import { createFailures } from "#lib/access/limits/failures";
import { createLeasedBuckets } from "#lib/access/limits/leased-buckets";
import { createTakeBoth } from "#lib/access/limits/take-both";
import { createLinkTokens } from "#lib/access/links/link-token";
import { createPortalTokens } from "#lib/access/portal-token";
import {
  DEMO_NAME,
  hasBegun,
  type LinkPrincipal,
  limitOwner,
  ownSlot,
  type Principal,
  requireBegun,
} from "#lib/access/principal";
import { createVerifier } from "#lib/access/verify-key";
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
import type { Env } from "#lib/env";
import { Fault } from "#lib/fault";
import type { Logger } from "#lib/log";
import type { Metrics } from "#lib/metrics";
import type { Database } from "#server/store/database/db";
import type { Redis } from "#server/store/database/redis";
import { findDemo, findKey, findKeyById, findPortalToken } from "./find-key";
import { findLink } from "./find-link";
import { createLastUsed } from "./last-used";
import { createRedisLender } from "./leased-bucket-script";
import { createTickets } from "./tickets";

/** Handshakes a minute that each connection of a plan adds: all of them may reconnect a few times. */
const HANDSHAKES_PER_CONNECTION_COUNT = 6;

const TICK_LIMITS = { restPerMinute: INGEST_TICKS_PER_MINUTE_COUNT, restBurst: INGEST_TICKS_BURST_COUNT };
const LINK_LIMITS = { restPerMinute: LINK_CALLS_PER_MINUTE_COUNT, restBurst: LINK_CALLS_BURST_COUNT };

/** How often connections may be opened under these limits. */
const handshakeLimits = ({ streamConnections }: PlanLimits) => ({
  restPerMinute: STREAM_HANDSHAKES_PER_MINUTE_COUNT + HANDSHAKES_PER_CONNECTION_COUNT * streamConnections,
  restBurst: STREAM_HANDSHAKES_BURST_COUNT + streamConnections,
});

interface AccessOptions {
  db: Pick<Database, "pool">;
  clock: Clock;
  env: Pick<Env, "DEMO_KEY" | "KEY_PREFIX">;
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
  const portalTokens = createPortalTokens(secret, env.KEY_PREFIX);
  const linkTokens = createLinkTokens(secret, env.KEY_PREFIX);
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
  const refusals = createLastUsed({ pool, clock, log, table: "api_key", mark: "refused" });
  const tickets = createTickets({ secret, clock, redis, markThere: market?.useTicket });
  const written = [lastUsed, linksLastUsed, refusals].map((uses) => uses.run(stopping.signal));
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
    if (portal !== undefined) return clock.now() < portal.until ? findPortalToken(pool, clock, portal, demoKey) : undefined;
    return keyId === DEMO_NAME ? findDemo(pool, clock, demoKey) : findKeyById(pool, clock, keyId);
  }

  async function lookUp(text: string, address: string): Promise<Principal | undefined> {
    if (text === demoKey) return findDemo(pool, clock, demoKey);
    const claims = portalTokens.read(text, clock.now());
    if (claims !== undefined) return findPortalToken(pool, clock, claims, demoKey);
    return findKey(pool, clock, hashKey(text), (keyId) => refusals.note(keyId, clock.now(), address));
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
    async takeForPage(page, cost, address) {
      // It is made here, so it came from no origin and ends with this call.
      const portal = { ...page, origin: "", until: Number.MAX_SAFE_INTEGER };
      const principal = await refresh({ keyId: page.shows, portal });
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
