import type { HealthReport, NodeHealth } from "./contract/portal-health";
import {
  type CalendarGroup,
  type FeedState,
  type IdleReason,
  type InstrumentState,
  STATE_CLASS,
  type VenueStatus,
} from "./contract/service-status";
import { INCIDENT_PARTS, type IncidentNote, type IncidentPart } from "./contract/uptime";
import { agoText, durationText } from "./duration";
import { SECOND_MS } from "./units";

/** Below this share of free space an operator is warned: long before the check of the disk fails. */
const LOW_DISK_SHARE = 0.1;
const GIB_BYTES = 2 ** 30;
/** Instruments that a problem names. */
const NAMED_MAX_COUNT = 5;

/** How much a problem matters; a warning is for operators, and leaves the service operational. */
const IMPACTS = ["warning", "degraded", "down"] as const;
type Impact = (typeof IMPACTS)[number];

/** Something that is well, or not. */
export interface Check {
  readonly name: string;
  /** That of its worst problem; null when it is well. */
  readonly impact: Impact | null;
  /** What is wrong. */
  readonly problems: readonly string[];
  /** Why it has nothing to judge; null when it was judged. */
  readonly idle: IdleReason | null;
}

/** The state of the service, and all that it follows from. */
export interface ServiceState {
  readonly level: "operational" | Exclude<Impact, "warning">;
  readonly checks: readonly Check[];
}

/** A venue with the states of its instruments. */
interface VenueFacts extends Pick<VenueStatus, "venue" | "provider" | "last_tick_ms"> {
  /** What is wrong with its feed. */
  readonly problem?: string | null;
  readonly groups: readonly Pick<CalendarGroup, "asset_class" | "instruments">[];
}

/** What the state follows from. What the caller does not know is absent. */
export interface ServiceFacts {
  readonly atMs: number;
  /** The parts of one process by name: null for what is well, else what is wrong. */
  readonly parts?: Readonly<Record<string, string | null>>;
  readonly venues?: readonly VenueFacts[];
  /** What all nodes said of themselves last. */
  readonly nodes?: readonly Pick<NodeHealth, "name" | "age_ms" | "silent" | "checks" | "warnings" | "idle" | "disk">[];
  /** Whether REST and streams respond; null before the first look. */
  readonly probe?: { readonly rest: boolean; readonly stream: boolean } | null;
  readonly notes?: readonly IncidentNote[];
  readonly backups?: HealthReport["backups"];
}

/** True for test tickers, which each show one state, including bad ones, on purpose. */
export function isTest({ asset_class }: Pick<CalendarGroup, "asset_class">): boolean {
  return asset_class === "test";
}

/** The instruments of a venue without those for tests. */
const ordinary = ({ groups }: VenueFacts) => groups.filter((group) => !isTest(group)).flatMap((group) => group.instruments);

/** The instruments of which a venue has to have fresh prices now: without a provider none, else those it offers whose market is open. */
function expectedOf(facts: VenueFacts): InstrumentState[] {
  if (facts.provider === null) return [];
  return ordinary(facts).filter(({ state }) => STATE_CLASS[state] !== "neutral");
}

/** The state of a feed, and what it follows from. */
interface FeedJudgement {
  readonly state: FeedState;
  readonly expected: readonly InstrumentState[];
  /** Those of them without a fresh price. */
  readonly late: readonly InstrumentState[];
}

/** Judges the feed of a venue: it is down when it is away while a market is open, or when more than half of its prices are late. */
export function feedState(facts: VenueFacts): FeedJudgement {
  const expected = expectedOf(facts);
  const late = expected.filter(({ state }) => STATE_CLASS[state] === "warning");
  const judged = (state: FeedState): FeedJudgement => ({ state, expected, late });
  if (facts.provider === null) return judged("not_bound");
  if (expected.length === 0) return judged(ordinary(facts).some(({ state }) => state === "closed") ? "closed" : "no_data");
  if ((facts.problem ?? null) !== null) return judged("down");
  // A connection that never brought a tick says nothing of a feed.
  if (facts.last_tick_ms === null) return judged("no_data");
  if (late.length * 2 > expected.length) return judged("down");
  return judged(late.length === 0 ? "operational" : "degraded");
}

