import { durationText } from "#lib/duration";
import { SECOND_MS } from "#lib/units";
import type { Credential } from "../portal/credential";
import { NO_ANSWER, type NoAnswer } from "../portal/no-answer";
import { plainText } from "../portal/plain-text";

/** The kind of key whose limits hold. */
type KeyKind = Credential["kind"];

/** Where the board currently gets its prices. */
export type Feed =
  | { readonly by: "page" }
  | { readonly by: "stream" }
  /** `why` is what the service said when it refused a stream, if it did. */
  | { readonly by: "polling"; readonly everyMs: number; readonly key: KeyKind; readonly why?: string | undefined }
  | { readonly by: "none"; readonly why: NoAnswer }
  | { readonly by: "none"; readonly why: "limited"; readonly retryInS: number; readonly key: KeyKind }
  | { readonly by: "none"; readonly why: "refused"; readonly detail: string };

/** Why prices are not live, and what happens next; undefined when they are. */
export function troubleOf(feed: Feed): string | undefined {
  if (feed.by === "polling")
    return `Can't open a stream. ${feed.why === undefined ? "" : `${feed.why} `}Refreshing every ${durationText(feed.everyMs)}.`;
  if (feed.by !== "none") return undefined;
  if (feed.why === "limited") {
    const who = feed.key === "live_page" ? "The pages of your account have" : "The pages at your IP address have";
    return `${who} reached the rate limit. Retrying in ${durationText(feed.retryInS * SECOND_MS)}.`;
  }
  if (feed.why === "refused") return `The service refused the request: ${plainText(feed.detail)} Reload the page to try again.`;
  const resumes = feed.why === "offline" ? "Prices resume when you're back online." : "Retrying every few seconds.";
  return `${NO_ANSWER[feed.why].says} ${resumes}`;
}
