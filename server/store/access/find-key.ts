import type { Pool } from "pg";
import { addressFilter } from "#lib/access/address";
import { keyLast4, keyPrefix } from "#lib/access/key-format";
import { NO_OWN_LIMITS, smallerLimits } from "#lib/access/key-limits";
import { PLAN_COLUMNS, type PlanRow, toPlan } from "#lib/access/limits/plans";
import { type MayRead, parsePermissions, readerOf, readsOf, tickerFilter } from "#lib/access/permissions";
import type { LivePageClaims, PageClaims, PortalTokenClaims } from "#lib/access/portal-token";
import { DEMO_NAME, type Principal } from "#lib/access/principal";
import type { Clock } from "#lib/clock";
import { eachLimit, PLAN_LIMITS, type PlanLimitField } from "#lib/contract/limits";
import { PAGE_READERS_OF_ADDRESS_COUNT } from "#lib/contract/portal";
import { SCOPES, type Scope, VENUES } from "#lib/contract/primitives";
import { RIGHTS } from "#lib/contract/roles";
import { firstDay, type Month, monthOf } from "#lib/domain/month";

interface KeyRow extends PlanRow, Readonly<Record<`own_${PlanLimitField}`, number | null>> {
  id: string;
  prefix: string;
  last4: string;
  account_id: string;
  venue: string;
  scopes: string[];
  origins: string[];
  addresses: string[];
  tickers: string[];
  not_before: Date | null;
  expires_at: Date | null;
  grace_until: Date | null;
  revoked_at: Date | null;
  suspended_at: Date | null;
  live_access: boolean;
  permissions: unknown;
  plan_permissions: unknown;
  month_used: number;
}

const OPEN_SESSION = `
  SELECT 1 FROM portal_session s JOIN membership m ON m.user_id = s.user_id AND m.role = ANY ($4)
   WHERE s.id = $1 AND m.account_id = $2 AND s.revoked_at IS NULL AND s.expires_at > $3`;

interface DemoRow extends PlanRow {
  account_id: string | null;
  suspended_at: Date | null;
  permissions: unknown;
  plan_permissions: unknown;
  month_used: number;
}

const OWN_LIMITS = Object.values(PLAN_LIMITS).map(({ field }) => `k.${field} AS own_${field}`);

/** What the account has used of the month $2, where its plan has a quota. */
const MONTH_USED = `
  CASE WHEN p.month_units IS NULL THEN 0 ELSE (
    SELECT coalesce(sum(units), 0)::float8 FROM month_usage WHERE account_id = a.id AND month = $2) END AS month_used`;

const KEYS = `
  SELECT k.id, k.prefix, k.last4, k.account_id, k.venue, k.scopes, k.origins, k.addresses, k.tickers,
         ${OWN_LIMITS.join(", ")}, k.not_before, k.expires_at, k.grace_until, k.revoked_at, a.suspended_at, a.permissions,
         a.live_access OR p.live_access AS live_access,
         p.permissions AS plan_permissions, ${MONTH_USED}, ${PLAN_COLUMNS}
    FROM api_key k JOIN account a ON a.id = k.account_id JOIN plan p ON p.name = a.plan`;
const BY_HASH = `${KEYS} WHERE k.hash = $1`;
const BY_ID = `${KEYS} WHERE k.id = $1`;

const DEMO = `
  SELECT a.id AS account_id, a.suspended_at, a.permissions, p.permissions AS plan_permissions, ${MONTH_USED}, ${PLAN_COLUMNS}
    FROM plan p LEFT JOIN account a ON a.name = $1
   WHERE p.name = $1`;

function earliest(...dates: (Date | null)[]): number | null {
  const instants = dates.filter((date) => date !== null).map((date) => date.getTime());
  return instants.length === 0 ? null : Math.min(...instants);
}

/**
 * The principal of the key with this hash as the database has it now; undefined when there is none, or when it is
 * revoked, expired or past its grace.
 * @param onEnded called with the id of a key that is
 */
export async function findKey(
  pool: Pick<Pool, "query">,
  clock: Clock,
  hash: Buffer,
  onEnded?: (keyId: string) => void,
): Promise<Principal | undefined> {
  return readKey(pool, clock, BY_HASH, hash, onEnded);
}

/** The same for a key that was verified before and is known by its id. */
export async function findKeyById(pool: Pick<Pool, "query">, clock: Clock, id: string): Promise<Principal | undefined> {
  return readKey(pool, clock, BY_ID, id);
}

async function readKey(
  pool: Pick<Pool, "query">,
  clock: Clock,
  statement: string,
  value: unknown,
  onEnded?: (keyId: string) => void,
): Promise<Principal | undefined> {
  const month = monthOf(clock.now());
  const { rows } = await pool.query<KeyRow>(statement, [value, firstDay(month)]);
  const [row] = rows;
  const principal = toPrincipal(row, clock, month);
  if (row !== undefined && principal === undefined) onEnded?.(row.id);
  return principal;
}

