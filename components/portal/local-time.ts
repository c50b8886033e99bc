import { MINUTE_MS } from "#lib/units";

const MINUTES_TEXT = "YYYY-MM-DDTHH:MM".length;

/** An instant (ISO 8601) as a `datetime-local` control has it, in the viewer's time zone; empty for none. */
export function localText(instant: string | null): string {
  if (instant === null) return "";
  const at = new Date(instant);
  return new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, MINUTES_TEXT);
}

/** The ISO 8601 instant of a local date and time; a text that is none stays as it is, and the service refuses it. */
export function instantOf(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : at.toISOString();
}
