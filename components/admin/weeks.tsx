import { memo } from "react";
import type { PreviewSession } from "#lib/contract/portal-admin";
import { dateFormat } from "../portal/date-format";
import { type Week, weeksOf } from "./fortnight";

/** The drawing has one unit per minute, so that the shortest break is still visible. */
const WIDTH = 7 * 24 * 60;
const HEIGHT = 40;

const local = (at: string) =>
  dateFormat({ weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(new Date(at));
const utc = (at: string) => at.replace(/:\d\d\.\d+Z$/, "Z");

/** The tooltip of a bar: the viewer's time, then UTC. */
function spanText({ opens_at, closes_at }: PreviewSession): string {
  return `${local(opens_at)} – ${local(closes_at)}\n${utc(opens_at)} – ${utc(closes_at)}`;
}

/** @param at position in the week, 0 to 1 */
function VerticalLine({ at, className }: { at: number; className: string }) {
  return <line x1={at * WIDTH} x2={at * WIDTH} y1="0" y2={HEIGHT} className={className} vectorEffect="non-scaling-stroke" />;
}

function WeekRow({ week: { days, lines, bars, now } }: { week: Week }) {
  return (
    <div>
      <div aria-hidden="true" className="grid grid-cols-7 text-ink-faint text-xs leading-5 max-sm:text-[11px]">
        {days.slice(0, -1).map((day) => (
          <span key={day} className="truncate pr-0.5">
            {dateFormat({ weekday: "short" }).format(day)} <span className="tabular-nums">{new Date(day).getDate()}</span>
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
            <title>{spanText(session)}</title>
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
}

/** When a market is open, one row per week, in the viewer's time zone. */
export const Weeks = memo(function Weeks({ sessions, nowMs, count }: WeeksProps) {
  return weeksOf(sessions, nowMs, count).map((week) => <WeekRow key={week.days[0]} week={week} />);
});
