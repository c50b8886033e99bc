import type { FailureData } from "#lib/contract/envelope";
import { ERRORS, type ErrorId, errorDocsPath } from "#lib/contract/errors";
import { PLAN_DEFAULTS } from "#lib/contract/limits";
import type { ApiFailure } from "../portal/api";
import type { Credential, OwnKey } from "../portal/credential";
import { NO_ANSWER, type NoAnswer, noAnswerOf } from "../portal/no-answer";
import { SIGN_IN } from "../shell/pages";
import type { Correction } from "./trouble-correction";

/** What went wrong and what to do next, as sentences with code between backticks. */
export interface Trouble {
  readonly says: string;
  /** Absent when `says` already explains what to do. */
  readonly next?: string;
  readonly correction?: Correction;
  /** The link for the next step. */
  readonly link?: { readonly href: string; readonly label: string };
  readonly requestId?: string;
  /** Seconds until a retry makes sense. */
  readonly retryAfterS?: number;
}

const LIMITS_LINK = { href: "/docs/limits", label: "Stream limits" };
const KEYS_LINK = { href: "/dashboard/keys", label: "Your keys" };
const READY_LINK = { href: "/api/ready", label: "Check service health" };

/** A request that got no answer. */
export function silence(why: NoAnswer = noAnswerOf()): Trouble {
  return { ...NO_ANSWER[why], ...(why !== "offline" && { link: READY_LINK }) };
}

/**
 * A stream that could not be opened although the service had just issued a ticket for it. Browsers hide the reason, which is nearly
 * always the number of streams that are open already.
 */
export function noStream(credential: Credential): Trouble {
  if (!navigator.onLine) return silence("offline");
  const next = fewerStreams(credential);
  return { says: "The service answers, but the stream could not be opened.", next, link: LIMITS_LINK };
}

/** What helps when as many streams are open as a key may have. */
function fewerStreams({ kind }: Credential): string {
  if (kind === "own") return "Your key may have as many open streams as its plan allows. Close one, then connect again.";
  const limit = PLAN_DEFAULTS.demo.streamConnections;
  return `The demo key allows ${limit} streams per IP address. Each stream console has its own. Close one, then connect again.`;
}

/** The reader's portal session has ended, so no token can be issued for their key. */
const SESSION_ENDED: Trouble = {
  says: "Your session has expired, so your key can't be used here.",
  next: "Sign in again, or choose the demo key.",
  link: { href: "/signin?next=%2Fplayground", label: "Sign in" },
};

/** The selected key is no longer valid. */
function keyGone(name: string): Trouble {
  return {
    says: `The key “${name}” was revoked or has expired.`,
    next: "Choose another key above, or create a new one.",
    link: KEYS_LINK,
  };
}

/** The portal issued no token for one of the reader's keys. */
export function noToken({ name }: Pick<OwnKey, "name">, { id, detail }: ApiFailure): Trouble {
  if (id === "not_found") return keyGone(name);
  if (id === "unauthorized") return SESSION_ENDED;
  if (id === "network") return silence();
  return { says: detail, next: "Try again, or choose the demo key." };
}

function unauthorized(credential: Credential): Trouble {
  if (credential.kind === "own") return keyGone(credential.key.name);
  return {
    says: "The demo key is no longer valid.",
    next: "The operator changed or disabled it. Reload this page, or sign in to use a key of your own.",
    link: SIGN_IN,
  };
}

const isErrorId = (id: string): id is ErrorId => Object.hasOwn(ERRORS, id);

/** The service's suggestion; undefined when it has none. */
function correctionOf({ parameter, suggestion, tickers }: Partial<FailureData>): Correction | undefined {
  if (parameter === undefined || suggestion === undefined) return undefined;
  const refused = tickers?.[0];
  return { parameter, value: suggestion, ...(refused !== undefined && { refused }) };
}

/** An error response in the service's words; general advice only when those words are general too. */
export function refusal(message: string, data: Partial<FailureData>, credential: Credential): Trouble {
  const { request_id, retry_after } = data;
  const facts = {
    ...(request_id !== undefined && { requestId: request_id }),
    ...(retry_after !== undefined && { retryAfterS: retry_after }),
  };
  if (message === "unauthorized") return { ...unauthorized(credential), ...facts };
  const entry = isErrorId(message) ? ERRORS[message] : undefined;
  const { detail = "The service refused the request." } = data;
  const general = data.suggestion === undefined && (data.detail === undefined || detail === entry?.title);
  const correction = correctionOf(data);
  if (message === "too_many_connections") return { says: detail, next: fewerStreams(credential), link: LIMITS_LINK, ...facts };
  return {
    says: detail,
    ...(general && { next: entry?.fix ?? "Check the response below, then try again." }),
    ...(correction !== undefined && { correction }),
    ...facts,
    // Not the address in the answer: behind a proxy, the service may know itself by another one than the reader.
    ...(isErrorId(message) &&
      data.docs_url !== undefined && { link: { href: errorDocsPath(message), label: `About ${message}` } }),
  };
}

/** A response that did not come from the service: a proxy's page, a truncated body. */
export function strange(status: number): Trouble {
  return {
    says: `This response (status ${status}) did not come from the service.`,
    next:
      status >= 500
        ? "A proxy in front of the service is failing. Try again in a moment."
        : "Check the proxies between this page and the service.",
    link: READY_LINK,
  };
}
