import type { PlanLimits } from "#lib/contract/limits";
import type { LinkedId } from "#lib/contract/linked-ids";
import type { Scope, Venue } from "#lib/contract/primitives";
import type { Month } from "#lib/domain/month";
import { Fault } from "#lib/fault";
import { clientBlock } from "./address";
import type { KeyLimits } from "./key-limits";
import type { Plan } from "./limits/plans";
import { matchesOrigin, sharedOriginReason } from "./origin";
import type { MayRead } from "./permissions";
import type { PortalTokenClaims } from "./portal-token";

/** The account behind the demo key, as it is seeded; also the id of that key, which is in no table. */
export const DEMO_NAME = "demo";

/** The one call that a link stands for. */
interface LinkedCall {
  readonly id: string;
  readonly operation: LinkedId;
  readonly path: string;
  /** The text after "?". */
  readonly queryText: string;
}

/** Who a verified key speaks for, and what it may do. */
export interface Principal {
  readonly keyId: string;
  /** First 12 and last 4 characters of the key's text. */
  readonly prefix: string;
  readonly last4: string;
  readonly accountId: string;
  readonly venue: Venue;
  readonly scopes: readonly Scope[];
  /** Entries as parseOrigin stores them; none: no browser use. `any`: every origin (the demo key). */
  readonly origins: readonly string[] | "any";
  /** Addresses and networks the key may be used from; none: from anywhere. */
  readonly addresses: readonly string[];
  /** The same, compiled. */
  readonly isAllowedAddress: (address: string) => boolean;
  /** Tickers the key may request and push; none: all that the account may read. */
  readonly tickers: readonly string[];
  /** Limits of the account. */
  readonly plan: Plan;
  /** Units that the account had used of a month when it was read; of no month where the plan has no quota. */
  readonly monthUsed: { readonly month: Month; readonly units: number };
  /** Limits of this key alone. */
  readonly ownLimits: KeyLimits;
  /** The smaller of both. */
  readonly limits: PlanLimits;
  /** An operator suspended the account. */
  readonly suspended: boolean;
  /** An operator granted the live venue, to the account or to its plan. */
  readonly liveAccess: boolean;
  /** Limits count per client address instead of per account (the demo key). */
  readonly perAddress: boolean;
  /** Unix milliseconds from which the key is valid; null for one that is valid from its creation. */
  readonly notBefore: number | null;
  /** Unix milliseconds from which the key is no longer valid: its expiry or the end of its grace; null for never. */
  readonly validUntil: number | null;
  /** Instruments that account and key may both read. Others do not exist for it. */
  readonly mayRead: MayRead;
  /** The claims of the portal token that was used instead of the key. */
  readonly portal?: PortalTokenClaims;
  /** The link that was used instead of the key. */
  readonly link?: LinkedCall;
}

/** Who a verified link speaks for. */
export type LinkPrincipal = Principal & Required<Pick<Principal, "link">>;

/** What kind of key a caller has, never which: none, demo, portal, link, live or sandbox. */
export function keyKind(principal: Principal | undefined): string {
  if (principal === undefined) return "none";
  if (principal.portal !== undefined) return "portal";
  if (principal.link !== undefined) return "link";
  return principal.perAddress ? "demo" : principal.venue;
}

/** True when the key carries the scope. */
export function hasScope(principal: Principal, scope: Scope): boolean {
  return principal.scopes.includes(scope);
}

/** True for a request without `Origin` (null), and for one from an origin the key allows. */
export function originAllowed(principal: Principal, origin: string | null): boolean {
  return origin === null || principal.origins === "any" || matchesOrigin(principal.origins, origin);
}

/**
 * Requires what every use of a key needs: that its account is not suspended, and has access to the key's venue.
 * @throws Fault account_suspended, live_access_required
 */
export function requireAccount({ suspended, venue, liveAccess }: Principal): void {
  if (suspended) throw new Fault("account_suspended");
  if (venue === "live" && !liveAccess)
    throw new Fault("live_access_required", { detail: "The account of this key has no access to the live venue." });
}

/** Where a request comes from. */
interface RequestSource {
  /** Null without one. */
  readonly origin: string | null;
  /** Of the client, as far as proxies are trusted. */
  readonly address: string;
}

/**
 * What the key may do, in the order in which it is reported: the account, the scope, the origin, the address.
 * @param scope that the key needs; `any` for none in particular
 * @param purpose what needs the scope, as the beginning of a sentence
 * @throws Fault account_suspended, live_access_required, insufficient_scope, origin_not_allowed, address_not_allowed
 */
export function requireAccess(principal: Principal, scope: Scope | "any", purpose: string, source: RequestSource): void {
  requireAccount(principal);
  if (scope !== "any" && !hasScope(principal, scope))
    throw new Fault("insufficient_scope", { detail: `${purpose} needs the scope ${scope}.`, required: scope });
  if (!originAllowed(principal, source.origin)) {
    const detail = sharedOriginReason(source.origin) ?? "This key does not allow the origin of the request.";
    throw new Fault("origin_not_allowed", { detail });
  }
  if (!principal.isAllowedAddress(source.address))
    throw new Fault("address_not_allowed", { detail: `This key does not allow the IP address ${source.address}.` });
}

/**
 * Requires that the plan of the account includes streams.
 * @throws Fault not_in_plan
 */
export function requireStreams({ plan }: Pick<Principal, "plan">): void {
  if (!plan.streams) throw new Fault("not_in_plan", { detail: `The plan "${plan.name}" includes no streams.` });
}

/** True from the moment the key is valid. */
export function hasBegun({ notBefore }: Principal, nowMs: number): boolean {
  return notBefore === null || nowMs >= notBefore;
}

/** @throws Fault key_not_yet_valid that says when it will be */
export function requireBegun<Known extends Principal>(principal: Known, nowMs: number): Known {
  if (hasBegun(principal, nowMs)) return principal;
  const not_before = new Date(principal.notBefore ?? nowMs).toISOString();
  throw new Fault("key_not_yet_valid", { detail: `This key is valid from ${not_before}.`, not_before });
}

/** The reader of pages that a principal stands for, of the live venue the user's session; undefined for every other. */
function readerOf({ portal }: Pick<Principal, "portal">): string | undefined {
  if (portal === undefined || "key" in portal) return undefined;
  return "reader" in portal ? portal.reader : portal.session;
}

/**
 * Who the limits count for: the account with all its keys; the client's address where they count by address, that of pages apart
 * from that of the demo key; for pages of the live venue their account, apart from its keys.
 */
export function limitOwner(principal: Principal, address: string): string {
  const { perAddress, keyId, accountId, portal } = principal;
  if (portal !== undefined && "shows" in portal) return `pages ${portal.account}`;
  if (!perAddress) return accountId;
  return `${readerOf(principal) === undefined ? keyId : "pages"} ${clientBlock(address)}`;
}

/** The name under which the limits of a key alone count, or those of one reader of pages. */
export function ownSlot(principal: Principal): string {
  const reader = readerOf(principal);
  return reader === undefined ? `key ${principal.keyId}` : `page ${reader}`;
}
