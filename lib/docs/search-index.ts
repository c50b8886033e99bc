import { createSearchAPI, type Index } from "fumadocs-core/search/server";
import { operationAt } from "./reference/paths";
import type { Docs, DocsPage } from "./source";

/** The first crumb of each entry of the index: written by hand, a call of the REST API, or something else printed from the contract. */
export type PageKind = "Guide" | "Operation" | "Reference";

function kindOf({ type, url }: Pick<DocsPage, "type" | "url">): PageKind {
  if (type === "guides") return "Guide";
  return operationAt(url) === undefined ? "Reference" : "Operation";
}

/** Parts of pages of the reference that say the same on each, or what stands above them once more. */
const REPEATED: ReadonlySet<string | undefined> = new Set(["request", "headers", "errors", "example", "response-example"]);

/** A page as entries of the index: the page itself with what stands above its first heading, then each part of it. */
function entriesOf({ type, url, data }: DocsPage, words: (text: string) => string): Index[] {
  const { headings, contents } = data.structuredData;
  const kind = kindOf({ type, url });
  const keywords = "keywords" in data ? data.keywords?.join(" ") : undefined;
  const textOf = (id?: string) => words(contents.flatMap(({ heading, content }) => (heading === id ? [content] : [])).join(" "));
  const page: Index = { url, title: data.title, breadcrumbs: [kind], content: textOf() };
  if (data.description !== undefined) page.description = data.description;
  if (keywords !== undefined) page.keywords = keywords;
  const parts = headings.filter(({ id }) => type === "guides" || !REPEATED.has(id));
  const crumbs = [kind, data.title];
  return [
    page,
    ...parts.map(({ id, content }) => ({ url: `${url}#${id}`, title: content, breadcrumbs: crumbs, content: textOf(id) })),
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
