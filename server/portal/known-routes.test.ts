import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CLIENT_FOLDER, pythonWheel } from "#lib/docs/client-names";
import { type KnownRoutes, readKnownRoutes } from "./known-routes";

const ROUTES = {
  staticRoutes: [{ regex: "^/docs/search\\.json(?:/)?$" }, { regex: "^/signin(?:/)?$" }],
  dynamicRoutes: [
    "/docs(?:/(.+?))?",
    "/docs-pictures/([^/]+?)",
    "/downloads/([^/]+?)",
    "/markets/([^/]+?)",
    "/markets/([^/]+?)/opengraph-image",
    "/data/([^/]+?)",
  ].map((page) => ({ regex: `^${page}(?:/)?$` })),
  redirects: [{ regex: "^(?:/((?:[^/]+?)(?:/(?:[^/]+?))*))/$" }, { regex: "^/docs/downloads(?:/)?$" }],
  rewrites: { afterFiles: [{ regex: "^/docs(?:/((?:[^/]+?)(?:/(?:[^/]+?))*))?\\.md(?:/)?$" }] },
};
const SITEMAP = "<urlset><url><loc>http://localhost/</loc></url><url><loc>http://localhost/docs/quickstart</loc></url></urlset>";

let folder: string;
let routes: KnownRoutes;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "spotwire-routes-"));
  await mkdir(path.join(folder, ".next"));
  await mkdir(path.join(folder, "lib/docs/pictures"), { recursive: true });
  await writeFile(path.join(folder, ".next/routes-manifest.json"), JSON.stringify(ROUTES));
  await writeFile(path.join(folder, "lib/docs/pictures/year.png"), "");
  await mkdir(path.join(folder, CLIENT_FOLDER), { recursive: true });
  await writeFile(path.join(folder, CLIENT_FOLDER, pythonWheel("1.2.3")), "");
  routes = readKnownRoutes((ticker) => ticker === "EURUSD", folder);
});
afterAll(() => rm(folder, { recursive: true }));

test("until the pages of the docs are known, every path below them may have one", () => {
  expect(routes.has("/docs/whatever")).toBe(true);
  routes.learn("<urlset></urlset>");
  expect(routes.has("/docs/whatever")).toBe(true);
});

test.each([
  ["/signin", true],
  ["/signin/", true],
  ["/docs/quickstart", true],
  ["/docs/quickstart.md", true],
  ["/docs/quickstart/", true],
  ["/docs/search.json", true],
  ["/docs/whatever", false],
  ["/docs/whatever.md", false],
  ["/docs/whatever/", false],
  ["/docs/downloads", true],
  ["/docs-pictures/year.png", true],
  ["/docs-pictures/other.png", false],
  ["/downloads/spotwire_client-1.2.3-py3-none-any.whl", true],
  ["/downloads/spotwire_client-1.2.4-py3-none-any.whl", false],
  ["/downloads/whatever", false],
  ["/markets/EURUSD", true],
  ["/markets/EURUSD/opengraph-image", true],
  ["/markets/NONESUCH", true],
  ["/markets/nonesuch", false],
  ["/markets/NO", false],
  ["/markets/NONESUCHNONESUCHNONES", false],
  ["/markets/NONESUCH/opengraph-image", false],
  ["/data/EURUSD", true],
  ["/data/NONESUCH", false],
  ["/whatever", false],
  ["/whatever/", false],
  ["/_next/image", true],
  ["/_next/static/whatever.js", false],
])("whether %s has a page is known without Next: %s", (asked, known) => {
  routes.learn(SITEMAP);
  expect(routes.has(asked)).toBe(known);
});

test.each([
  ["/markets/eurusd", "/markets/EURUSD"],
  ["/markets/EUR-USD?venue=live&timeframe=H4", "/markets/EURUSD?venue=live&timeframe=H4"],
  ["/markets/EUR/USD", "/markets/EURUSD"],
  ["/markets/eur%2Fusd", "/markets/EURUSD"],
  ["/data/eur_usd", "/data/EURUSD"],
  ["/markets/EURUSD", undefined],
  ["/data/EURUSD?year=2025", undefined],
  ["/markets/EURUSD/opengraph-image", undefined],
  ["/markets/nonesuch", undefined],
  ["/markets/search.json", undefined],
  ["/docs/eurusd", undefined],
])("a listed ticker that %s writes otherwise has its page at %s", (asked, page) => {
  expect(routes.plain(asked)).toBe(page);
});
