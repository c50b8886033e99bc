import type { ApiResult } from "./api";

const REFUSED = {
  id: "unauthorized",
  detail: "That e-mail and password do not fit together.",
  parameter: null,
  requestId: null,
} as const;
const NETWORK = {
  id: "network",
  detail: "No answer came. Check the connection, then try again.",
  parameter: null,
  requestId: null,
} as const;
/** Errors that the sign-in service names, in words. */
const KNOWN: Readonly<Record<string, string>> = {
  rate_limited: "Too many attempts. Wait a minute, then try again.",
  account_suspended: "This account is suspended. Contact the operator of this installation.",
};

async function post(path: string, fields: Readonly<Record<string, string>>): Promise<string> {
  const { csrfToken } = (await (await fetch("/api/auth/csrf", { cache: "no-store" })).json()) as { csrfToken: string };
  const body = new URLSearchParams({ ...fields, csrfToken, json: "true" });
  const { url } = (await (await fetch(`/api/auth/${path}`, { method: "POST", body })).json()) as { url?: string };
  return url ?? "";
}

/** Signs in with e-mail and password. One answer for an unknown address and a wrong password. */
export async function signInWithPassword(email: string, password: string, next: string): Promise<ApiResult<object>> {
  try {
    const url = new URL(await post("callback/credentials", { email, password, callbackUrl: next }), window.location.origin);
    const error = url.searchParams.get("error");
    if (error === null) return { data: {} };
    return { failure: { ...REFUSED, detail: KNOWN[error] ?? REFUSED.detail } };
  } catch {
    return { failure: NETWORK };
  }
}

/** Leaves for a provider's own sign-in page; resolves to why it could not. */
export async function signInWithProvider(provider: string, next: string): Promise<ApiResult<object>> {
  try {
    window.location.assign(await post(`signin/${provider}`, { callbackUrl: next }));
    return { data: {} };
  } catch {
    return { failure: NETWORK };
  }
}

/** Ends this browser's session and leaves for the sign-in page. */
export async function signOut(): Promise<ApiResult<object>> {
  try {
    await post("signout", { callbackUrl: "/signin" });
    window.location.assign("/signin");
    return { data: {} };
  } catch {
    return { failure: NETWORK };
  }
}
