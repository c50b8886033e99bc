"use client";

import { memo } from "react";
import type { PreviewSession } from "#lib/contract/portal-admin";
import { timeText } from "../portal/date-format";
import { useOtherZone, useTimeZone } from "../portal/time";
import { type Week, weeksOf } from "./fortnight";

/** The drawing has one unit per minute, so that the shortest break is still visible. */
const WIDTH = 7 * 24 * 60;
const HEIGHT = 40;

/** A session in a zone, with its name. */
function spanText({ opens_at, closes_at }: PreviewSession, timeZone: string): string {
  const text = (at: string) => timeText(at, "weekdayTime", timeZone);
  if (opens_at === null && closes_at === null) return "Always open";
  if (opens_at === null) return `Open until ${text(closes_at as string)} ${timeZone}`;
  return closes_at === null ? `Open from ${text(opens_at)} ${timeZone} on` : `${text(opens_at)} – ${text(closes_at)} ${timeZone}`;
}

/** @param at position in the week, 0 to 1 */
function VerticalLine({ at, className }: { at: number; className: string }) {
  return <line x1={at * WIDTH} x2={at * WIDTH} y1="0" y2={HEIGHT} className={className} vectorEffect="non-scaling-stroke" />;
}

function WeekRow({ week: { days, lines, bars, now } }: { week: Week }) {
  const timeZone = useTimeZone();
  const other = useOtherZone();
  const zones = other === undefined ? [timeZone] : [timeZone, other];
  return (
    <div>
      <div aria-hidden="true" className="grid grid-cols-7 text-ink-faint text-xs leading-5 max-sm:text-[11px]">
        {days.slice(0, -1).map((day) => (
          <span key={day} className="truncate pr-0.5">
            {timeText(day, "weekday", timeZone)}
            {/* On the narrowest phones the weekdays alone have room. */}
            <span className="tabular-nums max-[24rem]:hidden"> {timeText(day, "dayOfMonth", timeZone)}</span>
          </span>
        ))}
      </div>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        className="h-8 w-full rounded bg-sunken"
      >
        {bars.map(({ start, width, session }) => (
          <rect key={session.opens_at} x={start * WIDTH} width={width * WIDTH} y="0" height={HEIGHT} className="fill-positive/55">
            <title>{[...new Set(zones.map((zone) => spanText(session, zone)))].join("\n")}</title>
          </rect>
        ))}
        {lines.map((at) => (
          <VerticalLine key={at} at={at} className="stroke-canvas" />
        ))}
        {now === null ? null : <VerticalLine at={now} className="stroke-accent stroke-2" />}
      </svg>
    </div>
  );
}

interface WeeksProps {
  readonly sessions: readonly PreviewSession[];
  /** Unix milliseconds, rounded to a whole minute, so that the drawing updates once a minute instead of every second. */
  readonly nowMs: number;
  /** Two weeks by default. */
  readonly count?: number;
  /** When the first week begins: today by default. */
  readonly fromMs?: number | undefined;
}

/** When a market is open, one row per week, in the zone that the page shows, with the other one on hover. */
export const Weeks = memo(function Weeks({ sessions, nowMs, count, fromMs }: WeeksProps) {
  const timeZone = useTimeZone();
  return weeksOf(sessions, nowMs, timeZone, count, fromMs).map((week) => <WeekRow key={week.days[0]} week={week} />);
});
