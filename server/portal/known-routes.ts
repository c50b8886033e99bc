import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { TICKER_MAX_CHARACTERS, TICKER_MIN_CHARACTERS } from "#lib/contract/limits";
import { CLIENT_FOLDER } from "#lib/docs/client-names";
import { plainTicker } from "#lib/instrument-search";
import { BRAND_FILES } from "#server/pages/downloads/brand-pictures";

/** Written by Next's build. */
const MANIFEST = path.join(".next", "routes-manifest.json");
/** Pictures of the guides. */
const PICTURES = path.join("lib", "docs", "pictures");
/** The only path of Next's own that is not a built file; those are served before. */
const IMAGES = "/_next/image";
const DOCS = "/docs/";
const MARKDOWN = /\.md$/;
const DOWNLOAD = /^\/downloads\/([^/]+)$/;
const PICTURE = /^\/docs-pictures\/([^/]+)$/;
const BRAND = /^\/brand\/([^/]+)$/;
const INSTRUMENT = /^\/(?:markets|data)\/([^/]+)(?:\/opengraph-image)?$/;
const OF_INSTRUMENT = /^(\/(?:markets|data)\/)([^?]+)(\?.*)?$/;
const MARKET = new RegExp(`^/markets/[A-Z0-9]{${TICKER_MIN_CHARACTERS},${TICKER_MAX_CHARACTERS}}$`);
/** Longest text that is read as a ticker in another notation. */
const WRITTEN_MAX_CHARACTERS = TICKER_MAX_CHARACTERS * 2;
const LOCATION = /<loc>https?:\/\/[^/<]+([^<]*)<\/loc>/g;

interface Route {
  readonly regex: string;
}

interface Manifest {
  readonly staticRoutes: readonly Route[];
  readonly dynamicRoutes: readonly Route[];
  readonly redirects: readonly Route[];
  readonly rewrites: { readonly afterFiles: readonly Route[] };
}

/** Knows which paths have a page, without asking Next. */
export interface KnownRoutes {
  /** True when a page serves this path; while the pages of the docs are not known, true for everything below /docs. */
  has(path: string): boolean;
  /** Where the page of a listed ticker is that a URL writes otherwise, such as `/markets/xau-usd`; undefined for any other URL. */
  plain(url: string): string | undefined;
  /** Learns the pages of the docs from the portal's sitemap. */
  learn(sitemap: string): void;
}

/**
 * Reads the routes of the built pages.
 * @param isListed whether a venue lists this ticker now
 * @param folder the program's
 */
export function readKnownRoutes(isListed: (ticker: string) => boolean, folder = process.cwd()): KnownRoutes {
  const manifest: Manifest = JSON.parse(readFileSync(path.join(folder, MANIFEST), "utf8"));
  const { staticRoutes, dynamicRoutes, redirects, rewrites } = manifest;
  const compiled = (routes: readonly Route[]) => routes.map(({ regex }) => new RegExp(regex));
  // A redirect is there whether or not its path looks like that of a page.
  const fixed = compiled([...staticRoutes, ...redirects]);
  const others = compiled([...dynamicRoutes, ...rewrites.afterFiles]);
  const pictures = new Set(readdirSync(path.join(folder, PICTURES)));
  const downloads = new Set(readdirSync(path.join(folder, CLIENT_FOLDER)));
  let docs: ReadonlySet<string> | undefined;

  /** Whether there is what a dynamic route would look for. */
  function exists(path: string): boolean {
    if (path.startsWith(DOCS)) return docs?.has(path.replace(MARKDOWN, "")) ?? true;
    const [, picture] = PICTURE.exec(path) ?? [];
    if (picture !== undefined) return pictures.has(picture);
    const [, download] = DOWNLOAD.exec(path) ?? [];
    if (download !== undefined) return downloads.has(download);
    const [, brand] = BRAND.exec(path) ?? [];
    if (brand !== undefined) return BRAND_FILES.has(brand);
    // The page of a ticker that is not carried says so, and what is near.
    if (MARKET.test(path)) return true;
    const [, ticker] = INSTRUMENT.exec(path) ?? [];
    return ticker === undefined || isListed(ticker);
  }

  return {
    has(asked) {
      // Next redirects it to the path without its slash.
      const path = asked.length > 1 && asked.endsWith("/") ? asked.slice(0, -1) : asked;
      if (path.startsWith("/_next/")) return path === IMAGES;
      return fixed.some((route) => route.test(path)) || (others.some((route) => route.test(path)) && exists(path));
    },
    plain(url) {
      const [, folder, written = "", query = ""] = OF_INSTRUMENT.exec(url) ?? [];
      if (folder === undefined || written.length > WRITTEN_MAX_CHARACTERS) return undefined;
      const ticker = plainTicker(written.replace(/%2F/gi, "/"));
      return ticker !== written && isListed(ticker) ? `${folder}${ticker}${query}` : undefined;
    },
    learn(sitemap) {
      const paths = [...sitemap.matchAll(LOCATION)].map(([, path = ""]) => path).filter((path) => path.startsWith(DOCS));
      if (paths.length > 0) docs = new Set(paths);
    },
  };
}
