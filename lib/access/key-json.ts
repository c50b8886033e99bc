import type { PortalKey } from "#lib/contract/portal";
import { VENUES } from "#lib/contract/primitives";
import type { KeyRecord } from "./key-record";

const instant = (date: Date | null) => date?.toISOString() ?? null;

/** A key as the portal's JSON has it. */
export function toPortalKey(key: KeyRecord): PortalKey {
  return {
    id: key.id,
    name: key.name,
    venue: VENUES.find((venue) => venue === key.venue) ?? "sandbox",
    scopes: key.scopes,
    origins: key.origins,
    prefix: key.prefix,
    last4: key.last4,
    state: key.state,
    created_at: key.createdAt.toISOString(),
    expires_at: instant(key.expiresAt),
    grace_until: instant(key.graceUntil),
    revoked_at: instant(key.revokedAt),
    last_used_at: instant(key.lastUsedAt),
    last_used_address: key.lastUsedAddress,
    replaced_by: key.replacedBy,
  };
}