/** True while a note applies. */
export function isCurrent({ starts_at, ends_at }: Pick<IncidentNote, "starts_at" | "ends_at">, nowMs: number): boolean {
  return Date.parse(starts_at) <= nowMs && (ends_at === null || Date.parse(ends_at) > nowMs);
}

/** The checks that judge a part of which incidents are noted. */
const PART_CHECKS: Readonly<Record<IncidentPart, readonly string[]>> = {
  service: [],
  rest: ["rest"],
  stream: ["streams"],
  live: ["feed_live", "prices_live"],
  sandbox: ["feed_sandbox", "prices_sandbox"],
};

/** The checks that an incident is about; none for what an operator added. */
export const checksOfPart = ({ part }: Pick<IncidentNote, "part">) => (part === null ? [] : PART_CHECKS[part]);

/** The part that a check judges; null for one of no part. */
export const partOf = (check: string) => INCIDENT_PARTS.find((part) => PART_CHECKS[part].includes(check)) ?? null;

/** True while an incident goes on. One that the service noticed itself is over as soon as its part is well, before its end is recorded. */
export function isOngoing(note: IncidentNote, { checks }: ServiceState, nowMs: number): boolean {
  if (!isCurrent(note, nowMs)) return false;
  const about = checksOfPart(note);
  return !note.automatic || checks.some(({ name, impact }) => impact !== null && impact !== "warning" && about.includes(name));
}

interface Problem {
  readonly name: string;
  /** Null: it is well. */
  readonly text: string | null;
  readonly impact?: Impact;
  /** With a null text: why there is nothing to judge. */
  readonly idle?: IdleReason | undefined;
}

/** Why the checks of a venue have nothing to judge. */
function venueIdle(facts: VenueFacts, state: FeedState): { feed?: IdleReason; prices?: IdleReason } {
  if (state === "not_bound") return { feed: state, prices: state };
  const none = facts.last_tick_ms === null ? ({ feed: "no_data", prices: "no_data" } as const) : {};
  return state === "closed" || state === "no_data" ? { ...none, prices: state } : none;
}

const shareText = (count: number, of: number) =>
  count === of && of > 1 ? `All ${of} open instruments` : `${count} of ${of} open instruments`;

function venueProblems(facts: VenueFacts): Problem[] {
  const { venue, problem = null } = facts;
  const judged = feedState(facts);
  const { state, expected, late } = judged;
  const idle = venueIdle(facts, state);
  const some = late
    .slice(0, NAMED_MAX_COUNT)
    .map(({ ticker }) => ticker)
    .join(", ");
  const more = late.length > NAMED_MAX_COUNT ? ` and ${late.length - NAMED_MAX_COUNT} more` : "";
  return [
    // Nobody misses a feed while all markets are closed.
    { name: `feed_${venue}`, text: problem, impact: expected.length === 0 ? "warning" : "degraded", idle: idle.feed },
    {
      name: `prices_${venue}`,
      text:
        late.length === 0 || state === "no_data"
          ? null
          : `${shareText(late.length, expected.length)} have no fresh price: ${some}${more}`,
      idle: idle.prices,
    },
  ];
}

