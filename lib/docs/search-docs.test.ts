import { readdirSync, readFileSync } from "node:fs";
import { structure } from "fumadocs-core/mdx-plugins";
import { createSearchAPI } from "fumadocs-core/search/server";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { referencePages } from "./reference/pages";
import { nearDocs, searchDocs } from "./search-docs";
import { searchIndex } from "./search-index";

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

test("the docs search lists guides first and at most three sections of a page, each with its page", async () => {
  const hits = await find("apples");
  expect(hits).toHaveLength(4);
  expect(hits.at(-1)?.href).toBe("/docs/errors/apples");
  for (const { href, page } of hits.slice(0, 3)) expect([href.startsWith("/docs/guide#"), page]).toEqual([true, "Fruit"]);
});

test("the docs search puts an exact page title first, and finds words that are only in a title", async () => {
  expect((await find("no apples"))[0]).toEqual({
    id: "/docs/errors/apples",
    href: "/docs/errors/apples",
    text: "no_apples",
    page: undefined,
    excerpt: undefined,
  });
  expect((await find("orchard")).map(({ href }) => href)).toEqual(["/docs/guide"]);
  expect(await find("xyzzyplugh")).toEqual([]);
});

const GUIDES = "lib/docs/guides";

/** What the index is made of, from the texts of the guides and the reference. */
function pages() {
  const guides = readdirSync(GUIDES).flatMap((file) => {
    if (!file.endsWith(".mdx")) return [];
    const [, front = "", text = ""] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(readFileSync(`${GUIDES}/${file}`, "utf8")) ?? [];
    const head = parse(front) as { title: string; description: string; keywords?: string[] };
    const url = `/docs/${file.replace(".mdx", "")}`.replace(/\/index$/, "");
    return [{ type: "guides", url, data: { ...head, structuredData: structure(text) } }];
  });
  const reference = referencePages()
    // It takes as long to read as all others together.
    .filter(({ path }) => path !== "changelog")
    .map(({ path, title, description, body }) => ({
      type: "reference",
      url: `/docs/${path}`.replace(/\/index$/, ""),
      data: { title, description, structuredData: structure(body) },
    }));
  return [...guides, ...reference];
}

describe("what a developer types", () => {
  let address: string;
  beforeAll(async () => {
    const index = await searchIndex({ pages: pages() } as unknown as Parameters<typeof searchIndex>[0], (text) => text);
    address = addressOf(await index.text());
  });

  test.each([
    ["latest quotes", "/docs/operations/latest-quotes"],
    ["market status", "/docs/operations/market-status"],
    ["files", "/docs/operations/files"],
    ["instruments", "/docs/operations/instruments"],
    ["conversion", "/docs/operations/conversion"],
    ["trading hours", "/docs/operations/market-hours"],
    ["klines", "/docs/klines"],
    ["ticks", "/docs/ticks"],
    ["KlineWindow", "/docs/records/kline-window"],
    ["invalid ticker", "/docs/errors/invalid-ticker"],
    ["download", "/docs/files"],
    ["parquet", "/docs/files"],
    ["csv", "/docs/csv"],
    ["rate limit", "/docs/limits"],
    ["candles", "/docs/klines"],
  ])("%s finds its page first", async (query, page) => {
    expect((await searchDocs(address, query)).map(({ href }) => href)[0]).toBe(page);
  });

  test("each hit says how its page or part begins, in a line", async () => {
    const hits = [...(await searchDocs(address, "klines")), ...(await searchDocs(address, "rotate a key"))];
    expect(hits.find(({ href }) => href === "/docs/klines")?.excerpt).toMatch(/^\w.{60,120}$/);
    for (const { excerpt } of hits) expect(excerpt ?? "").toMatch(/^[^`|\n]{0,121}$/);
  });

  test.each([
    ["streaming", "/docs/streaming"],
    ["rate limit", "/docs/limits"],
    ["quikstart", "/docs/quickstart"],
    ["nope", undefined],
  ])("an address with the words %s is near to %s, each page once", async (words, page) => {
    const near = (await nearDocs(address, words)).map(({ href }) => href.replace(/#.*/, ""));
    expect(near[0]).toBe(page);
    expect(new Set(near).size).toBe(near.length);
  });

  test.each([
    ["klines", "/docs/operations/klines"],
    ["ticks", "/docs/operations/ticks"],
    ["quotes", "/docs/operations/latest-quotes"],
    ["snapsh", "/docs/operations/latest-snapshots"],
    ["summary", "/docs/operations/market-summary"],
    ["file", "/docs/operations/file"],
  ])("%s finds its operation above sections that mention it", async (query, page) => {
    const hits = await searchDocs(address, query);
    const firstSection = hits.findIndex((hit) => hit.page !== undefined);
    const place = hits.findIndex(({ href }) => href === page);
    expect(place).toBeGreaterThanOrEqual(0);
    expect(firstSection === -1 || place < firstSection).toBe(true);
  });
});
