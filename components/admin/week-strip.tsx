"use client";

import { memo } from "react";
import { countText } from "../portal/numbers";
import { Instant, useNow } from "../portal/time";
import { Skeleton } from "../ui/skeleton";
import { type Week, weeksOf } from "./fortnight";
import type { Preview, Session } from "./shapes";

/** Units of the drawing: a minute each, so that the shortest break is still a line. */
const WIDTH = 7 * 24 * 60;
const HEIGHT = 40;
const MINUTE_MS = 60_000;
/** A calendar with more sessions in a fortnight opens every hour or so: its bars would be thinner than a pixel. */
const DRAWN_MAX_COUNT = 300;
/** Sessions listed as text. */
const LISTED_MAX_COUNT = 60;

const iso = (ms: number) => new Date(ms).toISOString();
const local = (ms: number) =>
  new Intl.DateTimeFormat("en-GB", { weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(ms);
const utc = (ms: number) => iso(ms).replace(/:\d\d\.\d+Z$/, "Z");

/** What stands on a bar when it is pointed at: the viewer's time, then UTC. */
function spanText({ openMs, closeMs }: Session): string {
  return `${local(openMs)} – ${local(closeMs)}\n${utc(openMs)} – ${utc(closeMs)}`;
}

function WeekRow({ week: { days, bars, now } }: { week: Week }) {
  return (
    <div>
      <div aria-hidden="true" className="grid grid-cols-7 text-ink-faint text-xs leading-5">
        {days.slice(0, -1).map((day) => (
          <span key={day} className="truncate">
            {new Intl.DateTimeFormat("en-GB", { weekday: "short" }).format(day)}{" "}
            <span className="tabular-nums">{new Date(day).getDate()}</span>
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
          <rect key={session.openMs} x={start * WIDTH} width={width * WIDTH} y="0" height={HEIGHT} className="fill-positive/55">
            <title>{spanText(session)}</title>
          </rect>
        ))}
        {days.slice(1, -1).map((day, index) => (
          <line
            key={day}
            x1={((index + 1) * WIDTH) / 7}
            x2={((index + 1) * WIDTH) / 7}
            y1="0"
            y2={HEIGHT}
            className="stroke-canvas"
            vectorEffect="non-scaling-stroke"
          />
        ))}
        {now === null ? null : (
          <line
            x1={now * WIDTH}
            x2={now * WIDTH}
            y1="0"
            y2={HEIGHT}
            strokeWidth="2"
            className="stroke-accent"
            vectorEffect="non-scaling-stroke"
          />
        )}
      </svg>
    </div>
  );
}

function SessionList({ sessions }: { sessions: readonly Session[] }) {
  return (
    <details className="text-sm">
      <summary className="cursor-pointer text-ink-soft hover:text-ink">Hours as text</summary>
      <ul className="mt-2 space-y-1">
        {sessions.slice(0, LISTED_MAX_COUNT).map(({ openMs, closeMs }) => (
          <li key={openMs}>
            <Instant at={iso(openMs)} /> – <Instant at={iso(closeMs)} />
          </li>
        ))}
      </ul>
      {sessions.length > LISTED_MAX_COUNT ? (
        <p className="mt-1 text-ink-faint">and {sessions.length - LISTED_MAX_COUNT} more</p>
      ) : null}
    </details>
  );
}

interface WeeksProps {
  readonly sessions: readonly Session[];
  /** Unix milliseconds, of a whole minute: they are made anew each minute, not with each tick of the clock. */
  readonly nowMs: number;
  /** Two weeks unless said otherwise. */
  readonly count?: number;
}

/** When a market is open, a row a week, in the viewer's time. */
export const Weeks = memo(function Weeks({ sessions, nowMs, count }: WeeksProps) {
  return weeksOf(sessions, nowMs, count).map((week) => <WeekRow key={week.days[0]} week={week} />);
});

/** When a market is open in the coming fortnight, in the viewer's time; undefined while that is on its way. */
export function WeekStrip({ preview }: { preview: Preview | undefined }) {
  const now = useNow();
  if (preview === undefined || now === null) return <Skeleton className="h-36 w-full" />;
  const { sessions } = preview;
  if (sessions === null)
    return <p className="text-ink-soft text-sm">Part of the fortnight is past the last day that this calendar covers.</p>;
  if (sessions.length > DRAWN_MAX_COUNT)
    return (
      <p className="text-ink-soft text-sm">
        Opens {countText(sessions.length)} times in the coming fortnight, too often to draw.
      </p>
    );
  return (
    <div className="space-y-2">
      <Weeks sessions={sessions} nowMs={Math.floor(now / MINUTE_MS) * MINUTE_MS} />
      {sessions.length === 0 ? (
        <p className="text-ink-soft text-sm">Closed all the time.</p>
      ) : (
        <SessionList sessions={sessions} />
      )}
    </div>
  );
}
