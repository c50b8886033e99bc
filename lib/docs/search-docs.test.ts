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
  });
  expect((await find("orchard")).map(({ href }) => href)).toEqual(["/docs/guide"]);
  expect(await find("xyzzyplugh")).toEqual([]);
});
