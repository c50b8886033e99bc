import { DAY_MS, MINUTE_MS } from "#lib/units";

const UTC = "UTC";

/**
 * An instant (ISO 8601) as a `datetime-local` control has it; empty for none.
 * @param zone the zone that the page shows: UTC, or that of the device
 * @param length to the minute, or as long as another text of a control
 */
export function localText(instant: string | null, zone: string, length = "YYYY-MM-DDTHH:MM".length): string {
  if (instant === null || Number.isNaN(Date.parse(instant))) return "";
  const at = new Date(instant);
  const offsetMs = zone === UTC ? 0 : at.getTimezoneOffset() * MINUTE_MS;
  return new Date(at.getTime() - offsetMs).toISOString().slice(0, length);
}

/** The ISO 8601 instant of a date and time in a zone, as `localText` has it; a text that is none stays as it is, and the service refuses it. */
export function instantOf(text: string, zone: string): string {
  const at = new Date(zone === UTC ? `${text}Z` : text);
  return Number.isNaN(at.getTime()) ? text : at.toISOString();
}

/**
 * The midnight this many days after the one before `atMs`, Unix milliseconds; a day has 23 to 25 hours when clocks change.
 * @param zone the zone that the page shows: UTC, or that of the device
 */
export function startOfDay(atMs: number, days: number, zone: string): number {
  if (zone === UTC) return atMs - (atMs % DAY_MS) + days * DAY_MS;
  const at = new Date(atMs);
  return new Date(at.getFullYear(), at.getMonth(), at.getDate() + days).getTime();
}
