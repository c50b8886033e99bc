"use client";

import {
  INCIDENT_JOIN_MINUTES,
  INCIDENT_MIN_MINUTES,
  type IncidentImpact,
  type IncidentNote,
  STATUS_FEED_PATH,
  UPTIME_DAYS,
  WEBHOOKS_PATH,
} from "#lib/contract/uptime";
import { durationText } from "#lib/duration";
import { MINUTE_MS } from "#lib/units";
import { Instant } from "../portal/time";
import { Badge, type Tone } from "../ui/badge";

/** Entries that are shown before the reader asks for more. */
const SHOWN_COUNT = 8;

const IMPACTS: Readonly<Record<IncidentImpact, { readonly tone: Tone; readonly word: string }>> = {
  none: { tone: "neutral", word: "Notice" },
  degraded: { tone: "warning", word: "Degraded" },
  down: { tone: "danger", word: "Down" },
};

/** How long a note took, or takes already. */
function lengthText({ starts_at, ends_at }: IncidentNote, ongoing: boolean, nowMs: number): string {
  const fromMs = Date.parse(starts_at);
  if (ends_at !== null) return `, ${durationText(Date.parse(ends_at) - fromMs)}`;
  if (!ongoing) return fromMs > nowMs ? "" : ", no longer failing";
  const lasted = Math.floor((nowMs - fromMs) / MINUTE_MS) * MINUTE_MS;
  return lasted > 0 ? `, ongoing for ${durationText(lasted)}` : ", ongoing";
}

interface NoteProps {
  readonly note: IncidentNote;
  readonly ongoing: boolean;
  /** The service's time. */
  readonly nowMs: number;
}

function Note({ note, ongoing, nowMs }: NoteProps) {
  const { title, text, impact, starts_at } = note;
  const { tone, word } = IMPACTS[impact];
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <p className="flex min-w-0 items-center gap-2 font-medium [overflow-wrap:anywhere]">
          {title} <Badge tone={ongoing ? tone : "neutral"}>{Date.parse(starts_at) > nowMs ? "Planned" : word}</Badge>
        </p>
        <p className="text-ink-faint text-xs">
          <Instant at={starts_at} />
          {lengthText(note, ongoing, nowMs)}
        </p>
      </div>
      {text === "" ? null : (
        <p className="mt-1 max-w-prose whitespace-pre-line text-ink-soft leading-6 [overflow-wrap:anywhere]">{text}</p>
      )}
    </>
  );
}

interface NotesProps extends Pick<NoteProps, "nowMs"> {
  readonly notes: readonly IncidentNote[];
}

/** What goes on, above everything else. */
export function OngoingIncidents({ notes, nowMs }: NotesProps) {
  if (notes.length === 0) return null;
  return (
    <ul
      aria-label="Current incidents"
      className="mb-4 divide-y divide-line rounded-xl border border-warning/50 bg-surface text-sm"
    >
      {notes.map((note) => (
        <li key={note.key} id={note.key} className="px-4 py-3 sm:px-5">
          <Note note={note} ongoing nowMs={nowMs} />
        </li>
      ))}
    </ul>
  );
}

interface IncidentsProps extends NotesProps {
  /** Those of the notes that are shown above. */
  readonly ongoing: readonly IncidentNote[];
}

/** Incidents that are over and planned ones, which the service noticed or operators noted: the latest first. */
export function Incidents({ notes, ongoing, nowMs }: IncidentsProps) {
  const others = notes.filter((note) => !ongoing.includes(note));
  const entries = others.toSorted((a, b) => Date.parse(b.starts_at) - Date.parse(a.starts_at));
  const item = (note: IncidentNote) => (
    <li key={note.key} id={note.key} className="px-4 py-3 sm:px-5">
      <Note note={note} ongoing={false} nowMs={nowMs} />
    </li>
  );
  return (
    <div className="rounded-xl border border-line bg-surface text-sm">
      {entries.length === 0 ? (
        <p className="px-4 py-6 text-ink-soft sm:px-5">
          No {ongoing.length === 0 ? "" : "other "}incidents recorded in the last {UPTIME_DAYS} days.
        </p>
      ) : (
        <ul className="divide-y divide-line">{entries.slice(0, SHOWN_COUNT).map(item)}</ul>
      )}
      {entries.length <= SHOWN_COUNT ? null : (
        <details className="border-line border-t">
          <summary className="cursor-pointer px-4 py-3 text-ink-soft hover:text-ink sm:px-5">
            {entries.length - SHOWN_COUNT} earlier
          </summary>
          <ul className="divide-y divide-line border-line border-t">{entries.slice(SHOWN_COUNT).map(item)}</ul>
        </details>
      )}
      <p className="flex flex-wrap justify-between gap-x-6 gap-y-1 border-line border-t px-4 py-3 text-ink-faint text-xs sm:px-5">
        <span>
          Checked every minute. An incident opens after {INCIDENT_MIN_MINUTES} minutes of failures (of a feed, only while a market
          is open) and closes when they end. Failures less than {INCIDENT_JOIN_MINUTES} minutes apart are one incident.
        </span>
        <span>
          Subscribe:{" "}
          <a href={STATUS_FEED_PATH} className="text-accent underline">
            Atom feed
          </a>
          ,{" "}
          <a href={WEBHOOKS_PATH} className="text-accent underline">
            webhook
          </a>
        </span>
      </p>
    </div>
  );
}
