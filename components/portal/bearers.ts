import { MINUTE_MS } from "#lib/units";
import { type ApiFailure, type ApiResult, callPortal } from "./api";
import type { Credential } from "./credential";
import { recall, remember } from "./device-storage";

/** A token with less time left than this is replaced, so that no call outlives its token. */
const RENEW_BEFORE_MS = MINUTE_MS;
/** Where the pages of this browser share their token. */
const PAGE_TOKEN = "page-token";

interface Issued {
  readonly token: string;
  readonly expires_at: string;
}

/** Provides the bearer token for a call. */
export interface Bearers {
  /** The token, or why the portal issued none. */
  get(credential: Credential): Promise<{ readonly bearer: string } | { readonly failure: ApiFailure }>;
  /** Drops a rejected token; true when a new one may be tried. */
  forget(credential: Credential): boolean;
}

const isFresh = ({ expires_at }: Issued) => Date.parse(expires_at) - Date.now() > RENEW_BEFORE_MS;

/** The token of this browser's pages, if it is still good. */
function pageToken(): Issued | undefined {
  const { token, expires_at } = Object(recall(PAGE_TOKEN)) as Partial<Issued>;
  if (typeof token !== "string" || typeof expires_at !== "string") return undefined;
  return isFresh({ token, expires_at }) ? { token, expires_at } : undefined;
}

/** Keeps one token per key in memory only, and that of the page on this device. It renews each before it expires. */
export function createBearers(): Bearers {
  const tokens = new Map<string, Issued>();
  /** What is being asked for: calls that begin together share one token. */
  const asked = new Map<string, Promise<ApiResult<Issued>>>();

  function ask(name: string, path: string, body?: object): Promise<ApiResult<Issued>> {
    const asking = asked.get(name) ?? callPortal<Issued>("POST", path, body).finally(() => asked.delete(name));
    asked.set(name, asking);
    return asking;
  }

  return {
    async get(credential) {
      if (credential.kind === "demo") return { bearer: credential.key };
      const id = credential.kind === "own" ? credential.key.id : PAGE_TOKEN;
      const kept = credential.kind === "own" ? tokens.get(id) : (pageToken() ?? tokens.get(id));
      if (kept !== undefined && isFresh(kept)) return { bearer: kept.token };
      const result = await (credential.kind === "own" ? ask(id, "tokens", { key_id: id }) : ask(id, "page-tokens"));
      if ("failure" in result) return result;
      tokens.set(id, result.data);
      if (credential.kind === "page") remember(PAGE_TOKEN, result.data);
      return { bearer: result.data.token };
    },
    forget(credential) {
      if (credential.kind === "demo") return false;
      if (credential.kind === "own") return tokens.delete(credential.key.id);
      remember(PAGE_TOKEN, null);
      tokens.delete(PAGE_TOKEN);
      return true;
    },
  };
}
