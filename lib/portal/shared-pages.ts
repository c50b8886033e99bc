import { HOUR_MS, SECOND_MS } from "#lib/units";

/** How long a page for everybody may be reused. */
interface SharedPage {
  /** After this time it is rendered again. */
  readonly freshMs: number;
}

/** It changes with a release only; the portal's next process renders it again. */
const STATIC: SharedPage = { freshMs: Number.POSITIVE_INFINITY };
/** It shows prices or states; its board follows the stream once it is open. */
const MOVING: SharedPage = { freshMs: SECOND_MS };

const PAGES: ReadonlyMap<string, SharedPage> = new Map([
  ["/", MOVING],
  ["/markets", MOVING],
  ["/status", MOVING],
  ["/status.atom", MOVING],
  ["/docs", STATIC],
  ["/docs.md", STATIC],
  ["/robots.txt", STATIC],
  ["/sitemap.xml", { freshMs: HOUR_MS }],
  ["/llms.txt", STATIC],
  ["/llms-full.txt", STATIC],
  ["/postman.json", STATIC],
  ["/downloads/Spotwire.mq5", STATIC],
  ["/downloads/spotwire_feeder.py", STATIC],
]);

/** The page of a market and its picture; those of a ticker that does not exist are not kept. */
const MARKET = /^\/markets\/[A-Z0-9]{3,20}(\/opengraph-image)?$/;
/** Drawing takes some work, and a shared link needs no price of this second. */
const PICTURE: SharedPage = { freshMs: HOUR_MS };

/**
 * The pages that look the same to all readers who are not signed in, except for theme, code languages and the address of the
 * service. Pages that depend on their query, or on who asks, are not among them.
 * @param path without the query
 */
export function sharedPage(path: string): SharedPage | undefined {
  const page = PAGES.get(path) ?? (path.startsWith("/docs/") ? STATIC : undefined);
  const market = MARKET.exec(path);
  return page ?? (market === null ? undefined : market[1] === undefined ? MOVING : PICTURE);
}

/** Cookies that change how a shared page looks. */
export const SHARED_PAGE_COOKIES = ["theme", "code_languages"] as const;

/** Set on a request for a shared page, which has no nonce. A value from a client is removed. */
export const SHARED_HEADER = "x-spotwire-shared";