/** An instrument is readable when both the account and its plan permit it. */
function permittedBy({ permissions, plan_permissions }: Pick<KeyRow, "permissions" | "plan_permissions">): MayRead {
  return readerOf(readsOf(parsePermissions(permissions), parsePermissions(plan_permissions)));
}

/**
 * The principal of a token with which pages call for a reader: the demo key from the portal's origin alone, no longer than the
 * token. Each reader has the limits of the demo key, and all of an address together a multiple of them, so that neither a busy
 * neighbour nor calls with the demo key leave a page without prices, and many tokens are worth no more.
 */
async function findReader(
  pool: Pick<Pool, "query">,
  clock: Clock,
  claims: PageClaims,
  demoKey: string,
): Promise<Principal | undefined> {
  const demo = await findDemo(pool, clock, demoKey);
  if (demo === undefined) return undefined;
  const plan = { ...demo.plan, ...eachLimit((name) => demo.plan[name] * PAGE_READERS_OF_ADDRESS_COUNT) };
  return { ...demo, plan, ownLimits: demo.limits, origins: [claims.origin], validUntil: claims.until, portal: claims };
}

/**
 * The principal of a token with which pages show the live venue: it reads what the key of the user may read, as long as the key may,
 * and is otherwise that of a reader of the sandbox. The key is not used: neither its limits nor its usage and last use know of it.
 * All pages of an account together may use what its plan allows to its keys, so that a script with such a token gains at most as much again.
 */
async function findLiveReader(
  pool: Pick<Pool, "query">,
  clock: Clock,
  claims: LivePageClaims,
  demoKey: string,
): Promise<Principal | undefined> {
  const [key, demo] = await Promise.all([findInSession(pool, clock, claims.shows, claims), findDemo(pool, clock, demoKey)]);
  if (key === undefined || key.accountId !== claims.account || demo === undefined) return undefined;
  return {
    ...key,
    keyId: demo.keyId,
    prefix: demo.prefix,
    last4: demo.last4,
    accountId: demo.accountId,
    perAddress: demo.perAddress,
    scopes: demo.scopes.filter((scope) => key.scopes.includes(scope)),
    plan: { ...key.plan, monthUnits: null },
    monthUsed: demo.monthUsed,
    ownLimits: demo.limits,
    limits: demo.limits,
  };
}

/** The principal of a key as long as a session is open whose user may use it, from the portal's origin alone, no longer than its token. */
async function findInSession(
  pool: Pick<Pool, "query">,
  clock: Clock,
  keyId: string,
  claims: Exclude<PortalTokenClaims, PageClaims>,
): Promise<Principal | undefined> {
  const principal = await findKeyById(pool, clock, keyId);
  if (principal === undefined) return undefined;
  const { rowCount } = await pool.query(OPEN_SESSION, [claims.session, principal.accountId, new Date(clock.now()), RIGHTS.build]);
  if (rowCount === 0) return undefined;
  const validUntil = Math.min(claims.until, principal.validUntil ?? claims.until);
  return { ...principal, origins: [claims.origin], validUntil, portal: claims };
}

/**
 * The principal of a portal-minted token: that of its key, from the portal's origin alone, no longer than the token. Undefined
 * when the key or the session it was made in is no longer valid, or its user may not use keys of that account any more, and for
 * readers of pages where there is no demo key.
 */
export async function findPortalToken(
  pool: Pick<Pool, "query">,
  clock: Clock,
  claims: PortalTokenClaims,
  demoKey: string,
): Promise<Principal | undefined> {
  if ("reader" in claims) return demoKey === "off" ? undefined : findReader(pool, clock, claims, demoKey);
  if ("shows" in claims) return findLiveReader(pool, clock, claims, demoKey);
  return findInSession(pool, clock, claims.key, claims);
}

function toPrincipal(row: KeyRow | undefined, clock: Clock, month: Month): Principal | undefined {
  const venue = VENUES.find((name) => name === row?.venue);
  if (row === undefined || venue === undefined || row.revoked_at !== null) return undefined;
  const validUntil = earliest(row.expires_at, row.grace_until);
  if (validUntil !== null && validUntil <= clock.now()) return undefined;
  const plan = toPlan(row);
  const ownLimits = eachLimit((_, field) => row[`own_${field}`]);
  const isAllowedTicker = tickerFilter(row.tickers);
  const accountMayRead = permittedBy(row);
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
    monthUsed: { month, units: row.month_used },
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
export async function findDemo(pool: Pick<Pool, "query">, clock: Clock, text: string): Promise<Principal | undefined> {
  const month = monthOf(clock.now());
  const { rows } = await pool.query<DemoRow>(DEMO, [DEMO_NAME, firstDay(month)]);
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
    monthUsed: { month, units: row.month_used },
    ownLimits: NO_OWN_LIMITS,
    limits: plan,
    suspended: row.suspended_at !== null,
    liveAccess: false,
    perAddress: true,
    notBefore: null,
    validUntil: null,
    mayRead: permittedBy({ ...row, permissions: row.permissions ?? { kind: "all" } }),
  };
}
