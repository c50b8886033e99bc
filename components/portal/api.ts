import type { Failure, Success } from "#lib/contract/envelope";
import { NO_ANSWER, noAnswerOf } from "./no-answer";
import { plainText } from "./plain-text";
import { askForProof } from "./proof";

/** Base path of the portal's own API, for pages of this origin. */
const BASE = "/api/portal";

/** A failed call: the text for the reader, and the field it is about. */
export interface ApiFailure {
  /** Identifier of lib/contract/errors, or "network" without an answer. */
  readonly id: Failure["message"] | "network";
  readonly detail: string;
  /** The form field it is about, null when it is about none. */
  readonly parameter: string | null;
  readonly requestId: string | null;
}

/** The result of a call: its data, or why it failed. Calls never throw. */
export type ApiResult<Data> = { readonly data: Data } | { readonly failure: ApiFailure };

/**
 * The failure of a call that got no answer of the API.
 * @param answer what came instead, such as the error page of a proxy; undefined when nothing came
 */
export function networkFailure(answer?: Response): ApiFailure {
  const { says, next } = NO_ANSWER[noAnswerOf({ answered: answer !== undefined })];
  const status = answer === undefined ? "" : ` (HTTP ${answer.status})`;
  return {
    id: answer === undefined ? "network" : "internal_error",
    detail: `${says.replace(/\.$/, "")}${status}. ${next}`,
    parameter: null,
    requestId: answer?.headers.get("x-request-id") ?? null,
  };
}

/** An error response as a text for the reader, with the seconds to wait if it names them. */
export function failureOf({ message, data }: Failure): ApiFailure {
  const complete = data.retry_after === undefined || /try again/i.test(data.detail);
  const wait = complete ? "" : ` Try again in ${data.retry_after} s.`;
  return {
    id: message,
    detail: plainText(data.detail) + wait,
    parameter: data.parameter ?? null,
    requestId: data.request_id,
  };
}

/**
 * Calls the portal's API and unwraps the envelope. When a change needs a fresh proof, asks for it and repeats the call.
 * @param path below /api/portal, with its query, for example "keys"
 * @param body sent as JSON; omitted for reads
 */
export async function callPortal<Data>(
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  body?: object,
): Promise<ApiResult<Data>> {
  const result = await send<Data>(method, path, body);
  const unproved = "failure" in result && result.failure.id === "proof_required";
  return unproved && (await askForProof()) ? send(method, path, body) : result;
}

/** Sends a part of a file. @param path below /api/portal, with its query */
export function sendPart(path: string, part: Blob, signal: AbortSignal): Promise<ApiResult<object>> {
  return answerOf(path, {
    method: "PUT",
    cache: "no-store",
    headers: { "content-type": "application/octet-stream" },
    body: part,
    signal,
  });
}

function send<Data>(method: string, path: string, body?: object): Promise<ApiResult<Data>> {
  const request: RequestInit = { method, cache: "no-store" };
  if (method !== "GET") {
    request.headers = { "content-type": "application/json" };
    request.body = JSON.stringify(body ?? {});
  }
  return answerOf(path, request);
}

async function answerOf<Data>(path: string, request: RequestInit): Promise<ApiResult<Data>> {
  const response = await fetch(`${BASE}/${path}`, request).catch(() => undefined);
  try {
    const answer = (await response?.json()) as Success<Data> | Failure;
    return answer.message === "success" ? { data: answer.data } : { failure: failureOf(answer) };
  } catch {
    // A broken connection, or a proxy's page instead of JSON.
    return { failure: networkFailure(response) };
  }
}

/** The data of a call. @throws ApiFailure */
export function dataOf<Data>(result: ApiResult<Data>): Data {
  if ("failure" in result) throw result.failure;
  return result.data;
}

/** A query string of the values that are set, with its question mark; empty without any. */
export function queryOf(values: Readonly<Record<string, string | null | undefined>>): string {
  const set = Object.entries(values).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return set.length === 0 ? "" : `?${new URLSearchParams(set)}`;
}
