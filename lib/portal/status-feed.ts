import {
  INCIDENTS_MAX_COUNT,
  type Incident,
  type IncidentNote,
  type IncidentPart,
  STATUS_FEED_PATH,
  type UptimeReport,
} from "#lib/contract/uptime";
import { durationText } from "#lib/duration";

const PARTS: Readonly<Record<IncidentPart, string>> = {
  service: "The service did not run",
  rest: "REST was down",
  stream: "Streams were down",
  live: "The live feed was down",
  sandbox: "The sandbox feed was down",
};

interface Entry {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly publishedMs: number;
  readonly updatedMs: number;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text for XML: characters that it reserves are escaped, those that it does not allow are left out. */
function xml(text: string): string {
  return text.replace(/(?![\t\n\r])[\p{Cc}\ufffe\uffff]/gu, "").replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? "");
}

function entryOfIncident({ part, from_ms, until_ms }: Incident): Entry {
  const text =
    until_ms === null
      ? `Since ${new Date(from_ms).toISOString()}.`
      : `From ${new Date(from_ms).toISOString()} for ${durationText(until_ms - from_ms)}.`;
  return { id: `${part}-${from_ms}`, title: PARTS[part], text, publishedMs: from_ms, updatedMs: until_ms ?? from_ms };
}

function entryOfNote({ id, title, text, starts_at, ends_at, updated_at }: IncidentNote): Entry {
  const end = ends_at === null ? "" : ` Ends ${ends_at}.`;
  return {
    id: `note-${id}`,
    title,
    text: `${text === "" ? "" : `${text}\n\n`}Starts ${starts_at}.${end}`,
    publishedMs: Date.parse(starts_at),
    updatedMs: Date.parse(updated_at),
  };
}

/**
 * Incidents and notes as an Atom feed (RFC 4287), the last change first.
 * @param base the service's address, without a trailing slash
 */
export function statusFeed(base: string, { incidents, notes }: Pick<UptimeReport, "incidents" | "notes">): string {
  const entries = [...incidents.map(entryOfIncident), ...notes.map(entryOfNote)]
    .sort((a, b) => b.updatedMs - a.updatedMs)
    .slice(0, INCIDENTS_MAX_COUNT);
  const time = (ms: number) => new Date(ms).toISOString();
  const page = xml(`${base}/status`);
  const lines = entries.map(
    ({ id, title, text, publishedMs, updatedMs }) =>
      `  <entry><id>${page}#${xml(id)}</id><title>${xml(title)}</title><link href="${page}#${xml(id)}"/>` +
      `<published>${time(publishedMs)}</published><updated>${time(updatedMs)}</updated>` +
      `<content type="text">${xml(text)}</content></entry>`,
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    `  <id>${page}</id><title>Spotwire status</title><author><name>Spotwire</name></author>`,
    `  <link href="${page}"/><link rel="self" href="${xml(base + STATUS_FEED_PATH)}"/>`,
    `  <updated>${time(entries[0]?.updatedMs ?? 0)}</updated>`,
    ...lines,
    "</feed>",
    "",
  ].join("\n");
}
