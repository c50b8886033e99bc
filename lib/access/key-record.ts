import { KEY_EXPIRY_WARNINGS_S } from "#lib/contract/limits";
import { SECOND_MS } from "#lib/units";

/** How long before its expiry a key is said to expire soon. */
export const EXPIRES_SOON_MS = KEY_EXPIRY_WARNINGS_S[0] * SECOND_MS;

/** active; grace: rotated, valid for a while; expired: past its own expiry; revoked: by hand, or past its grace. */
type KeyState = "active" | "grace" | "expired" | "revoked";

/** A key as it may be shown. */
export interface KeyRecord {
  readonly id: string;
  readonly account: string;
  readonly name: string;
  readonly venue: string;
  readonly scopes: readonly string[];
  readonly origins: readonly string[];
  readonly addresses: readonly string[];
  /** First 12 and last 4 characters of its text. */
  readonly prefix: string;
  readonly last4: string;
  readonly state: KeyState;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  /** True for an active key whose expiry is near. */
  readonly expiresSoon: boolean;
  /** End of its grace, when it was rotated. */
  readonly graceUntil: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
  /** A network, never a full address. */
  readonly lastUsedAddress: string | null;
  /** The key that took its place. */
  readonly replacedBy: string | null;
}

type Row = Omit<KeyRecord, "account" | "state" | "expiresSoon" | "replacedBy"> & {
  readonly account: { readonly name: string };
  readonly replacedById: string | null;
};

function stateAt({ revokedAt, expiresAt, graceUntil }: Row, nowMs: number): KeyState {
  if (revokedAt !== null) return "revoked";
  if (expiresAt !== null && expiresAt.getTime() <= nowMs) return "expired";
  if (graceUntil === null) return "active";
  return graceUntil.getTime() > nowMs ? "grace" : "revoked";
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
    prefix: row.prefix,
    last4: row.last4,
    state,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    expiresSoon: state === "active" && row.expiresAt !== null && row.expiresAt.getTime() < nowMs + EXPIRES_SOON_MS,
    graceUntil: row.graceUntil,
    revokedAt: row.revokedAt,
    lastUsedAt: row.lastUsedAt,
    lastUsedAddress: row.lastUsedAddress,
    replacedBy: row.replacedById,
  };
}
