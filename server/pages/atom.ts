/** One entry of a feed. */
export interface AtomEntry {
  /** The same for as long as there is the entry. */
  readonly id: string;
  readonly link: string;
  readonly title: string;
  /** What it says, as plain text or as the inside of an HTML body, whose links are absolute. */
  readonly content: { readonly type: "text" | "html"; readonly text: string };
  readonly publishedMs: number;
  readonly updatedMs: number;
}

interface AtomFeed {
  /** The page that shows the same; the feed's id. */
  readonly page: string;
  /** The feed's own URL. */
  readonly self: string;
  readonly title: string;
  /** The service's name. */
  readonly author: string;
  /** The last change first. */
  readonly entries: readonly AtomEntry[];
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text for XML: characters that it reserves are escaped, those that it does not allow are left out. */
function xml(text: string): string {
  return text.replace(/(?![\t\n\r])[\p{Cc}\ufffe\uffff]/gu, "").replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? "");
}

const time = (ms: number) => new Date(ms).toISOString();

function printEntry({ id, link, title, content, publishedMs, updatedMs }: AtomEntry): string {
  return (
    `  <entry><id>${xml(id)}</id><title>${xml(title)}</title><link href="${xml(link)}"/>` +
    `<published>${time(publishedMs)}</published><updated>${time(updatedMs)}</updated>` +
    `<content type="${content.type}">${xml(content.text)}</content></entry>`
  );
}

/** An Atom feed (RFC 4287). Characters that XML does not allow are left out of its texts. */
export function atomFeed({ page, self, title, author, entries }: AtomFeed): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    `  <id>${xml(page)}</id><title>${xml(title)}</title><author><name>${xml(author)}</name></author>`,
    `  <link href="${xml(page)}"/><link rel="self" type="application/atom+xml" href="${xml(self)}"/>`,
    `  <updated>${time(entries[0]?.updatedMs ?? 0)}</updated>`,
    ...entries.map(printEntry),
    "</feed>",
    "",
  ].join("\n");
}

/** The answer of a feed. It contains the requested host, so shared caches must not keep it. */
export function atomResponse(feed: string): Response {
  return new Response(feed, {
    headers: { "content-type": "application/atom+xml; charset=utf-8", "cache-control": "private, no-cache" },
  });
}
