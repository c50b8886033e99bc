import { MINUTE_MS } from "#lib/units";
import { type ApiFailure, callPortal } from "./api";
import type { Credential } from "./credential";

/** A token with less time left than this is replaced, so that no call outlives its token. */
const RENEW_BEFORE_MS = MINUTE_MS;

interface Kept {
  readonly token: string;
  readonly expiresAtMs: number;
}

/** Provides the bearer token for a call. */
export interface Bearers {
  /** The token, or why the portal issued none. */
  get(credential: Credential): Promise<{ readonly bearer: string } | { readonly failure: ApiFailure }>;
  /** Drops a rejected token; true when a new one may be tried. */
  forget(credential: Credential): boolean;
}

/** Keeps one token per key, in memory only, and renews each before it expires. */
export function createBearers(): Bearers {
  const tokens = new Map<string, Kept>();
  return {
    async get(credential) {
      if (credential.kind === "demo") return { bearer: credential.key };
      const { id } = credential.key;
      const kept = tokens.get(id);
      if (kept !== undefined && kept.expiresAtMs - Date.now() > RENEW_BEFORE_MS) return { bearer: kept.token };
      const result = await callPortal<{ token: string; expires_at: string }>("POST", "tokens", { key_id: id });
      if ("failure" in result) return result;
      const { token, expires_at } = result.data;
      tokens.set(id, { token, expiresAtMs: Date.parse(expires_at) });
      return { bearer: token };
    },
    forget: (credential) => credential.kind === "own" && tokens.delete(credential.key.id),
  };
}
