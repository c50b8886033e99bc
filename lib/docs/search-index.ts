import { createSearchAPI, type Index } from "fumadocs-core/search/server";
import { operationAt } from "./reference/paths";
import type { Docs, DocsPage } from "./source";

/** The first crumb of each entry of the index: written by hand, a call of the REST API, or something else printed from the contract. */
export type PageKind = "Guide" | "Operation" | "Reference";

function kindOf({ type, url }: Pick<DocsPage, "type" | "url">): PageKind {
  if (type === "guides") return "Guide";
  return operationAt(url) === undefined ? "Reference" : "Operation";
}

/** How a page or a part begins, for the list of hits. */
const EXCERPT_MAX_CHARACTERS = 120;

/** The beginning of a text, to a whole word. */
function excerptOf(text: string): string {
  const plain = text.replace(/[`*|\s]+/g, " ").trim();
  if (plain.length <= EXCERPT_MAX_CHARACTERS) return plain;
  return `${plain.slice(0, EXCERPT_MAX_CHARACTERS).replace(/\s+\S*$/, "")}…`;
}

/** Parts of pages of the reference that say the same on each, or what stands above them once more. */
const REPEATED: ReadonlySet<string | undefined> = new Set(["request", "headers", "errors", "example", "response-example"]);

/** A page as entries of the index: the page itself with what stands above its first heading, then each part of it. */
function entriesOf({ type, url, data }: DocsPage, words: (text: string) => string): Index[] {
  const { headings, contents } = data.structuredData;
  const kind = kindOf({ type, url });
  const keywords = "keywords" in data ? data.keywords?.join(" ") : undefined;
  const textOf = (id?: string) => words(contents.flatMap(({ heading, content }) => (heading === id ? [content] : [])).join(" "));
  // What a hit carries is its crumbs: its kind, its page, and how it begins.
  const crumbs = (of: string, text: string) => [kind, of, excerptOf(text)];
  const own = textOf();
  const page: Index = { url, title: data.title, breadcrumbs: crumbs("", words(data.description ?? own)), content: own };
  if (data.description !== undefined) page.description = data.description;
  if (keywords !== undefined) page.keywords = keywords;
  const parts = headings.filter(({ id }) => type === "guides" || !REPEATED.has(id));
  return [
    page,
    ...parts.map(({ id, content: title }) => {
      const content = textOf(id);
      return { url: `${url}#${id}`, title, breadcrumbs: crumbs(data.title, content), content };
    }),
  ];
}

/**
 * The search index over every page and section, as the search in the browser loads it.
 * @param words puts the name of the service into texts
 */
export function searchIndex({ pages }: Pick<Docs, "pages">, words: (text: string) => string): Promise<Response> {
  const server = createSearchAPI("simple", {
    indexes: pages.flatMap((page) => entriesOf(page, words)),
    // Hits come by how well they fit, never by a field: an order for each field would be a quarter of the index.
    sort: { enabled: false },
  });
  return server.staticGET();
}
