import { LIVE_QUERY } from "#lib/contract/markets";
import { themeOf } from "#lib/contract/themes";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import { BRAND_PATH } from "./downloads/brand-pictures";

/** How long a page for everybody may be reused. */
export interface SharedPage {
  /** After this time it is rendered again. */
  readonly freshMs: number;
  /** The part of the query that changes it, with its question mark; empty for most. */
  readonly query: string;
}

/** It changes with a release only; the portal's next process renders it again. */
const STATIC: SharedPage = { freshMs: Number.POSITIVE_INFINITY, query: "" };
/** It shows prices or states; its board follows the stream once it is open. */
const MOVING: SharedPage = { freshMs: SECOND_MS, query: "" };

const PAGES: ReadonlyMap<string, SharedPage> = new Map([
  ["/", MOVING],
  ["/status", MOVING],
  ["/plans", { freshMs: MINUTE_MS, query: "" }],
  ["/status.atom", MOVING],
  ["/markets/search.json", { freshMs: HOUR_MS, query: "" }],
  ["/changelog.atom", STATIC],
  ["/docs", STATIC],
  ["/docs.md", STATIC],
  ["/favicon.ico", STATIC],
  ["/apple-icon.png", STATIC],
  ["/robots.txt", STATIC],
  ["/sitemap.xml", { freshMs: HOUR_MS, query: "" }],
  ["/llms.txt", STATIC],
  ["/llms-full.txt", STATIC],
  ["/skill.md", STATIC],
  ["/.well-known/api-catalog", STATIC],
  ["/.well-known/security.txt", { freshMs: HOUR_MS, query: "" }],
  ["/postman.json", STATIC],
  ["/downloads/Spotwire.mq5", STATIC],
]);

/** The pages of the markets; those of a ticker that does not exist are not kept. */
const MARKETS = /^\/markets(\/[A-Z0-9]{3,20})?$/;
/** Asked for the live venue, they tell a reader who is not signed in why they show the sandbox. */
const LIVE_REFUSED: SharedPage = { freshMs: SECOND_MS, query: LIVE_QUERY };
/** The pages about coverage: what they show is counted once a minute. Their document refuses a query that it does not know. */
const COVERAGE = /^\/data(\/[A-Z0-9]{3,20})?$/;
const COVERAGE_DOCUMENT = "/data.json";
const MARKET_PICTURE = /^\/markets\/[A-Z0-9]{3,20}\/opengraph-image$/;
/** Drawing takes some work, and a shared link needs no price of this second. */
const PICTURE: SharedPage = { freshMs: HOUR_MS, query: "" };

/**
 * The pages that look the same to all readers who are not signed in, except for theme, code languages and the address of the
 * service. Pages that depend on other parts of their query, or on who asks, are not among them.
 * @param path without the query
 * @param query without its question mark
 */
export function sharedPage(path: string, query: string): SharedPage | undefined {
  if (path.startsWith("/docs/") || path.startsWith("/docs-pictures/") || path.startsWith(BRAND_PATH)) return STATIC;
  if (MARKETS.test(path)) return isLive(new URLSearchParams(query)) ? LIVE_REFUSED : MOVING;
  if (COVERAGE.test(path)) return coveragePage(new URLSearchParams(query));
  if (path === COVERAGE_DOCUMENT) return query === "" ? { freshMs: MINUTE_MS, query } : undefined;
  return MARKET_PICTURE.test(path) ? PICTURE : PAGES.get(path);
}

/** A page about coverage; undefined for one of a chosen year, of which there are too many to keep. */
function coveragePage(query: URLSearchParams): SharedPage | undefined {
  return query.has("year") ? undefined : { freshMs: MINUTE_MS, query: isLive(query) ? LIVE_QUERY : "" };
}

/** Whether the query of a page asks for the live venue. A parameter that is repeated does not. */
function isLive(query: URLSearchParams): boolean {
  const venues = query.getAll("venue");
  return venues.length === 1 && venues[0] === "live";
}

/** What changes how a shared page looks, of the cookies of its reader: no theme is that of the system, and so is an unknown one. */
export function sharedCookies({ theme, code_languages }: Readonly<Record<string, string>>): {
  readonly theme: string | undefined;
  readonly code_languages: string | undefined;
} {
  const chosen = themeOf(theme);
  return { theme: chosen === "system" ? undefined : chosen, code_languages };
}

/** Set on a request for a shared page, which has no nonce. A value from a client is removed. */
export const SHARED_HEADER = "x-spotwire-shared";
