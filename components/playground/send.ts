import { fieldsOf, parseJson } from "#lib/client/errors";
import type { FailureData } from "#lib/contract/envelope";
import type { Instrument } from "#lib/contract/instrument";
import { SECOND_MS } from "#lib/units";
import type { ApiFailure } from "../portal/api";
import type { Bearers } from "../portal/bearers";
import type { Credential } from "../portal/credential";
import { noAnswerOf } from "../portal/no-answer";
import { measuredTiming, type Timing } from "./timing";
import { noToken, refusal, silence, strange, type Trouble } from "./trouble";

const TIMEOUT_S = 20;
const STATUS_UNAUTHORIZED = 401;

/** An answer as received. */
export interface Answer {
  readonly status: number;
  /** From sending to the last byte, in milliseconds. */
  readonly tookMs: number;
  /** Where the time went; undefined when the browser did not measure it. */
  readonly timing: Timing | undefined;
  /** Size of the decoded body in bytes. */
  readonly sizeBytes: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly text: string;
  /** The body as JSON; undefined when it is not JSON. */
  readonly body: unknown;
}

/** The outcome of a call: a response, an error, or both. */
export interface Outcome {
  readonly answer?: Answer;
  readonly trouble?: Trouble;
}

/** A call to one path of the service. */
interface Call {
  readonly method: "GET" | "POST";
  /** Path and query. */
  readonly url: string;
  readonly credential: Credential;
}

async function exchange({ method, url }: Call, bearer: string): Promise<Answer | Trouble> {
  const signal = AbortSignal.timeout(TIMEOUT_S * SECOND_MS);
  const startedAt = performance.now();
  // The browser keeps a limited number of measurements.
  performance.clearResourceTimings();
  try {
    const headers = { authorization: `Bearer ${bearer}` };
    const response = await fetch(url, { method, headers, signal, cache: "no-store", credentials: "omit" });
    const text = await response.text();
    const tookMs = performance.now() - startedAt;
    return {
      status: response.status,
      tookMs,
      timing: await timingSoon(url),
      sizeBytes: new TextEncoder().encode(text).length,
      headers: [...response.headers],
      text,
      body: parseJson(text),
    };
  } catch {
    return silence(noAnswerOf({ timedOut: signal.aborted }));
  }
}

/** The measurement appears shortly after the body. */
async function timingSoon(url: string): Promise<Timing | undefined> {
  const timing = measuredTiming(url);
  if (timing !== undefined) return timing;
  await new Promise((resolve) => setTimeout(resolve, 0));
  return measuredTiming(url);
}

function judge(answer: Answer, credential: Credential): Outcome {
  const { code, message, data } = fieldsOf(answer.body);
  if (code === 0 && answer.status < 300) return { answer };
  if (typeof code !== "number" || code === 0 || typeof message !== "string") return { answer, trouble: strange(answer.status) };
  return { answer, trouble: refusal(message, fieldsOf(data) as Partial<FailureData>, credential) };
}

/** Only a key of the reader's own needs a token. */
const troubleOf = ({ credential }: Call, failure: ApiFailure): Trouble =>
  credential.kind === "own" ? noToken(credential.key, failure) : silence();

/** Makes a call. A rejected, expired token is replaced once. Never rejects. */
export async function send(bearers: Bearers, call: Call): Promise<Outcome> {
  const given = await bearers.get(call.credential);
  if ("failure" in given) return { trouble: troubleOf(call, given.failure) };
  const first = await exchange(call, given.bearer);
  if ("says" in first) return { trouble: first };
  if (first.status !== STATUS_UNAUTHORIZED || !bearers.forget(call.credential)) return judge(first, call.credential);
  const again = await bearers.get(call.credential);
  if ("failure" in again) return { answer: first, trouble: troubleOf(call, again.failure) };
  const second = await exchange(call, again.bearer);
  return "says" in second ? { trouble: second } : judge(second, call.credential);
}

/** The instruments that a key can read. @throws Error when the list is unavailable for any reason */
export async function readInstruments(
  bearers: Bearers,
  path: string,
  credential: Credential | undefined,
): Promise<readonly Instrument[]> {
  const { answer, trouble } = credential === undefined ? {} : await send(bearers, { method: "GET", url: path, credential });
  const { items } = fieldsOf(fieldsOf(answer?.body).data);
  if (trouble !== undefined || !Array.isArray(items)) throw new Error(trouble?.says ?? "The answer has no list of instruments.");
  return items as readonly Instrument[];
}
