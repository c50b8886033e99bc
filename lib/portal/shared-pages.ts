import { SECOND_MS } from "#lib/units";

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
  ["/status", MOVING],
  ["/docs", STATIC],
  ["/docs.md", STATIC],
  ["/llms.txt", STATIC],
  ["/llms-full.txt", STATIC],
  ["/postman.json", STATIC],
  ["/downloads/Spotwire.mq5", STATIC],
  ["/downloads/spotwire_feeder.py", STATIC],
]);

/**
 * The pages that look the same to all readers who are not signed in, except for theme, code languages and the address of the
 * service. Pages that depend on their query, or on who asks, are not among them.
 * @param path without the query
 */
export function sharedPage(path: string): SharedPage | undefined {
  return PAGES.get(path) ?? (path.startsWith("/docs/") ? STATIC : undefined);
}

/** Cookies that change how a shared page looks. */
export const SHARED_PAGE_COOKIES = ["theme", "code_languages"] as const;

/** Set on a request for a shared page, which has no nonce. A value from a client is removed. */
export const SHARED_HEADER = "x-spotwire-shared";
