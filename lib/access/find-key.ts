import type { Pool } from "pg";
import type { Clock } from "#lib/clock";
import { SCOPES, type Scope, VENUES } from "#lib/contract/primitives";
import { addressFilter } from "./address";
import { keyLast4, keyPrefix } from "./key-format";
import { NO_OWN_LIMITS, smallerLimits } from "./key-limits";
import { type PlanRow, toPlan } from "./limits/plans";
import { parsePermissions, readerOf, tickerFilter } from "./permissions";
import type { PortalTokenClaims } from "./portal-token";
import type { Principal } from "./principal";

/** The account behind the demo key, as it is seeded; also the id of that key, which is in no table. */
export const DEMO_NAME = "demo";

interface KeyRow extends PlanRow {
  id: string;
  prefix: string;
  last4: string;
  account_id: string;
  venue: string;
  scopes: string[];
  origins: string[];
  addresses: string[];
  tickers: string[];
  own_rest_per_minute: number | null;
  own_rest_burst: number | null;
  own_stream_connections: number | null;
  own_subscriptions_per_connection: number | null;
  not_before: Date | null;
  expires_at: Date | null;
  grace_until: Date | null;
  revoked_at: Date | null;
  suspended_at: Date | null;
  live_access: boolean;
  permissions: unknown;
}

const OPEN_SESSION = `
  SELECT 1 FROM portal_session s JOIN portal_user u ON u.id = s.user_id
   WHERE s.id = $1 AND u.account_id = $2 AND s.revoked_at IS NULL AND s.expires_at > $3`;

interface DemoRow extends PlanRow {
  account_id: string | null;
  suspended_at: Date | null;
  permissions: unknown;
}

const PLAN = "p.name, p.rest_per_minute, p.rest_burst, p.stream_connections, p.subscriptions_per_connection";

const KEYS = `
  SELECT k.id, k.prefix, k.last4, k.account_id, k.venue, k.scopes, k.origins, k.addresses, k.tickers,
         k.rest_per_minute AS own_rest_per_minute, k.rest_burst AS own_rest_burst,
         k.stream_connections AS own_stream_connections, k.subscriptions_per_connection AS own_subscriptions_per_connection,
         k.not_before, k.expires_at, k.grace_until, k.revoked_at, a.suspended_at, a.permissions,
         a.live_access OR p.live_access AS live_access, ${PLAN}
    FROM api_key k JOIN account a ON a.id = k.account_id JOIN plan p ON p.name = a.plan`;
const BY_HASH = `${KEYS} WHERE k.hash = $1`;
const BY_ID = `${KEYS} WHERE k.id = $1`;

const DEMO = `
  SELECT a.id AS account_id, a.suspended_at, a.permissions, ${PLAN}
    FROM plan p LEFT JOIN account a ON a.name = $1
   WHERE p.name = $1`;

function earliest(...dates: (Date | null)[]): number | null {
  const instants = dates.filter((date) => date !== null).map((date) => date.getTime());
  return instants.length === 0 ? null : Math.min(...instants);
}

/**
 * The principal of the key with this hash as the database has it now; undefined when there is none, or when it is
 * revoked, expired or past its grace.
 */
export async function findKey(pool: Pick<Pool, "query">, clock: Clock, hash: Buffer): Promise<Principal | undefined> {
  const { rows } = await pool.query<KeyRow>(BY_HASH, [hash]);
  return toPrincipal(rows[0], clock);
}

/** The same for a key that was verified before and is known by its id. */
export async function findKeyById(pool: Pick<Pool, "query">, clock: Clock, id: string): Promise<Principal | undefined> {
  const { rows } = await pool.query<KeyRow>(BY_ID, [id]);
  return toPrincipal(rows[0], clock);
}

/**
 * The principal of a portal-minted token: that of its key, from the portal's origin alone, no longer than the token. Undefined
 * when the key or the session it was made in is no longer valid, or they belong to different accounts.
 */
export async function findPortalToken(
  pool: Pick<Pool, "query">,
  clock: Clock,
  claims: PortalTokenClaims,
): Promise<Principal | undefined> {
  const principal = await findKeyById(pool, clock, claims.key);
  if (principal === undefined) return undefined;
  const { rowCount } = await pool.query(OPEN_SESSION, [claims.session, principal.accountId, new Date(clock.now())]);
  if (rowCount === 0) return undefined;
  const validUntil = Math.min(claims.until, principal.validUntil ?? claims.until);
  return { ...principal, origins: [claims.origin], validUntil, portal: claims };
}

function toPrincipal(row: KeyRow | undefined, clock: Clock): Principal | undefined {
  const venue = VENUES.find((name) => name === row?.venue);
  if (row === undefined || venue === undefined || row.revoked_at !== null) return undefined;
  const validUntil = earliest(row.expires_at, row.grace_until);
  if (validUntil !== null && validUntil <= clock.now()) return undefined;
  const plan = toPlan(row);
  const ownLimits = {
    restPerMinute: row.own_rest_per_minute,
    restBurst: row.own_rest_burst,
    streamConnections: row.own_stream_connections,
    subscriptionsPerConnection: row.own_subscriptions_per_connection,
  };
  const isAllowedTicker = tickerFilter(row.tickers);
  const accountMayRead = readerOf(parsePermissions(row.permissions));
  return {
    keyId: row.id,
    prefix: row.prefix,
    last4: row.last4,
    accountId: row.account_id,
    venue,
    scopes: SCOPES.filter((scope) => row.scopes.includes(scope)),
    origins: row.origins,
    addresses: row.addresses,
    isAllowedAddress: addressFilter(row.addresses),
    tickers: row.tickers,
    plan,
    ownLimits,
    limits: smallerLimits(plan, ownLimits),
    suspended: row.suspended_at !== null,
    liveAccess: row.live_access,
    perAddress: false,
    notBefore: row.not_before?.getTime() ?? null,
    validUntil,
    mayRead: (listing) => isAllowedTicker(listing.ticker) && accountMayRead(listing),
  };
}

const DEMO_SCOPES: readonly Scope[] = ["market:read", "market:stream"];

/**
 * The principal of the demo key, which is in no table: plan and account `demo` of the database, sandbox, both
 * scopes, every origin, limits per client address.
 * @param text of the demo key
 */
export async function findDemo(pool: Pick<Pool, "query">, text: string): Promise<Principal | undefined> {
  const { rows } = await pool.query<DemoRow>(DEMO, [DEMO_NAME]);
  const [row] = rows;
  if (row === undefined) return undefined;
  const plan = toPlan(row);
  return {
    keyId: DEMO_NAME,
    prefix: keyPrefix(text),
    last4: keyLast4(text),
    accountId: row.account_id ?? DEMO_NAME,
    venue: "sandbox",
    scopes: DEMO_SCOPES,
    origins: "any",
    addresses: [],
    isAllowedAddress: addressFilter([]),
    tickers: [],
    plan,
    ownLimits: NO_OWN_LIMITS,
    limits: plan,
    suspended: row.suspended_at !== null,
    liveAccess: false,
    perAddress: true,
    notBefore: null,
    validUntil: null,
    mayRead: readerOf(parsePermissions(row.permissions ?? { kind: "all" })),
  };
}
