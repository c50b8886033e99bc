import type { z } from "zod";
import { eachLimit, eachLimitField } from "#lib/contract/limits";
import type { EditKeyForm, PortalKey } from "#lib/contract/portal";
import { VENUES } from "#lib/contract/primitives";
import type { KeyRecord } from "./key-record";

const instant = (date: Date | null) => date?.toISOString() ?? null;

const dateOf = (text: string | null | undefined) => (typeof text === "string" ? new Date(text) : text);

/** The settings of a key as the portal's forms send them; what is absent stays absent. */
export function settingsOfForm<Form extends z.infer<typeof EditKeyForm>>({ not_before, expires_at, ...form }: Form) {
  return { ...form, ...eachLimit((_, field) => form[field]), notBefore: dateOf(not_before), expiresAt: dateOf(expires_at) };
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
    ...eachLimitField((name) => key[name]),
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
    refused_at: instant(key.refusedAt),
    refused_address: key.refusedAddress,
    agent_host: key.agentHost,
    replaced_by: key.replacedBy,
  };
}
