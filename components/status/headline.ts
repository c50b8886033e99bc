import { DISPLAY_CLASS } from "#lib/contract/display-class";
import type { CalendarGroup, ServiceStatus, VenueStatus } from "#lib/contract/service-status";
import type { Feed } from "../board/board-store";
import { NO_ANSWER } from "../portal/no-answer";
import type { WatchedStatus } from "./use-status";

/** The state of a part of the service. */
export type PartState = "up" | "down" | "unchecked";

const FEEDS = { live: "the live feed", sandbox: "the sandbox feed" } as const;
const NAMES = new Intl.ListFormat("en-GB");

function checkedState(well: boolean | undefined): PartState {
  return well === undefined ? "unchecked" : well ? "up" : "down";
}

/** The state of REST: from this page's own request, else from the latest self-check. */
export function restState({ status, tookMs, trouble }: WatchedStatus): PartState {
  if (trouble !== undefined) return "down";
  // The page itself is a response, so before the first self-check REST counts as up.
  return tookMs !== null || status.checked === null ? "up" : checkedState(status.checked.rest);
}

/** The state of the streams: from this page's own stream, else from the latest self-check. */
export function streamState({ checked }: ServiceStatus, feed: Feed): PartState {
  return feed.by === "stream" ? "up" : checkedState(checked?.stream);
}

/** True for test tickers, which each show one state, including bad ones, on purpose. */
export function isTest({ asset_class }: Pick<CalendarGroup, "asset_class">): boolean {
  return asset_class === "test";
}

/** True when open markets lack fresh prices; never for a venue without a provider. */
function isBehind({ provider, groups }: VenueStatus): boolean {
  const states = groups.filter((group) => !isTest(group)).flatMap(({ instruments }) => instruments);
  return provider !== null && states.some(({ state }) => DISPLAY_CLASS[state] === "warning");
}

/** The overall state in a few words: all operational, or what is not. */
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
