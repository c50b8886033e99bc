"use client";

import {
  INCIDENT_JOIN_MINUTES,
  INCIDENT_MIN_MINUTES,
  INCIDENT_TITLES,
  type Incident,
  type IncidentImpact,
  type IncidentNote,
  STATUS_FEED_PATH,
  UPTIME_DAYS,
  WEBHOOKS_PATH,
} from "#lib/contract/uptime";
import { durationText } from "#lib/duration";
import { Instant } from "../portal/time";
import { Badge, type Tone } from "../ui/badge";
import { isCurrent } from "./headline";

/** Entries that are shown before the reader asks for more. */
const SHOWN_COUNT = 8;

const IMPACTS: Readonly<Record<IncidentImpact, { readonly tone: Tone; readonly word: string }>> = {
  none: { tone: "neutral", word: "Notice" },
  degraded: { tone: "warning", word: "Degraded" },
  down: { tone: "danger", word: "Down" },
};

const instant = (ms: number) => new Date(ms).toISOString();

function Span({ fromMs, untilMs }: { fromMs: number; untilMs: number | null }) {
  return (
    <p className="text-ink-faint text-xs">
      <Instant at={instant(fromMs)} />
      {untilMs === null ? ", ongoing" : `, ${durationText(untilMs - fromMs)}`}
    </p>
  );
}

function Note({ note, nowMs }: { note: IncidentNote; nowMs: number }) {
  const { title, text, impact, starts_at, ends_at } = note;
  const fromMs = Date.parse(starts_at);
  const { tone, word } = IMPACTS[impact];
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <p className="flex min-w-0 items-center gap-2 font-medium [overflow-wrap:anywhere]">
          {title} <Badge tone={isCurrent(note, nowMs) ? tone : "neutral"}>{fromMs > nowMs ? "Planned" : word}</Badge>
        </p>
        <Span fromMs={fromMs} untilMs={ends_at === null ? null : Date.parse(ends_at)} />
      </div>
      {text === "" ? null : (
        <p className="mt-1 max-w-prose whitespace-pre-line text-ink-soft leading-6 [overflow-wrap:anywhere]">{text}</p>
      )}
    </>
  );
}

interface NotesProps {
  readonly notes: readonly IncidentNote[];
  /** The service's time. */
  readonly nowMs: number;
}

/** Notes of operators about now, above everything else. */
export function CurrentNotes({ notes, nowMs }: NotesProps) {
  const current = notes.filter((note) => isCurrent(note, nowMs));
  if (current.length === 0) return null;
  return (
    <ul
      aria-label="Current incidents"
      className="mb-4 divide-y divide-line rounded-xl border border-warning/50 bg-surface text-sm"
    >
      {current.map((note) => (
        <li key={note.id} className="px-4 py-3 sm:px-5">
          <Note note={note} nowMs={nowMs} />
        </li>
      ))}
    </ul>
  );
}

interface Entry {
  readonly key: string;
  readonly atMs: number;
  readonly note?: IncidentNote;
  readonly incident?: Incident;
}

/** Incidents as recorded and notes of operators, the latest first. */
export function Incidents({ incidents, notes, nowMs }: NotesProps & { readonly incidents: readonly Incident[] }) {
  const entries: Entry[] = [
    ...incidents.map((incident) => ({ key: `${incident.part}-${incident.from_ms}`, atMs: incident.from_ms, incident })),
    ...notes.map((note) => ({ key: `note-${note.id}`, atMs: Date.parse(note.starts_at), note })),
  ].sort((a, b) => b.atMs - a.atMs);
  const item = ({ key, note, incident }: Entry) => (
    <li key={key} id={key} className="px-4 py-3 sm:px-5">
      {note === undefined ? null : <Note note={note} nowMs={nowMs} />}
      {incident === undefined ? null : (
        <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
          <p>{INCIDENT_TITLES[incident.part]}</p>
          <Span fromMs={incident.from_ms} untilMs={incident.until_ms} />
        </div>
      )}
    </li>
  );
  return (
    <div className="rounded-xl border border-line bg-surface text-sm">
      {entries.length === 0 ? (
        <p className="px-4 py-6 text-ink-soft sm:px-5">No incidents recorded in the last {UPTIME_DAYS} days.</p>
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
          Recorded every minute. A part is listed after {INCIDENT_MIN_MINUTES} minutes of failures; breaks below{" "}
          {INCIDENT_JOIN_MINUTES} minutes are one incident.
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
