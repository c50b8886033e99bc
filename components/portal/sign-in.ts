import type { Failure } from "#lib/contract/envelope";
import { type ApiFailure, type ApiResult, failureOf, networkFailure } from "./api";
import { leaveSignedOut } from "./leave";
import { choosePasskey } from "./passkey";

/** Base of the sign-in service, for pages of this origin. */
const BASE = "/api/auth";

const CONTACT = "contact the operator of this installation";

/**
 * Why a sign-in failed, and what to do next, by the `error` in the address it redirects to: identifiers of
 * lib/contract/errors for our own checks, next-auth's names for provider errors.
 */
const WORDS: Readonly<Record<string, string>> = {
  // The same for an unknown address and a wrong password, so that nobody learns which accounts exist.
  CredentialsSignin: "Wrong email or password. Try again, or reset your password below.",
  rate_limited: "Too many attempts. Wait a minute, then try again.",
  account_suspended: "This account is suspended. Contact the operator of this installation.",
  service_unavailable: "Sign-in is temporarily unavailable. Try again in a minute.",
  internal_error: `Something went wrong, and the error was logged. Try again in a minute. If it happens again, ${CONTACT}.`,
  email_not_verified: "Your email address isn't verified with that provider. Verify it there, or sign in with a password.",
  sign_up_closed: "You have no account here, and accounts are created only by invitation.",
  csrf: "This page expired, or your browser blocks its cookies. Allow cookies, reload the page, then sign in.",
  wrong_code: "This code is wrong or was used before. Enter the one your app shows now, or another recovery code.",
  too_many_codes: "Too many wrong codes. Use a recovery code or a passkey, or try your app again tomorrow.",
  wrong_passkey: "This passkey opens no account here. Try again, or sign in another way.",
  step_expired: "That took too long. Enter your email and password again.",
  AccessDenied: "The provider rejected the sign-in, or you cancelled it. Try again, or sign in another way.",
  OAuthSignin: `Can't reach that provider. Try again in a minute, or sign in another way. If it happens again, ${CONTACT}.`,
  OAuthCallback: "The sign-in was cancelled or timed out at the provider. Try again, or sign in another way.",
  Callback: "The provider signed you in, but we couldn't. Try again, or sign in another way.",
  OAuthAccountNotLinked: "That email belongs to an account with a different sign-in method. Use the one you signed up with.",
  SessionRequired: "Your session has expired. Sign in again.",
  Configuration: `This sign-in method is misconfigured. Use another one, or ${CONTACT}.`,
};

/** The text for an `error`; general advice for an unknown one. */
export function signInWords(error: string): string {
  return Object.hasOwn(WORDS, error) ? (WORDS[error] ?? "") : `Sign-in failed. Try again. If it happens again, ${CONTACT}.`;
}

/** Errors about the code of the second step. */
const CODE_ERRORS: ReadonlySet<string> = new Set(["wrong_code", "too_many_codes"]);

const refusal = (error: string): ApiFailure => ({
  id: "unauthorized",
  detail: signInWords(error),
  parameter: CODE_ERRORS.has(error) ? "code" : null,
  requestId: null,
});

/** Calls the sign-in service. Rate limits and outages are answered in the API's own envelope. */
async function ask<Data extends object>(path: string, request: RequestInit): Promise<ApiResult<Data>> {
  const response = await fetch(`${BASE}/${path}`, { cache: "no-store", ...request }).catch(() => undefined);
  try {
    const answer = (await response?.json()) as Data | Failure;
    return "code" in answer ? { failure: failureOf(answer) } : { data: answer };
  } catch {
    return { failure: networkFailure(response) };
  }
}

/** Sends a form to the sign-in service; returns the address it redirects to, or why it failed. */
async function post(path: string, fields: Readonly<Record<string, string>>): Promise<ApiResult<URL>> {
  const token = await ask<{ csrfToken?: string }>("csrf", {});
  if ("failure" in token) return token;
  const body = new URLSearchParams({ ...fields, csrfToken: token.data.csrfToken ?? "", json: "true" });
  const answer = await ask<{ url?: string }>(path, { method: "POST", body });
  if ("failure" in answer) return answer;
  if (answer.data.url === undefined) return { failure: refusal("Configuration") };
  const end = new URL(answer.data.url, window.location.origin);
  // A form whose token does not match its cookie is redirected back without an error.
  const error = end.searchParams.has("csrf") ? "csrf" : end.searchParams.get("error");
  const goesOn = end.origin !== window.location.origin || error === null || error === SECOND_FACTOR;
  return goesOn ? { data: end } : { failure: refusal(error) };
}

/** The `error` of a sign-in that still needs a code or a passkey. */
export const SECOND_FACTOR = "second_factor";

/**
 * Signs in with email and password. One answer for an unknown address and a wrong password. `secondFactor` is true when that
 * was the first of two steps.
 */
export async function signInWithPassword(
  email: string,
  password: string,
  next: string,
): Promise<ApiResult<{ readonly secondFactor: boolean }>> {
  const result = await post("callback/credentials", { email, password, callbackUrl: next });
  if ("failure" in result) return result;
  return { data: { secondFactor: result.data.searchParams.get("error") === SECOND_FACTOR } };
}

/** Takes the second step with a code of the authenticator app or a recovery code. */
export function signInWithCode(code: string, next: string): Promise<ApiResult<object>> {
  return post("callback/code", { code, callbackUrl: next });
}

/** Signs in the browser that has just verified its address. */
export function signInWithEntry(next: string): Promise<ApiResult<URL>> {
  return post("callback/entry", { callbackUrl: next });
}

/** Signs in with a passkey that the reader chooses, which needs nothing else. */
export async function signInWithPasskey(next: string): Promise<ApiResult<object>> {
  const chosen = await choosePasskey();
  if ("failure" in chosen) return chosen;
  return post("callback/passkey", { passkey: JSON.stringify(chosen.data), callbackUrl: next });
}

/** Opens a provider's sign-in page; resolves to the failure if it cannot. `again` asks the provider not to rely on its session. */
export async function signInWithProvider(provider: string, next: string, again = false): Promise<ApiResult<object>> {
  const result = await post(`signin/${provider}${again ? "?prompt=login" : ""}`, { callbackUrl: next });
  if ("data" in result) window.location.assign(result.data);
  return result;
}

/** Ends this browser's session and opens the sign-in page. */
export async function signOut(): Promise<ApiResult<object>> {
  const result = await post("signout", { callbackUrl: "/signin" });
  if ("data" in result) leaveSignedOut();
  return result;
}
