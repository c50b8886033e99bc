import { staticClient } from "fumadocs-core/search/client/orama-static";
import type { PageKind } from "./search-index";

const CANDIDATES_MAX_COUNT = 60;
const HITS_MAX_COUNT = 8;
const HITS_OF_A_PAGE_MAX_COUNT = 3;
/** A match in a title or heading counts more than one in the text. */
const BOOST = { title: 4, keywords: 4, description: 2, content: 1 };
/** A page of the reference ranks below a guide whose score is up to this many times lower. */
const REFERENCE_HANDICAP = 3;
const MARKS = /<\/?mark>|[`*]/g;

const REFERENCE: PageKind = "Reference";

/** A section of the docs that matches the query. */
export interface DocsHit {
  readonly id: string;
  readonly href: string;
  readonly text: string;
  /** The page that contains the section. */
  readonly page: string | undefined;
}

const bare = (text: string) =>
  text
    .toLowerCase()
    .replace(/[\W_]+/g, " ")
    .trim();
const pageOf = ({ href }: DocsHit) => href.replace(/#.*/, "");

/**
 * The matches for a query, best first: a page with exactly that title, then guides before the reference, at most eight hits and
 * three per page.
 * @param from URL of the index; it is fetched once
 * @throws when the index cannot be fetched
 */
export async function searchDocs(from: string, query: string): Promise<DocsHit[]> {
  const properties = ["title", "description", "content", "keywords"];
  // No tolerance for typing mistakes: it would add words that only look similar.
  const search = { limit: CANDIDATES_MAX_COUNT, tolerance: 0, boost: BOOST, properties };
  const found = await staticClient({ from, search }).search(query);
  const ranked = found.map(({ url, content, breadcrumbs = [] }, index) => {
    const text = String(content).replace(MARKS, "");
    const [kind, page] = breadcrumbs.map(String);
    const place = (index + 1) * (kind === REFERENCE ? REFERENCE_HANDICAP : 1);
    const named = page === undefined && bare(text) === bare(query);
    return { hit: { id: url, href: url, text, page }, place: named ? 0 : place };
  });
  const counts = new Map<string, number>();
  const hits = ranked.sort((a, b) => a.place - b.place).map(({ hit }) => hit);
  const few = hits.filter((hit) => {
    const count = (counts.get(pageOf(hit)) ?? 0) + 1;
    counts.set(pageOf(hit), count);
    return count <= HITS_OF_A_PAGE_MAX_COUNT;
  });
  return few.slice(0, HITS_MAX_COUNT);
}
