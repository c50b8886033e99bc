/** Scopes that users give to their own keys; only operators give the others. */
export const PORTAL_SCOPES = ["market:read", "market:stream"] as const;
