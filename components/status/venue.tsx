"use client";

import type { ReactNode } from "react";
import { LABELS, StatusBadge } from "#components/board/status-badge";
import { type CalendarGroup, type InstrumentState, STATE_CLASS, type VenueStatus } from "#lib/contract/service-status";
import { countdownText } from "#lib/duration";
import { isTest } from "#lib/service-state";
import { MINUTE_MS } from "#lib/units";
import { Weeks } from "../admin/weeks";
import { countText } from "../portal/numbers";
import { instantText, useNow, useTimeZone } from "../portal/time";
import { Badge } from "../ui/badge";
import { TickerList } from "../ui/ticker-list";
import { useServiceNow, type WatchedStatus } from "./use-status";

const STATES = { ...LABELS, not_bound: "Not bound" } as const;
const CLASSES: Record<string, string> = { forex: "Forex", metals: "Metals", test: "Test tickers" };

const wordsOf = (text: string) => text.replaceAll("_", " ");

/** A countdown to the next open or close; the instant on hover. */
function Turn({ group, watched }: { group: CalendarGroup; watched: WatchedStatus }) {
  const nowMs = useServiceNow(watched);
  const zone = useTimeZone();
  const { calendar_state, next_open_ms, next_close_ms } = group;
  const isOpen = calendar_state === "open";
  const atMs = isOpen ? next_close_ms : next_open_ms;
  if (calendar_state === "unknown") return "no calendar";
  if (atMs === null) return isOpen ? "never closes" : "never opens";
  const at = new Date(atMs).toISOString();
  return (
    <>
      {isOpen ? "closes in " : "opens in "}
      <time dateTime={at} title={instantText(at, zone)} className="font-mono text-ink tabular-nums">
        {countdownText(atMs - nowMs)}
      </time>
    </>
  );
}

function Hours({ group: { sessions, sessions_count } }: { group: CalendarGroup }) {
  const now = useNow();
  if (sessions === null) return <p className="text-ink-faint text-sm">The calendar does not cover the coming week.</p>;
  if (sessions_count !== sessions.length)
    return (
      <p className="text-ink-faint text-sm">Opens {countText(sessions_count ?? 0)} times in nine days, too often to draw.</p>
    );
  return (
    <div className="h-[3.25rem]">
      {now === null ? null : <Weeks sessions={sessions} nowMs={Math.floor(now / MINUTE_MS) * MINUTE_MS} count={1} />}
    </div>
  );
}

/** How many instruments are in each state, the most first. */
function countsOf(instruments: readonly InstrumentState[]): [InstrumentState["state"], number][] {
  const counts = new Map<InstrumentState["state"], number>();
  for (const { state } of instruments) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a);
}

/** What a group has folded: how many instruments, and in which states where they have a feed. */
function restText(instruments: readonly InstrumentState[], bound: boolean): string {
  if (!bound) return `${countText(instruments.length)} ${instruments.length === 1 ? "instrument" : "instruments"}`;
  return countsOf(instruments)
    .map(([state, count]) => `${countText(count)} ${STATES[state].toLowerCase()}`)
    .join(", ");
}

function InstrumentCell({ instrument: { ticker, state, reason } }: { instrument: InstrumentState }) {
  return (
    <li
      title={`${ticker}: ${wordsOf(reason ?? state)}`}
      className="flex h-9 min-w-0 items-center justify-between gap-2 px-3 text-sm ring-1 ring-line"
    >
      <span className="font-mono">{ticker}</span>
      {state === "not_bound" ? null : <StatusBadge state={state} reason={reason} />}
    </li>
  );
}

function Frame({ title, aside, children }: { title: ReactNode; aside: ReactNode; children: ReactNode }) {
  return (
    <div className="overflow-hidden rounded-xl border border-line bg-surface">
      <div className="flex min-h-12 flex-wrap items-center justify-between gap-x-6 gap-y-1 px-4 py-2 text-sm sm:px-5">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">{title}</div>
        {/* A line of its own on phones: whether a countdown fits beside the title depends on its font and digits. */}
        <p className="text-ink-faint max-sm:w-full">{aside}</p>
      </div>
      {children}
    </div>
  );
}

function Cells({ instruments }: { instruments: readonly InstrumentState[] }) {
  return (
    <ul className="grid grid-cols-2 gap-px overflow-hidden border-line border-t sm:grid-cols-3 lg:grid-cols-6">
      {instruments.map((instrument) => (
        <InstrumentCell key={instrument.ticker} instrument={instrument} />
      ))}
    </ul>
  );
}

