import { DAY_MS } from "#lib/units";

/** No closure is longer; an event of years would be a mistake. */
const EVENT_MAX_DAYS = 31;
/** Name, parameters and value of a content line. */
const PROPERTY = /^([A-Za-z0-9-]+)(?:;[A-Za-z0-9-]+=(?:"[^"]*"|[^";:])*)*:(.*)$/s;
const DATE = /^(\d{4})(\d\d)(\d\d)$/;
const WHOLE_DAYS = /^\+?P(\d{1,3})([DW])$/;
const ESCAPES: Readonly<Record<string, string>> = { n: " ", N: " " };

/** An event as read: the local dates it lasts, or why it was not read. */
type EventRead =
  | { readonly line: number; readonly dates: readonly string[]; readonly name: string }
  | { readonly line: number; readonly detail: string };

interface Line {
  /** Number of its first line in the text, from 1. */
  readonly line: number;
  readonly text: string;
}

interface OpenEvent {
  readonly line: number;
  readonly values: Map<string, string>;
}

/** Joins folded lines: one that begins with a space or a tab continues the one before (RFC 5545, 3.1). */
function unfold(lines: readonly string[]): readonly Line[] {
  const joined: { line: number; parts: string[] }[] = [];
  for (const [index, text] of lines.entries()) {
    const last = joined.at(-1);
    if (last !== undefined && /^[ \t]/.test(text)) last.parts.push(text.slice(1));
    else if (text.trim() !== "") joined.push({ line: index + 1, parts: [text] });
  }
  return joined.map(({ line, parts }) => ({ line, text: parts.join("") }));
}

/** Unix milliseconds of the UTC midnight of a date `YYYYMMDD`; undefined for any other text and for dates that do not exist. */
function midnightOf(text: string): number | undefined {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (year === undefined) return undefined;
  const iso = `${year}-${month}-${day}`;
  const ms = Date.parse(`${iso}T00:00:00Z`);
  return !Number.isNaN(ms) && dateOf(ms) === iso ? ms : undefined;
}

const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, "YYYY-MM-DD".length);

/** The number of days of an event: to DTEND, which is not part of it, for DURATION, otherwise one. */
function daysOf(startMs: number, end: string | undefined, duration: string | undefined): number | undefined {
  if (end !== undefined) {
    const endMs = midnightOf(end);
    return endMs === undefined ? undefined : (endMs - startMs) / DAY_MS;
  }
  if (duration === undefined) return 1;
  const [, count, unit] = WHOLE_DAYS.exec(duration) ?? [];
  return count === undefined ? undefined : Number(count) * (unit === "W" ? 7 : 1);
}

/** The dates of an all-day event (RFC 5545, 3.6.1); null for a canceled one. */
function closeEvent({ line, values }: OpenEvent): EventRead | null {
  if (values.get("STATUS")?.toUpperCase() === "CANCELLED") return null;
  const start = values.get("DTSTART");
  if (start === undefined) return { line, detail: "The event has no DTSTART." };
  if (values.has("RRULE") || values.has("RDATE"))
    return { line, detail: "The event repeats. List each of its dates as an event of its own." };
  if (/T\d/.test(start)) return { line, detail: "The event has a time. Only all-day events are read, as closed days." };
  const startMs = midnightOf(start);
  const days = startMs === undefined ? undefined : daysOf(startMs, values.get("DTEND"), values.get("DURATION"));
  if (startMs === undefined || days === undefined) return { line, detail: "The dates of the event are not valid." };
  if (days < 1) return { line, detail: "DTEND must be later than DTSTART." };
  if (days > EVENT_MAX_DAYS) return { line, detail: `The event lasts more than ${EVENT_MAX_DAYS} days.` };
  const name = (values.get("SUMMARY") ?? "").replaceAll(/\\(.)/gs, (_, sign: string) => ESCAPES[sign] ?? sign).trim();
  return { line, name, dates: Array.from({ length: days }, (_, day) => dateOf(startMs + day * DAY_MS)) };
}

/**
 * Reads the all-day events of an iCalendar text (RFC 5545): DTSTART, DTEND or DURATION, SUMMARY and STATUS of each VEVENT.
 * What is inside other components, such as alarms, is ignored. Stops at a component that does not end where it should.
 */
export function* readEvents(lines: readonly string[]): Generator<EventRead> {
  const open: string[] = [];
  let event: OpenEvent | undefined;
  for (const { line, text } of unfold(lines)) {
    const [, rawName = "", value = ""] = PROPERTY.exec(text) ?? [];
    const name = rawName.toUpperCase();
    const component = value.trim().toUpperCase();
    if (name === "") yield { line, detail: "This is not a line of an iCalendar file." };
    else if (name === "BEGIN") {
      open.push(component);
      if (component === "VEVENT") event = { line, values: new Map() };
    } else if (name === "END") {
      if (open.pop() !== component)
        return yield { line, detail: `END:${component.slice(0, 40)} has no BEGIN. The rest is not read.` };
      if (component !== "VEVENT" || event === undefined) continue;
      const read = closeEvent(event);
      event = undefined;
      if (read !== null) yield read;
    } else if (open.at(-1) === "VEVENT") event?.values.set(name, value.trim());
  }
  if (open.length > 0) yield { line: lines.length, detail: "The file ends too early." };
}
