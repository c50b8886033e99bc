import { DISPLAY_CLASS } from "#lib/contract/display-class";
import type { CalendarGroup, ServiceStatus, VenueStatus } from "#lib/contract/service-status";
import type { IncidentNote } from "#lib/contract/uptime";
import type { Feed } from "../board/feed";
import { NO_ANSWER, type NoAnswer } from "../portal/no-answer";
import type { Tone } from "../ui/badge";

/** The state of a part of the service; `unknown` before the first check, and while this page gets no answer. */
export type PartState = "up" | "down" | "unknown";

/** The state of the whole service. */
type Level = "operational" | "degraded" | "down" | "unknown";

interface Headline {
  readonly level: Level;
  /** One word, or why the state is not known. */
  readonly title: string;
  /** What has a problem; undefined when nothing has. */
  readonly detail: string | undefined;
}

/** The colour of a level. */
export const LEVEL_TONES: Readonly<Record<Level, Tone>> = {
  operational: "positive",
  degraded: "warning",
  down: "danger",
  unknown: "neutral",
};

/** What the page knows, and how. */
export interface Known {
  readonly status: ServiceStatus;
  /** Round-trip time of the last request; null before the first. */
  readonly tookMs: number | null;
  /** Why the last request got no usable answer. */
  readonly trouble: NoAnswer | undefined;
}

const FEEDS = { live: "the live feed", sandbox: "the sandbox feed" } as const;
const NAMES = new Intl.ListFormat("en-GB");

function checkedState(well: boolean | undefined): PartState {
  return well === undefined ? "unknown" : well ? "up" : "down";
}

/** The state of REST: from this page's own request, else from the latest self-check. */
export function restState({ status, tookMs, trouble }: Known): PartState {
  if (trouble !== undefined) return trouble === "failed" ? "down" : "unknown";
  // The page itself is a response, so before the first self-check REST counts as up.
  return tookMs !== null || status.checked === null ? "up" : checkedState(status.checked.rest);
}

/** The state of the streams: from this page's own stream, else from the latest self-check. */
export function streamState({ status, trouble }: Known, feed: Feed): PartState {
  if (trouble !== undefined) return "unknown";
  return feed.by === "stream" ? "up" : checkedState(status.checked?.stream);
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

/** True while a note applies. */
export function isCurrent({ starts_at, ends_at }: IncidentNote, nowMs: number): boolean {
  return Date.parse(starts_at) <= nowMs && (ends_at === null || Date.parse(ends_at) > nowMs);
}

/** The overall state in a word, and what has a problem: what is measured, or worse if an operator says so. */
export function headlineOf(known: Known, feed: Feed, notes: readonly IncidentNote[]): Headline {
  const { status, trouble } = known;
  if (trouble !== undefined)
    return {
      level: trouble === "failed" ? "down" : "unknown",
      title: NO_ANSWER[trouble].says.replace(/\.$/, ""),
      detail: undefined,
    };
  const rest = restState(known);
  const troubled = [
    ...(status.history === null ? ["the database"] : []),
    ...(rest === "down" ? ["REST"] : []),
    ...(streamState(known, feed) === "down" ? ["streams"] : []),
    ...status.venues.filter(isBehind).map(({ venue }) => FEEDS[venue]),
  ];
  const said = notes.filter((note) => isCurrent(note, status.at_ms)).map(({ impact }) => impact);
  const detail = troubled.length === 0 ? undefined : `Problems with ${NAMES.format(troubled)}.`;
  if (rest === "down" || said.includes("down")) return { level: "down", title: "Down", detail };
  if (troubled.length > 0 || said.includes("degraded")) return { level: "degraded", title: "Degraded", detail };
  return { level: "operational", title: "Operational", detail };
}