interface GroupProps {
  /** False where the venue has no provider, and so no states to show. */
  readonly bound: boolean;
  readonly group: CalendarGroup;
  readonly watched: WatchedStatus;
}

/** A calendar's hours with the instruments that follow it: the few with a problem are in sight, the others open. */
function Group({ group, watched, bound }: GroupProps) {
  const counts = countsOf(group.instruments);
  const late = bound ? group.instruments.filter(({ state }) => STATE_CLASS[state] === "warning") : [];
  // When most are late, the counts say more than a cell for each.
  const troubled = late.length * 2 > group.instruments.length ? [] : late;
  const rest = group.instruments.filter((instrument) => !troubled.includes(instrument));
  return (
    <Frame
      title={
        <>
          <h3 className="font-medium">{CLASSES[group.asset_class] ?? group.asset_class}</h3>
          {bound ? (
            counts.map(([state, count]) => (
              <Badge key={state} tone={STATE_CLASS[state]}>
                {STATES[state]} {count}
              </Badge>
            ))
          ) : (
            <Badge tone="neutral">Not bound</Badge>
          )}
        </>
      }
      aside={<Turn group={group} watched={watched} />}
    >
      <div className="px-4 pb-4 sm:px-5">
        <Hours group={group} />
      </div>
      {troubled.length === 0 ? null : <Cells instruments={troubled} />}
      {rest.length === 0 ? null : (
        <details className="border-line border-t">
          <summary className="cursor-pointer px-4 py-3 text-ink-soft text-sm hover:text-ink sm:px-5">
            {restText(rest, bound)}
          </summary>
          <Cells instruments={rest} />
        </details>
      )}
    </Frame>
  );
}

/** Test tickers: one per state, each with its reason; folded, because their states are no news. */
function TestTickers({ groups, watched }: { groups: readonly CalendarGroup[]; watched: WatchedStatus }) {
  const lines = groups.flatMap((group) => group.instruments.map((instrument) => ({ group, instrument })));
  return (
    <details className="overflow-hidden rounded-xl border border-line bg-surface">
      <summary className="cursor-pointer px-4 py-3 text-sm sm:px-5">
        <h3 className="inline font-medium">Test tickers</h3>{" "}
        <span className="text-ink-faint">{countText(lines.length)}, one per state that a client has to handle</span>
      </summary>
      <ul className="divide-y divide-line border-line border-t text-sm">
        {lines
          .sort((a, b) => (a.instrument.ticker < b.instrument.ticker ? -1 : 1))
          .map(({ group, instrument: { ticker, state, reason } }) => (
            <li
              key={ticker}
              className="grid grid-cols-[8.5rem_1fr] items-center gap-x-4 px-4 py-2 sm:grid-cols-[9rem_7rem_1fr_1fr] sm:px-5"
            >
              <span className="font-mono">{ticker}</span>
              <span className="max-sm:justify-self-end">
                {state === "not_bound" ? null : <StatusBadge state={state} reason={reason} />}
              </span>
              <span className="text-ink-soft max-sm:hidden">{reason === null ? "" : wordsOf(reason)}</span>
              <span className="text-right text-ink-faint max-sm:col-span-2 max-sm:text-left max-sm:text-xs">
                <Turn group={group} watched={watched} />
              </span>
            </li>
          ))}
      </ul>
    </details>
  );
}

/** Everything one venue lists, by the calendar it follows. */
export function Venue({ venue: { groups, provider }, watched }: { venue: VenueStatus; watched: WatchedStatus }) {
  const tests = groups.filter(isTest);
  const isOffered = ({ state }: InstrumentState) => state !== "not_offered";
  const unoffered = groups.flatMap(({ instruments }) => instruments.filter((instrument) => !isOffered(instrument)));
  return (
    <div className="space-y-4">
      {groups
        .map((group) => ({ ...group, instruments: group.instruments.filter(isOffered) }))
        .filter((group) => !isTest(group) && group.instruments.length > 0)
        .map((group) => (
          <Group key={`${group.asset_class} ${group.calendar}`} group={group} watched={watched} bound={provider !== null} />
        ))}
      {unoffered.length === 0 ? null : (
        <Frame
          title={
            <>
              <h3 className="font-medium">Not offered by {provider}</h3>
              <Badge tone={STATE_CLASS.not_offered}>{countText(unoffered.length)}</Badge>
            </>
          }
          aside="no outage: no prices are expected"
        >
          <div className="border-line border-t px-4 py-3 sm:px-5">
            <TickerList tickers={unoffered.map(({ ticker }) => ticker)} />
          </div>
        </Frame>
      )}
      {tests.length === 0 ? null : <TestTickers groups={tests} watched={watched} />}
    </div>
  );
}
