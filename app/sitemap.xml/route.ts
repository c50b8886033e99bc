import { docsHere } from "#app/docs-here";
import { readerAddress } from "#app/reader-address";
import { otherMethods } from "#server/pages/methods";
import { hasPlansPage } from "#server/pages/public-plans";
import { runningPortal } from "#server/pages/runtime";

/** Public pages beside the docs. */
const PLANS = "/plans";
const PAGES = ["/", "/markets", "/data", "/playground", "/status", "/signup"];

/** All public pages, for search engines (sitemaps.org). */
export async function GET(): Promise<Response> {
  const base = await readerAddress();
  const markets = await runningPortal()?.reports.markets("sandbox");
  const listed = markets?.filter(({ asset_class }) => asset_class !== "test") ?? [];
  const paths = [
    ...PAGES,
    ...(hasPlansPage(runningPortal()) ? [PLANS] : []),
    ...listed.flatMap(({ ticker }) => [`/markets/${ticker}`, `/data/${ticker}`]),
    ...docsHere().pages.map(({ url }) => url),
  ];
  // Paths of pages hold no character that XML reserves, and the address is a host that was checked.
  const urls = paths.map((path) => `  <url><loc>${base}${path === "/" ? "/" : path}</loc></url>`);
  const xml = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
    ...urls,
    "</urlset>",
  ];
  return new Response(`${xml.join("\n")}\n`, {
    headers: { "content-type": "application/xml; charset=utf-8", "cache-control": "private, no-cache" },
  });
}

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
