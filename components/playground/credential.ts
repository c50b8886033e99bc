import { MINUTE_MS } from "#lib/units";
import { callPortal } from "../portal/api";
import type { Credential, OwnKey } from "./model";
import { keyGone, SESSION_ENDED, silence, type Trouble } from "./trouble";

/** A token with less time left than this is replaced, so that no call outlives its token. */
const RENEW_BEFORE_MS = MINUTE_MS;

type Bearer = { readonly bearer: string } | { readonly trouble: Trouble };

interface Kept {
  readonly token: string;
  readonly expiresAtMs: number;
}

/** Provides the bearer token for a call. */
export interface Bearers {
  get(credential: Credential): Promise<Bearer>;
  /** Drops a rejected token; true when a new one may be tried. */
  forget(credential: Credential): boolean;
}

/** Keeps one token per key, in memory only, and renews each before it expires. */
export function createBearers(): Bearers {
  const tokens = new Map<string, Kept>();

  async function mint({ id, name }: OwnKey): Promise<Bearer> {
    const result = await callPortal<{ token: string; expires_at: string }>("POST", "tokens", { key_id: id });
    if ("data" in result) {
      const { token, expires_at } = result.data;
      tokens.set(id, { token, expiresAtMs: Date.parse(expires_at) });
      return { bearer: token };
    }
    if (result.failure.id === "not_found") return { trouble: keyGone(name) };
    if (result.failure.id === "unauthorized") return { trouble: SESSION_ENDED };
    if (result.failure.id === "network") return { trouble: silence() };
    return { trouble: { says: result.failure.detail, next: "Try again, or choose the demo key." } };
  }

  return {
    async get(credential) {
      if (credential.kind === "demo") return { bearer: credential.key };
      const kept = tokens.get(credential.key.id);
      const fresh = kept !== undefined && kept.expiresAtMs - Date.now() > RENEW_BEFORE_MS;
      return fresh ? { bearer: kept.token } : mint(credential.key);
    },
    forget: (credential) => credential.kind === "own" && tokens.delete(credential.key.id),
  };
}
