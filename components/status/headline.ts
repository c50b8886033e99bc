import { DISPLAY_CLASS } from "#lib/contract/display-class";
import type { CalendarGroup, ServiceStatus, VenueStatus } from "#lib/contract/service-status";
import type { Feed } from "../board/board-store";
import { NO_ANSWER } from "../portal/no-answer";
import type { WatchedStatus } from "./use-status";

/** How a part of the service is, as far as it was asked. */
export type PartState = "up" | "down" | "unchecked";

const FEEDS = { live: "the live feed", sandbox: "the sandbox feed" } as const;
const NAMES = new Intl.ListFormat("en-GB");

function checkedState(well: boolean | undefined): PartState {
  return well === undefined ? "unchecked" : well ? "up" : "down";
}

/** How REST is: by this page's own question, else by the latest sample. */
export function restState({ status, tookMs, trouble }: WatchedStatus): PartState {
  if (trouble !== undefined) return "down";
  // The page itself is an answer: before a sample there is no reason to doubt it.
  return tookMs !== null || status.checked === null ? "up" : checkedState(status.checked.rest);
}

/** How the streams are: by this page's own one, else by the latest sample. */
export function streamState({ checked }: ServiceStatus, feed: Feed): PartState {
  return feed.by === "stream" ? "up" : checkedState(checked?.stream);
}

/** True for tickers that stand for a state each, and are in trouble on purpose. */
export function isTest({ asset_class }: Pick<CalendarGroup, "asset_class">): boolean {
  return asset_class === "test";
}

/** True where a feed owes prices of open markets; a venue without a provider owes none. */
function isBehind({ provider, groups }: VenueStatus): boolean {
  const states = groups.filter((group) => !isTest(group)).flatMap(({ instruments }) => instruments);
  return provider !== null && states.some(({ state }) => DISPLAY_CLASS[state] === "warning");
}

/** The state of the whole in a few words: that all is up, or what is not. */
export function headlineOf(watched: WatchedStatus, feed: Feed): string {
  const { status, trouble } = watched;
  if (trouble !== undefined) return NO_ANSWER[trouble].says.replace(/\.$/, "");
  const streams = streamState(status, feed);
  const troubled = [
    ...(status.history === null ? ["the database"] : []),
    ...(restState(watched) === "down" ? ["REST"] : []),
    ...(streams === "down" ? ["the streams"] : []),
    ...status.venues.filter(isBehind).map(({ venue }) => FEEDS[venue]),
  ];
  if (troubled.length > 0) return `Problems with ${NAMES.format(troubled)}`;
  return streams === "unchecked" ? "Operational, streams not checked yet" : "All systems operational";
}
