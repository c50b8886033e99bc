import { NO_OWN_LIMITS } from "#lib/access/key-limits";
import { NO_TERMS } from "#lib/access/limits/plans";
import type { Principal } from "#lib/access/principal";
import { eachLimit } from "#lib/contract/limits";

const LIMITS = eachLimit(() => 1);

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
    tickers: [],
    plan: { name: "free", ...LIMITS, ...NO_TERMS },
    monthUsed: { month: "", units: 0 },
    ownLimits: NO_OWN_LIMITS,
    limits: LIMITS,
    suspended: false,
    liveAccess: true,
    perAddress: false,
    notBefore: null,
    validUntil: null,
    mayRead: () => true,
    ...part,
  };
}
