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

type Minted = Exclude<Credential, { readonly kind: "demo" }>;

/** Where tokens are asked for. */
const PATHS: Readonly<Record<Minted["kind"], string>> = {
  own: "tokens",
  page: "page-tokens",
  live_page: "page-tokens/live",
};

/** What a token is kept under. */
const nameOf = (credential: Minted) => (credential.kind === "page" ? PAGE_TOKEN : `${credential.kind} ${credential.key.id}`);

/** Keeps one token per key in memory only, and that of pages of the sandbox on this device. It renews each before it expires. */
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
      const name = nameOf(credential);
      const kept = credential.kind === "page" ? (pageToken() ?? tokens.get(name)) : tokens.get(name);
      if (kept !== undefined && isFresh(kept)) return { bearer: kept.token };
      const body = credential.kind === "page" ? undefined : { key_id: credential.key.id };
      const result = await ask(name, PATHS[credential.kind], body);
      if ("failure" in result) return result;
      tokens.set(name, result.data);
      if (credential.kind === "page") remember(PAGE_TOKEN, result.data);
      return { bearer: result.data.token };
    },
    forget(credential) {
      if (credential.kind === "demo") return false;
      const had = tokens.delete(nameOf(credential));
      if (credential.kind !== "page") return had;
      remember(PAGE_TOKEN, null);
      return true;
    },
  };
}
