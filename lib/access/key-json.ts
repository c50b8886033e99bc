import type { z } from "zod";
import type { EditKeyForm, PortalKey } from "#lib/contract/portal";
import { VENUES } from "#lib/contract/primitives";
import type { KeyRecord } from "./key-record";

const instant = (date: Date | null) => date?.toISOString() ?? null;

const dateOf = (text: string | null | undefined) => (typeof text === "string" ? new Date(text) : text);

/** The settings of a key as the portal's forms send them; what is absent stays absent. */
export function settingsOfForm<Form extends z.infer<typeof EditKeyForm>>({
  rest_per_minute,
  rest_burst,
  stream_connections,
  subscriptions_per_connection,
  not_before,
  expires_at,
  ...settings
}: Form) {
  return {
    ...settings,
    restPerMinute: rest_per_minute,
    restBurst: rest_burst,
    streamConnections: stream_connections,
    subscriptionsPerConnection: subscriptions_per_connection,
    notBefore: dateOf(not_before),
    expiresAt: dateOf(expires_at),
  };
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
    tickers: key.tickers,
    rest_per_minute: key.restPerMinute,
    rest_burst: key.restBurst,
    stream_connections: key.streamConnections,
    subscriptions_per_connection: key.subscriptionsPerConnection,
    prefix: key.prefix,
    last4: key.last4,
    state: key.state,
    created_at: key.createdAt.toISOString(),
    not_before: instant(key.notBefore),
    expires_at: instant(key.expiresAt),
    expires_soon: key.expiresSoon,
    grace_until: instant(key.graceUntil),
    revoked_at: instant(key.revokedAt),
    last_used_at: instant(key.lastUsedAt),
    last_used_address: key.lastUsedAddress,
    replaced_by: key.replacedBy,
  };
}
