import { INCIDENTS_MAX_COUNT, type IncidentNote, STATUS_FEED_PATH, type UptimeReport } from "#lib/contract/uptime";
import { type AtomEntry, atomFeed } from "./atom";

function entryOf(page: string, { key, title, text, starts_at, ends_at, updated_at }: IncidentNote): AtomEntry {
  const end = ends_at === null ? "" : ` Ends ${ends_at}.`;
  const place = `${page}#${key}`;
  return {
    id: place,
    link: place,
    title,
    content: { type: "text", text: `${text === "" ? "" : `${text}\n\n`}Starts ${starts_at}.${end}` },
    publishedMs: Date.parse(starts_at),
    updatedMs: Date.parse(updated_at),
  };
}

/**
 * Incidents and notes as an Atom feed, the last change first.
 * @param base the service's address, without a trailing slash
 * @param name the service's name
 */
export function statusFeed(base: string, name: string, { notes }: Pick<UptimeReport, "notes">): string {
  const page = `${base}/status`;
  const entries = notes
    .map((note) => entryOf(page, note))
    .sort((a, b) => b.updatedMs - a.updatedMs)
    .slice(0, INCIDENTS_MAX_COUNT);
  return atomFeed({ page, self: base + STATUS_FEED_PATH, title: `${name} status`, author: name, entries });
}
