import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { type AtomEntry, atomFeed } from "./atom";

/** The newest sections of the changelog that a feed has. */
export const CHANGELOG_ENTRIES_MAX_COUNT = 30;

const VERSION = /^## (\S+)/;
/** What a day brought: "### Added, 2026-11-28". */
const DAY = /^### ((\w+), (\d{4}-\d{2}-\d{2}))$/;

/** The place of a heading on the page. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, "")
    .replaceAll(" ", "-");

/** Markdown as HTML, by the parser of the docs. HTML within it is shown as text. */
const htmlOf = (markdown: string) => micromark(markdown, { extensions: [gfm()], htmlExtensions: [gfmHtml()] });

/**
 * The changelog as an Atom feed, the newest day first: an entry for each day and kind of change in a version.
 * @param base the service's address, without a trailing slash
 * @param name the service's name
 * @param markdown the page of the changelog, whose links are absolute
 */
export function changelogFeed(base: string, name: string, markdown: string): string {
  const page = `${base}/docs/changelog`;
  const entries = new Map<string, Omit<AtomEntry, "content"> & { readonly markdown: string }>();
  let version = "";
  let id: string | undefined;
  for (const line of markdown.split("\n")) {
    const [, heading, kind, day = ""] = DAY.exec(line) ?? [];
    if (heading !== undefined) {
      const [link, atMs] = [`${page}#${anchorOf(heading)}`, Date.parse(day)];
      id = `${base}/changelog#${version}-${anchorOf(heading)}`;
      const title = `${version}, ${day}: ${kind}`;
      if (!entries.has(id)) entries.set(id, { id, link, title, markdown: "", publishedMs: atMs, updatedMs: atMs });
    } else if (line.startsWith("## ")) {
      version = VERSION.exec(line)?.[1] ?? "";
      id = undefined;
    } else if (id !== undefined) {
      const entry = entries.get(id);
      if (entry !== undefined) entries.set(id, { ...entry, markdown: `${entry.markdown}\n${line}`.trim() });
    }
  }
  const newest = [...entries.values()].sort((a, b) => b.updatedMs - a.updatedMs).slice(0, CHANGELOG_ENTRIES_MAX_COUNT);
  const printed = newest.map(({ markdown: text, ...entry }) => ({
    ...entry,
    content: { type: "html", text: htmlOf(text) } as const,
  }));
  return atomFeed({ page, self: `${base}/changelog.atom`, title: `${name} changelog`, author: name, entries: printed });
}
