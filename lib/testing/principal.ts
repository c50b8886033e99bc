import type { Principal } from "#lib/access/principal";

/** A principal of the live venue that may read, on a plan of one of each. */
export function testPrincipal(part: Partial<Principal> = {}): Principal {
  return {
    keyId: "k",
    accountId: "a",
    venue: "live",
    scopes: ["market:read"],
    origins: [],
    plan: { name: "free", restPerMinute: 1, restBurst: 1, streamConnections: 1, subscriptionsPerConnection: 1 },
    suspended: false,
    perAddress: false,
    validUntil: null,
    mayRead: () => true,
    ...part,
  };
}
