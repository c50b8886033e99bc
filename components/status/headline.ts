import type { ServiceStatus } from "#lib/contract/service-status";
import type { IncidentNote } from "#lib/contract/uptime";
import { checksOfPart, isCurrent, isOngoing, type ServiceState, serviceState } from "#lib/service-state";
import type { Feed } from "../board/feed";
import { NO_ANSWER, type NoAnswer } from "../portal/no-answer";
import type { Tone } from "../ui/badge";

/** The state of a part of the service; `unknown` before the first check, and while this page gets no answer. */
export type PartState = "up" | "down" | "unknown";

/** The state of the whole service; `unknown` while this page gets no answer. */
type Level = ServiceState["level"] | "unknown";

/** What the page says first. */
export interface Headline {
  readonly level: Level;
  /** One word, or why the state is not known. */
  readonly title: string;
  /** What has a problem; undefined when nothing has. */
  readonly detail: string | undefined;
  /** The incidents that go on, as the level has it. */
  readonly ongoing: readonly IncidentNote[];
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

const TITLES: Readonly<Record<ServiceState["level"], string>> = {
  operational: "Operational",
  degraded: "Degraded",
  down: "Down",
};
/** The checks in words; an operator's note speaks for itself. */
const PARTS: Readonly<Record<string, string>> = {
  store: "the database",
  disk: "the disk",
  redis: "Redis",
  rest: "REST",
  streams: "streams",
  feed_live: "the live feed",
  prices_live: "the live feed",
  feed_sandbox: "the sandbox feed",
  prices_sandbox: "the sandbox feed",
  workers: "a node",
  nodes: "a node",
};
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

/** What the service and this page know of its state. */
function stateOf(known: Known, feed: Feed, notes: readonly IncidentNote[]): ServiceState {
  const { at_ms: atMs, venues, failing, history } = known.status;
  const parts = { ...(history === null && { store: "" }), ...Object.fromEntries(failing.map((name) => [name, ""])) };
  const probe = { rest: restState(known) !== "down", stream: streamState(known, feed) !== "down" };
  return serviceState({ atMs, parts, probe, venues, notes });
}

/**
 * The overall state in a word, the incidents that go on, and what else has a problem; without an answer, why the page has none, and
 * what went on last.
 */
export function headlineOf(known: Known, feed: Feed, notes: readonly IncidentNote[]): Headline {
  const { trouble } = known;
  if (trouble !== undefined)
    return {
      level: trouble === "failed" ? "down" : "unknown",
      title: NO_ANSWER[trouble].says.replace(/\.$/, ""),
      detail: undefined,
      ongoing: notes.filter((note) => isCurrent(note, known.status.at_ms)),
    };
  const state = stateOf(known, feed, notes);
  const ongoing = notes.filter((note) => isOngoing(note, state, known.status.at_ms));
  const told = ongoing.flatMap(checksOfPart);
  const failing = state.checks.filter(({ name, impact }) => impact !== null && impact !== "warning" && PARTS[name] !== undefined);
  const others = failing.filter(({ name }) => !told.includes(name));
  const troubled = [...new Set(others.flatMap(({ name }) => PARTS[name] ?? []))];
  const detail =
    troubled.length > 0 ? `Problems with ${NAMES.format(troubled)}.` : failing.length > 0 ? "Everything else works." : undefined;
  return { level: state.level, title: TITLES[state.level], detail, ongoing };
}
