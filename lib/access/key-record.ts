import { eachLimit, KEY_EXPIRY_WARNINGS_S } from "#lib/contract/limits";
import { SECOND_MS } from "#lib/units";
import type { KeyLimits } from "./key-limits";

/** How long before its expiry a key is said to expire soon. */
export const EXPIRES_SOON_MS = KEY_EXPIRY_WARNINGS_S[0] * SECOND_MS;

/**
 * scheduled: not valid yet; active; grace: rotated, valid for a while; expired: past its own expiry; revoked: by hand, or past
 * its grace.
 */
type KeyState = "scheduled" | "active" | "grace" | "expired" | "revoked";

/** A key as it may be shown. */
export interface KeyRecord extends KeyLimits {
  readonly id: string;
  readonly account: string;
  readonly name: string;
  readonly venue: string;
  readonly scopes: readonly string[];
  readonly origins: readonly string[];
  readonly addresses: readonly string[];
  readonly tickers: readonly string[];
  /** First 12 and last 4 characters of its text. */
  readonly prefix: string;
  readonly last4: string;
  readonly state: KeyState;
  readonly createdAt: Date;
  readonly notBefore: Date | null;
  readonly expiresAt: Date | null;
  /** True for an active key whose expiry is near. */
  readonly expiresSoon: boolean;
  /** End of its grace, when it was rotated. */
  readonly graceUntil: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
  /** A network, never a full address. */
  readonly lastUsedAddress: string | null;
  /** The same for its last use after it had ended. */
  readonly refusedAt: Date | null;
  readonly refusedAddress: string | null;
  /** Host of the agent that it was made for when the account let it connect; null for a key that somebody made. */
  readonly agentHost: string | null;
  /** The key that took its place. */
  readonly replacedBy: string | null;
}

type Row = Omit<KeyRecord, "account" | "state" | "expiresSoon" | "replacedBy"> & {
  readonly account: { readonly name: string };
  readonly replacedById: string | null;
};

function stateAt({ revokedAt, notBefore, expiresAt, graceUntil }: Row, nowMs: number): KeyState {
  if (revokedAt !== null) return "revoked";
  if (expiresAt !== null && expiresAt.getTime() <= nowMs) return "expired";
  if (graceUntil !== null && graceUntil.getTime() <= nowMs) return "revoked";
  if (notBefore !== null && notBefore.getTime() > nowMs) return "scheduled";
  return graceUntil === null ? "active" : "grace";
}

/** A stored key without what must not leave the store. */
export function toRecord(row: Row, nowMs: number): KeyRecord {
  const state = stateAt(row, nowMs);
  return {
    id: row.id,
    account: row.account.name,
    name: row.name,
    venue: row.venue,
    scopes: row.scopes,
    origins: row.origins,
    addresses: row.addresses,
    tickers: row.tickers,
    ...eachLimit((name) => row[name]),
    prefix: row.prefix,
    last4: row.last4,
    state,
    createdAt: row.createdAt,
    notBefore: row.notBefore,
    expiresAt: row.expiresAt,
    expiresSoon: state === "active" && row.expiresAt !== null && row.expiresAt.getTime() < nowMs + EXPIRES_SOON_MS,
    graceUntil: row.graceUntil,
    revokedAt: row.revokedAt,
    lastUsedAt: row.lastUsedAt,
    lastUsedAddress: row.lastUsedAddress,
    refusedAt: row.refusedAt,
    refusedAddress: row.refusedAddress,
    agentHost: row.agentHost,
    replacedBy: row.replacedById,
  };
}