function nodeProblems(nodes: NonNullable<ServiceFacts["nodes"]>): Problem[] {
  const reporting = nodes.filter(({ silent }) => !silent);
  const problems = reporting.flatMap(({ name: node, checks, warnings = {}, idle = {}, disk }): Problem[] => {
    const said = (text: string) => (nodes.length > 1 ? `${node}: ${text}` : text);
    const isLow = disk !== null && disk.free_bytes < disk.bytes * LOW_DISK_SHARE;
    return [
      ...Object.entries(checks).map(([name, wrong]): Problem => {
        // A node that drains ends on purpose, and others serve.
        const impact = name === "process" ? "warning" : "degraded";
        return { name, text: wrong === null ? null : said(wrong), impact, idle: idle[name] };
      }),
      ...Object.entries(warnings).map(([name, text]): Problem => ({ name, text, impact: "warning", idle: idle[name] })),
      isLow && !checks.disk
        ? { name: "disk", text: said(`only ${(disk.free_bytes / GIB_BYTES).toFixed(1)} GiB free`), impact: "warning" }
        : { name: "disk", text: null },
    ];
  });
  const silent = nodes.filter((node) => node.silent);
  return [
    ...problems,
    { name: "nodes", text: reporting.length === 0 ? "No node reports." : null, impact: "warning" },
    ...silent.map(({ name, age_ms }): Problem => {
      return { name: "nodes", text: `${name} has not reported for ${durationText(age_ms, 1)}.` };
    }),
  ];
}

function backupProblems({ last, failed, max_age_s }: HealthReport["backups"], atMs: number): Problem[] {
  const ageOf = (iso: string) => atMs - Date.parse(iso);
  // Who backs up by other means is not warned, but no backup is known here.
  const idle = max_age_s === 0 && last === null ? "not_configured" : undefined;
  const warn = (text: string | null): Problem => ({ name: "backup", text, impact: "warning", idle });
  const old = last !== null && ageOf(last.ended_at) > max_age_s * SECOND_MS;
  return [
    warn(failed === null ? null : `Backup failed ${agoText(ageOf(failed.ended_at))} ago: ${failed.problem}`),
    warn(
      max_age_s === 0 || (last !== null && !old)
        ? null
        : old
          ? `Last backup ${agoText(ageOf(last.ended_at))} ago.`
          : "No backup yet.",
    ),
  ];
}

function problemsOf({ atMs, parts = {}, venues = [], nodes, probe, notes = [], backups }: ServiceFacts): Problem[] {
  return [
    ...Object.entries(parts).map(([name, text]) => ({ name, text })),
    ...(probe ? [{ name: "rest", text: probe.rest ? null : "REST does not respond.", impact: "down" as const }] : []),
    ...(probe ? [{ name: "streams", text: probe.stream ? null : "Streams do not respond." }] : []),
    ...venues.flatMap(venueProblems),
    ...(nodes ? nodeProblems(nodes) : []),
    // What the service noticed itself is judged by what it measures now.
    ...notes.flatMap(({ impact, title, automatic, ...note }) =>
      impact !== "none" && !automatic && isCurrent(note, atMs) ? [{ name: "incident", text: title, impact }] : [],
    ),
    ...(backups ? backupProblems(backups, atMs) : []),
  ];
}

/** The worse of two impacts. */
const worse = (one: Impact | null, other: Impact | null) =>
  IMPACTS.indexOf(one as Impact) > IMPACTS.indexOf(other as Impact) ? one : other;

/**
 * The state of the service, and what it follows from: what readiness, metrics, the status page and the pages of operators show. Prices
 * degrade it only where a provider offers them and their market is open.
 */
export function serviceState(facts: ServiceFacts): ServiceState {
  const checks = new Map<string, Check>();
  for (const { name, text, impact = "degraded", idle = null } of problemsOf(facts)) {
    const known = checks.get(name) ?? { name, impact: null, problems: [], idle };
    // One node that has something to judge is enough.
    if (text === null) checks.set(name, { ...known, idle: idle === null ? null : known.idle });
    else
      checks.set(name, {
        name,
        impact: worse(known.impact, impact),
        problems: [...new Set([...known.problems, text])],
        idle: null,
      });
  }
  const worst = [...checks.values()].reduce((impact: Impact | null, check) => worse(impact, check.impact), null);
  return { level: worst === null || worst === "warning" ? "operational" : worst, checks: [...checks.values()] };
}
