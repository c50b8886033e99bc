import type { PortalKey } from "#lib/contract/portal";
import { VENUES } from "#lib/contract/primitives";
import type { KeyRecord } from "./key-record";

const instant = (date: Date | null) => date?.toISOString() ?? null;

/** The settings of a key as the portal's forms send them; what is absent stays absent. */
export function settingsOfForm<Form extends { readonly expires_at?: string | null | undefined }>({
  expires_at,
  ...settings
}: Form) {
  return { ...settings, expiresAt: typeof expires_at === "string" ? new Date(expires_at) : expires_at };
}

/** A key as the portal's JSON has it. */
export function toPortalKey(key: KeyRecord): PortalKey {
  return {
    id: key.id,
    name: key.name,
    venue: VENUES.find((venue) => venue === key.venue) ?? "sandbox",
    scopes: key.scopes,
    origins: key.origins,
    addresses: key.addresses,
    prefix: key.prefix,
    last4: key.last4,
    state: key.state,
    created_at: key.createdAt.toISOString(),
    expires_at: instant(key.expiresAt),
    expires_soon: key.expiresSoon,
    grace_until: instant(key.graceUntil),
    revoked_at: instant(key.revokedAt),
    last_used_at: instant(key.lastUsedAt),
    last_used_address: key.lastUsedAddress,
    replaced_by: key.replacedBy,
  };
}
