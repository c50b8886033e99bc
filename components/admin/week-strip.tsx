"use client";

import { type CalendarPreview, PREVIEW_SESSIONS_MAX_COUNT, type PreviewSession } from "#lib/contract/portal-admin";
import { MINUTE_MS } from "#lib/units";
import { countText } from "../portal/numbers";
import { Instant, useNow } from "../portal/time";
import { Skeleton } from "../ui/skeleton";
import { Weeks } from "./weeks";

/** The sessions as text. */
const LISTED_MAX_COUNT = 60;

function SessionTimes({ opens_at, closes_at }: PreviewSession) {
  if (opens_at === null && closes_at === null) return "Always open";
  return (
    <>
      {opens_at === null ? "Open" : <Instant at={opens_at} />} {closes_at === null ? "on, without an end" : "– "}
      {closes_at === null ? null : <Instant at={closes_at} />}
    </>
  );
}

function SessionList({ sessions, cut = false }: { sessions: readonly PreviewSession[]; cut?: boolean }) {
  return (
    <details className="text-sm">
      <summary className="cursor-pointer text-ink-soft hover:text-ink">Show as text</summary>
      <ul className="mt-2 space-y-1">
        {sessions.slice(0, LISTED_MAX_COUNT).map((session) => (
          <li key={session.opens_at}>
            <SessionTimes {...session} />
          </li>
        ))}
      </ul>
      {sessions.length > LISTED_MAX_COUNT ? (
        <p className="mt-1 text-ink-faint">
          and {cut ? "more than " : ""}
          {sessions.length - LISTED_MAX_COUNT} more
        </p>
      ) : null}
    </details>
  );
}

interface WeekStripProps {
  readonly preview: CalendarPreview | undefined;
  /** The first of the two weeks' days, where it is not today. */
  readonly from?: string | undefined;
}

/** When a market is open in two weeks, the next ones by default, in the zone that the page shows; a skeleton while `preview` is undefined. */
export function WeekStrip({ preview, from }: WeekStripProps) {
  const now = useNow();
  if (preview === undefined || now === null) return <Skeleton className="h-36 w-full" />;
  const { sessions, sessions_cut } = preview;
  if (sessions === null) return <p className="text-ink-soft text-sm">The calendar does not cover all of these two weeks.</p>;
  const coming = sessions.filter(({ closes_at }) => closes_at === null || Date.parse(closes_at) > now);
  // Bars of a calendar that opens about every hour would be thinner than a pixel.
  if (sessions_cut)
    return (
      <div className="space-y-2">
        <p className="text-ink-soft text-sm">
          Opens more than {countText(PREVIEW_SESSIONS_MAX_COUNT)} times in the next two weeks, too often to draw.
        </p>
        <SessionList sessions={coming} cut />
      </div>
    );
  return (
    <div className="space-y-2">
      <Weeks
        sessions={sessions}
        nowMs={Math.floor(now / MINUTE_MS) * MINUTE_MS}
        fromMs={from === undefined ? undefined : Date.parse(from)}
      />
      {coming.length === 0 ? <p className="text-ink-soft text-sm">Always closed.</p> : <SessionList sessions={coming} />}
    </div>
  );
}
