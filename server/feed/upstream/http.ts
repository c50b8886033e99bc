import { SECOND_MS } from "#lib/units";
import { Refused, Upset } from "../feed";

/** How much of an error answer is read. */
const ERROR_MAX_CHARACTERS = 300;
/** A wait that an answer asks for is never longer: an hour. */
const RETRY_AFTER_MAX_MS = 3_600_000;

/** The wait that Retry-After asks for, seconds or a date (RFC 9110, 10.2.3), in milliseconds; undefined without one. */
export function retryAfterMs(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  const ms = /^\d{1,9}$/.test(value.trim()) ? Number(value) * SECOND_MS : Date.parse(value) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), RETRY_AFTER_MAX_MS);
}

/** The words of an error answer, without markup. */
async function wordsOf(response: Response): Promise<string> {
  const text = await response.text().catch(() => "");
  let words = text;
  try {
    const { errorMessage, message, error } = JSON.parse(text) as Record<string, unknown>;
    words = [errorMessage, message, error].find((value) => typeof value === "string") ?? text;
  } catch {
    words = text.replace(/<[^>]*>/g, " ");
  }
  return words.replace(/\s+/g, " ").trim().slice(0, ERROR_MAX_CHARACTERS);
}

/**
 * Asks a source over HTTP.
 * @param refusals statuses that only the owner of the account can change, with what to look at, or undefined where the words of the
 *   answer speak of something else
 * @returns the answer when its status is 200
 * @throws Refused or Upset
 */
export async function ask(
  url: string,
  init: RequestInit,
  nowMs: () => number,
  refusals: Readonly<Record<number, (words: string) => string | undefined>>,
): Promise<Response> {
  const response = await fetch(url, init).catch((error: unknown) => {
    throw new Upset(`cannot reach ${new URL(url).host}: ${reasonOf(error)}`, { kind: "unreachable", cause: error });
  });
  if (response.status === 200) return response;
  const words = await wordsOf(response);
  const said = `${new URL(url).host} answered ${response.status}: ${words}`;
  const advice = refusals[response.status]?.(words);
  if (advice !== undefined) throw new Refused(`${said} ${advice}`);
  throw new Upset(said, { retryAfterMs: retryAfterMs(response.headers.get("retry-after"), nowMs()) });
}

/** What fetch hides one level down. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error && cause.message !== "" ? cause.message : message;
}
