import type { Failure } from "#lib/contract/envelope";
import { type ApiFailure, type ApiResult, failureOf, networkFailure } from "./api";
import { signInWords } from "./sign-in-words";

/** Base of the sign-in service, for pages of this origin. */
const BASE = "/api/auth";

const refusal = (error: string): ApiFailure => ({
  id: "unauthorized",
  detail: signInWords(error),
  parameter: null,
  requestId: null,
});

/** Asks the sign-in service. What comes too often, or while the service is away, is refused in the market's envelope. */
async function ask<Data extends object>(path: string, request: RequestInit): Promise<ApiResult<Data>> {
  try {
    const answer = (await (await fetch(`${BASE}/${path}`, { cache: "no-store", ...request })).json()) as Data | Failure;
    return "code" in answer ? { failure: failureOf(answer) } : { data: answer };
  } catch {
    return { failure: networkFailure() };
  }
}

/** Sends a form of the sign-in service; gives the address it leads to, or why it was refused. */
async function post(path: string, fields: Readonly<Record<string, string>>): Promise<ApiResult<URL>> {
  const token = await ask<{ csrfToken?: string }>("csrf", {});
  if ("failure" in token) return token;
  const body = new URLSearchParams({ ...fields, csrfToken: token.data.csrfToken ?? "", json: "true" });
  const answer = await ask<{ url?: string }>(path, { method: "POST", body });
  if ("failure" in answer) return answer;
  if (answer.data.url === undefined) return { failure: refusal("Configuration") };
  const end = new URL(answer.data.url, window.location.origin);
  // A form whose token does not fit its cookie is led back to where it came from, without a word.
  const error = end.searchParams.has("csrf") ? "csrf" : end.searchParams.get("error");
  return end.origin !== window.location.origin || error === null ? { data: end } : { failure: refusal(error) };
}

/** Signs in with e-mail and password. One answer for an unknown address and a wrong password. */
export function signInWithPassword(email: string, password: string, next: string): Promise<ApiResult<object>> {
  return post("callback/credentials", { email, password, callbackUrl: next });
}

/** Leaves for a provider's own sign-in page; resolves to why it could not. */
export async function signInWithProvider(provider: string, next: string): Promise<ApiResult<object>> {
  const result = await post(`signin/${provider}`, { callbackUrl: next });
  if ("data" in result) window.location.assign(result.data);
  return result;
}

/** Ends this browser's session and leaves for the sign-in page. */
export async function signOut(): Promise<ApiResult<object>> {
  const result = await post("signout", { callbackUrl: "/signin" });
  if ("data" in result) window.location.assign("/signin");
  return result;
}
