import { readFileSync } from "node:fs";
import { createSearchAPI } from "fumadocs-core/search/server";
import { expect, test } from "vitest";
import { searchDocs } from "./search-docs";

const parts = [1, 2, 3, 4, 5].map((part) => ({
  url: `/docs/guide#${part}`,
  title: `Apples ${part}`,
  breadcrumbs: ["Guide", "Fruit"],
  content: "",
}));
const indexes = [
  { url: "/docs/errors/apples", title: "no_apples", breadcrumbs: ["Reference"], content: "apples apples" },
  { url: "/docs/guide", title: "Fruit", breadcrumbs: ["Guide"], content: "apples", keywords: "orchard" },
  ...parts,
];

const addressOf = (text: string) => `data:application/json,${encodeURIComponent(text)}`;

async function find(query: string) {
  return searchDocs(addressOf(await (await createSearchAPI("simple", { indexes }).staticGET()).text()), query);
}

test("brings guides first and three parts of a page, with the page each is on", async () => {
  const hits = await find("apples");
  expect(hits).toHaveLength(4);
  expect(hits.at(-1)?.href).toBe("/docs/errors/apples");
  for (const { href, page } of hits.slice(0, 3)) expect([href.startsWith("/docs/guide#"), page]).toEqual([true, "Fruit"]);
});

test("brings a page by its very name before all, and by words that are not in its text", async () => {
  expect((await find("no apples"))[0]).toEqual({
    id: "/docs/errors/apples",
    href: "/docs/errors/apples",
    text: "no_apples",
    page: undefined,
  });
  expect((await find("orchard")).map(({ href }) => href)).toEqual(["/docs/guide"]);
  expect(await find("xyzzyplugh")).toEqual([]);
});

// The index itself, as `npm run build` makes it.
test.each([
  ["rate limit", "/docs/limits"],
  ["rate limits", "/docs/limits"],
  ["timeframe", "/docs/klines"],
  ["candles", "/docs/klines"],
  ["license", "/docs/self-hosting"],
  ["docker", "/docs/self-hosting"],
  ["websocket", "/docs/streaming"],
  ["api key", "/docs/authentication"],
  ["unknown_ticker", "/docs/errors/unknown-ticker"],
])("the pages of this project answer %s with %s first", async (query, page) => {
  const built = addressOf(readFileSync(".next/server/app/docs/search.json.body", "utf8"));
  expect((await searchDocs(built, query))[0]?.href).toBe(page);
});
