import { staticClient } from "fumadocs-core/search/client/orama-static";
import type { PageKind } from "./search-index";

const CANDIDATES_MAX_COUNT = 60;
const HITS_MAX_COUNT = 8;
const HITS_OF_A_PAGE_MAX_COUNT = 3;
/** A match in a title or heading counts more than one in the text. */
const BOOST = { title: 4, keywords: 4, description: 2, content: 1 };
/** What the reference says of something ranks below a guide whose score is up to this many times lower. */
const REFERENCE_HANDICAP = 3;
/** The tier of what has the words of a query, and is not named by it. */
const MENTIONED_TIER = 3;
const MARKS = /<\/?mark>|[`*]/g;

const GUIDE: PageKind = "Guide";
const OPERATION: PageKind = "Operation";

/** A section of the docs that matches the query. */
export interface DocsHit {
  readonly id: string;
  readonly href: string;
  readonly text: string;
  /** The page that contains the section. */
  readonly page: string | undefined;
  /** How it begins, or what it is about; undefined where nothing but headings follow. */
  readonly excerpt: string | undefined;
}

const bare = (text: string) =>
  text
    .toLowerCase()
    .replace(/[\W_]+/g, " ")
    .trim();
const wordsOf = (text: string) => bare(text).split(" ");

/**
 * How well a query names a page, smaller is better: an operation by its title, another page by its title, an operation or a guide
 * by words of its title, which may still be typed. Otherwise the page only has the words, as sections do.
 */
function tierOf(kind: string | undefined, title: string, query: string): number {
  if (bare(title) === bare(query)) return kind === OPERATION ? 0 : 1;
  if (kind !== OPERATION && kind !== GUIDE) return MENTIONED_TIER;
  const named = wordsOf(query).every((typed) => wordsOf(title).some((word) => word.startsWith(typed)));
  return named ? 2 : MENTIONED_TIER;
}

const pageOf = ({ href }: DocsHit) => href.replace(/#.*/, "");

/** Pages that are near to an address. */
const NEAR_MAX_COUNT = 5;
/** Of a shorter word, another one with one other letter is seldom meant. */
const MISTYPED_MIN_CHARACTERS = 5;

/**
 * The pages that have the words of an address that has none, best first, at most five; where no page has them, those with words that are one typing
 * mistake away.
 * @param from URL of the index; it is fetched once
 * @throws when the index cannot be fetched
 */
export async function nearDocs(from: string, words: string): Promise<DocsHit[]> {
  const exact = await searchDocs(from, words);
  const found = exact.length > 0 || words.length < MISTYPED_MIN_CHARACTERS ? exact : await searchDocs(from, words, 1);
  const firsts = found.filter((hit, index) => found.findIndex((one) => pageOf(one) === pageOf(hit)) === index);
  return firsts.slice(0, NEAR_MAX_COUNT);
}

/**
 * The matches for a query, best first: pages that it names, operations before others, then guides before the reference; at most
 * eight hits and three per page.
 * @param tolerance typing mistakes in a word; with any, words that only look similar are found too
 * @param from URL of the index; it is fetched once
 * @throws when the index cannot be fetched
 */
export async function searchDocs(from: string, query: string, tolerance = 0): Promise<DocsHit[]> {
  const properties = ["title", "description", "content", "keywords"];
  const search = { limit: CANDIDATES_MAX_COUNT, tolerance, boost: BOOST, properties };
  const found = await staticClient({ from, search }).search(query);
  const ranked = found.map(({ url, content, breadcrumbs = [] }, index) => {
    const text = String(content).replace(MARKS, "");
    const [kind, page, excerpt] = breadcrumbs.map((crumb) => String(crumb) || undefined);
    const tier = page === undefined ? tierOf(kind, text, query) : MENTIONED_TIER;
    const handicap = tier === MENTIONED_TIER && kind !== GUIDE ? REFERENCE_HANDICAP : 1;
    return { hit: { id: url, href: url, text, page, excerpt }, tier, place: (index + 1) * handicap };
  });
  const counts = new Map<string, number>();
  const hits = ranked.sort((a, b) => a.tier - b.tier || a.place - b.place).map(({ hit }) => hit);
  const few = hits.filter((hit) => {
    const count = (counts.get(pageOf(hit)) ?? 0) + 1;
    counts.set(pageOf(hit), count);
    return count <= HITS_OF_A_PAGE_MAX_COUNT;
  });
  return few.slice(0, HITS_MAX_COUNT);
}
