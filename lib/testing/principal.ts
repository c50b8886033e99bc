import type { Principal } from "#lib/access/principal";

/** A principal of the live venue with read access, on a plan whose limits are all one. */
export function testPrincipal(part: Partial<Principal> = {}): Principal {
  return {
    keyId: "k",
    prefix: "sw_live_0123",
    last4: "wxyz",
    accountId: "a",
    venue: "live",
    scopes: ["market:read"],
    origins: [],
    addresses: [],
    isAllowedAddress: () => true,
    plan: { name: "free", restPerMinute: 1, restBurst: 1, streamConnections: 1, subscriptionsPerConnection: 1 },
    suspended: false,
    perAddress: false,
    validUntil: null,
    mayRead: () => true,
    ...part,
  };
}
