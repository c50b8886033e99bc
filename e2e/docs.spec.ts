import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client, type ListResourcesResult, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Browser, BrowserContext, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ERROR_IDS, errorDocsPath } from "#lib/contract/errors";
import { MCP_RESOURCES_PER_PAGE_COUNT } from "#lib/contract/limits";
import { searchDocs } from "#lib/docs/search-docs";
import { OPERATION_LIST, operations } from "#lib/operations/declarations";
import { importTool } from "#lib/testing/tools";
import { DAY_MS } from "#lib/units";
import { BROWSER_TIMEOUT_MS, borrowBrowser, collectProblems, openPage, returnBrowser } from "./browser";
import { makeKey } from "./commands";
import { picture } from "./reading";
import { examplePath, type RecordedAnswer, type RecordedAnswers, SAMPLE_BASE } from "./recorded-answers";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

const HEIGHT_PX = 900;
/** What a page in Markdown must not hold: an address that is not this service's, and elements of the pages. */
const LEFT_OVER =
  /localhost:3000|<\/?(?:Tabs?|Views?|Callout|Cards?|Steps|Diagram|StatusTable|CloseCodes|LimitsTable|LinkLimits|ErrorsTable|Fields|OperationLink)\b/;

/** What of a page is code, or nothing that is read. */
const NO_PROSE = /<(script|style|pre|code|template)\b.*?<\/\1>|<(?!meta|img)[^>]*>/gs;

let product: Product;
let browser: Browser;

beforeAll(async () => {
  [product, browser] = await Promise.all([startProduct({ SUPPORT_EMAIL: "help@example.test" }), borrowBrowser()]);
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await returnBrowser(browser);
  await product?.dispose();
}, SERVER_TIMEOUT_MS);

const read = async (path: string) => {
  const response = await fetch(product.baseUrl + path);
  return { status: response.status, type: response.headers.get("content-type") ?? "", text: await response.text() };
};

/** A reader with a browser of their own; what it complains of is kept. */
async function openReader(width = 1440) {
  const context = await browser.newContext({ viewport: { width, height: HEIGHT_PX } });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  const problems: string[] = [];
  collectProblems(page, problems);
  const go = (path: string) => openPage(page, product.baseUrl + path);
  return { context, page, problems, go };
}

/** The pages that /llms.txt lists, as paths of their HTML. */
async function listedPages(): Promise<string[]> {
  const { text } = await read("/llms.txt");
  const base = product.baseUrl.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return [...text.matchAll(new RegExp(`\\]\\(${base}(/docs[^)]*)\\.md\\)`, "g"))].map(([, path = ""]) => path);
}

describe("every page", () => {
  test("is listed in /llms.txt, and there as HTML with one h1 and as Markdown with the same title", async () => {
    const paths = await listedPages();
    expect(paths.length).toBeGreaterThan(60);
    expect(new Set(paths).size).toBe(paths.length);
    for (const path of paths) {
      const [html, markdown] = await Promise.all([read(path), read(`${path}.md`)]);
      expect([html.status, markdown.status, markdown.type], path).toEqual([200, 200, "text/markdown; charset=utf-8"]);
      expect(html.text.match(/<h1/g), path).toHaveLength(1);
      const title = /^# (.+)$/m.exec(markdown.text)?.[1] ?? "?";
      expect(html.text, path).toContain(`>${title.replaceAll("&", "&amp;").replaceAll("'", "&#x27;")}</h1>`);
      expect(markdown.text, path).not.toMatch(LEFT_OVER);
    }
  });

  test("is in a group of /llms.txt, each with a heading of the second level", async () => {
    const { text } = await read("/llms.txt");
    const [head = "", ...groups] = text.split(/^## /m);
    expect(head).toMatch(/^# Spotwire\n\n> .+\n\nAgents connect to .+\n*$/);
    expect(groups.map((group) => group.split("\n", 1)[0])).toEqual([
      "Start",
      "Market data",
      "Tools",
      "Running it",
      "Reference",
      "Machine-readable documents",
    ]);
    for (const group of groups) expect(group).toMatch(/^ *- \[/m);
    expect(text).not.toContain("- **");
  });

  test("is in /llms-full.txt", async () => {
    const { text } = await read("/llms-full.txt");
    for (const path of await listedPages()) expect(text).toContain(`Page: ${product.baseUrl}${path}\n`);
  });

  test("shows no mark of code as it is written: neither one of the docs nor another public one", async () => {
    const { text } = await read("/sitemap.xml");
    const paths = [...text.matchAll(/<loc>https?:\/\/[^/<]+([^<]*)<\/loc>/g)].map(([, path]) => path || "/");
    expect(paths.length).toBeGreaterThan(100);
    for (const path of [...paths, ...OPERATION_LIST.map(({ id }) => `/playground?op=${id}`)]) {
      const page = await read(path);
      expect(page.text.replace(NO_PROSE, "").match(/.{0,60}`.{0,60}/g), path).toBeNull();
    }
  });

  test("is the target of an error's docs_url", async () => {
    for (const id of ERROR_IDS) {
      const { status, text } = await read(errorDocsPath(id));
      expect([status, text.includes(`>${id}</h1>`)], id).toEqual([200, true]);
    }
    const refused = (await (await fetch(product.baseUrl + operations.instruments.path)).json()) as { data: { docs_url: string } };
    expect(refused.data.docs_url).toBe(product.baseUrl + errorDocsPath("unauthorized"));
    expect((await read(errorDocsPath("unauthorized"))).text).toContain(">unauthorized</h1>");
  });

  test("that does not exist is 404, as HTML and as Markdown", async () => {
    expect((await read("/docs/no-such-page")).status).toBe(404);
    expect((await read("/docs/no-such-page.md")).status).toBe(404);
  });
});

describe("a reader", () => {
  let context: BrowserContext;
  let page: Page;
  let problems: string[];
  let go: (path: string) => Promise<unknown>;
  beforeAll(async () => {
    ({ context, page, problems, go } = await openReader());
  });
  afterAll(async () => {
    expect(problems).toEqual([]);
    await context.close();
  });

  test("finds a page by a word in it, with the keyboard alone", async () => {
    await go("/docs");
    const index = page.waitForResponse((response) => response.url().endsWith("/docs/search.json"));
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("conflation");
    expect((await index).status()).toBe(200);
    const hits = page.getByRole("group", { name: "Documentation" }).getByRole("option");
    await hits.first().waitFor();
    // Enter in the same moment as the last letter, before the hits of the new word are there.
    await page.getByRole("combobox").evaluate((field: HTMLInputElement) => {
      const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value") ?? {};
      set?.call(field, "unknown_ticker");
      field.dispatchEvent(new Event("input", { bubbles: true }));
      field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
    });
    await page.waitForURL(/\/docs\/errors\/unknown-ticker/);
  });

  test("keeps the language they chose, on the page and on the next one", async () => {
    await go("/docs/operations/klines");
    await page.getByRole("tab", { name: "Python" }).first().click();
    await page.getByText("from urllib.request import Request").first().waitFor();
    await go("/docs/operations/latest-quotes");
    expect(await page.getByRole("tab", { name: "Python" }).first().getAttribute("aria-selected")).toBe("true");
    const html = await (await context.request.get(`${product.baseUrl}/docs/operations/instruments`)).text();
    expect(html).toMatch(/aria-selected="true"[^>]*>Python</);
  });

  test("sends a call from the page of an operation, and reads the service's error there", async () => {
    await go("/docs/operations/latest-quotes");
    const form = page.getByRole("region", { name: "Try it" });
    await form.getByLabel("tickers").fill("EURUSD");
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByText("200 OK").waitFor();
    await form.getByLabel("tickers").fill("XXXYYY");
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByRole("alert").getByText("Not among your instruments: XXXYYY.").waitFor();
    expect(await form.getByRole("link", { name: "Open in playground" }).getAttribute("href")).toBe(
      "/playground?op=latestQuotes&tickers=XXXYYY",
    );
    const current = page.getByRole("navigation", { name: "Documentation" }).getByRole("link", { name: "Latest quotes" });
    const place = await current.boundingBox();
    expect(place !== null && place.y > 0 && place.y + place.height < HEIGHT_PX).toBe(true);
    // A refused call is an error in the browser's console too.
    problems.splice(0, problems.length, ...problems.filter((problem) => !problem.includes("404")));
  });

  test("reads the call of the form in the samples, in every language and as copied", async () => {
    const path = "/docs/operations/klines";
    await go(path);
    const example = "/api/v1/market/klines?ticker=EURUSD&timeframe=H1&from=1767225600&to=1767312000&limit=24";
    expect((await read(path)).text).toContain(`${product.baseUrl}${example}`.replaceAll("&", "&amp;"));
    const form = page.getByRole("region", { name: "Try it" });
    await form.getByLabel("ticker").fill("$(x)&USD");
    await form.getByLabel("timeframe").selectOption("M5");
    await form.getByLabel("from").fill("");
    const call = `"${product.baseUrl}/api/v1/market/klines?ticker=%24%28x%29%26USD&timeframe=M5&to=1767312000&limit=24"`;
    const sample = page.locator(".code-tabs figure.code").first();
    const languages = page.locator(".code-tabs").first().getByRole("tab");
    expect(await languages.count()).toBe(8);
    for (const language of await languages.all()) {
      await language.click();
      const code = (await sample.locator("pre").textContent()) ?? "";
      expect(code.replaceAll("'", '"'), String(await language.textContent())).toContain(call);
    }
    await sample.getByRole("button", { name: "Copy" }).click();
    await sample.getByRole("button", { name: "Copied" }).waitFor();
    expect(String(await page.evaluate("navigator.clipboard.readText()")).replaceAll("'", '"')).toContain(call);
    await page.getByRole("link", { name: "Latest quotes" }).first().click();
    await page.waitForURL(/latest-quotes$/);
    await sample.getByText("quotes/latest?tickers=EURUSD,XAUUSD").waitFor();
  });

  test("copies a page as Markdown, and code with this service's address in it", async () => {
    await go("/docs/operations/latest-snapshots");
    await page.getByRole("button", { name: "Copy as Markdown" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const copied = await page.evaluate("navigator.clipboard.readText()");
    expect(copied).toBe((await read("/docs/operations/latest-snapshots.md")).text);
    await page.getByRole("tab", { name: "curl" }).click();
    const sample = page.locator("figure.code").first();
    await sample.getByRole("button", { name: "Copy" }).click();
    await sample.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toContain(`curl "${product.baseUrl}/api/v1/market/snapshots`);
  });

  test("goes from page to page by the tree, the outline and what comes next", async () => {
    await go("/docs/quickstart");
    const tree = page.getByRole("navigation", { name: "Documentation" });
    expect(await tree.getByRole("link", { name: "Quickstart" }).getAttribute("aria-current")).toBe("page");
    await page.getByRole("navigation", { name: "Previous and next" }).getByRole("link", { name: /^Next/ }).click();
    await page.waitForURL(/\/docs\/authentication$/);
    await tree.getByRole("link", { name: "Limits", exact: true }).click();
    await page.waitForURL(/\/docs\/limits$/);
    const outline = page.getByRole("navigation", { name: "On this page" }).getByRole("link").last();
    await outline.click();
    const target = page.locator(await outline.getAttribute("href").then((href) => href ?? "?"));
    await expect.poll(() => target.evaluate((element) => element.getBoundingClientRect().top < window.innerHeight)).toBe(true);
    expect(page.url()).toContain("/docs/limits#");
  });

  test("opens the tree on a phone, where it is collapsed", async () => {
    await page.setViewportSize({ width: 390, height: HEIGHT_PX });
    await go("/docs/limits");
    const link = page.getByRole("navigation", { name: "Documentation" }).getByRole("link", { name: "Streaming" });
    expect(await link.isVisible()).toBe(false);
    await page.getByRole("button", { name: "All pages" }).click();
    await link.click();
    await page.waitForURL(/\/docs\/streaming$/);
    await link.waitFor({ state: "hidden" });
  });
});

test("a link to a heading opens the tab that has it, from another page, within the page and from the search", async () => {
  const { context, page, problems, go } = await openReader(1440);
  const tab = (name: string) => page.getByRole("tab", { name, exact: true });
  const heading = (name: string) => page.getByRole("heading", { name, exact: true });
  await go("/docs/files");
  await heading("List the files").waitFor();
  expect(await heading("Metadata").isVisible()).toBe(false);
  await page.getByRole("link", { name: "Columns", exact: true }).first().click();
  await heading("Metadata").waitFor();
  expect(await tab("Columns").getAttribute("aria-selected")).toBe("true");
  await tab("Download").click();
  await heading("List the files").waitFor();
  await go("/docs/files#metadata");
  await heading("Metadata").waitFor();
  await expect.poll(() => heading("Metadata").evaluate((one) => one.getBoundingClientRect().top < innerHeight)).toBe(true);
  // A link may hold anything.
  await go("/docs");
  await go("/docs/files#%E0%A4%A");
  await heading("List the files").waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("download a file");
  await page.getByRole("option").filter({ hasText: "Download a file" }).first().click();
  await heading("Download a file").waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

test("the palette lists the hits of the docs in the order of their search", async () => {
  const { context, page, go } = await openReader(1440);
  await go("/docs/klines");
  for (const query of ["files", "klines"]) {
    const expected = (await searchDocs(`${product.baseUrl}/docs/search.json`, query)).map(({ text }) => text);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill(query);
    const hits = page.getByRole("group", { name: "Documentation" }).getByRole("option");
    const shown = async () => (await hits.allInnerTexts()).map((text) => text.split("\n")[0]);
    await expect.poll(shown).toEqual(expected);
    await page.keyboard.press("Escape");
  }
  await context.close();
});

test("the search index leaves out the samples, headers, errors and examples of each operation", async () => {
  const { text } = await read("/docs/search.json");
  expect(text).toContain("/docs/operations/klines#parameters");
  expect(text).not.toMatch(/\/docs\/operations\/[a-z-]+#(?:request|headers|errors|response-example)"/);
});

/** The kinds of values of an answer, by name; lists by what they hold. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set(value.map((item) => JSON.stringify(shapeOf(item))))].sort();
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]));
}

test.each([1440, 390])("the page of an operation shows all languages at %i px, and its code as code", async (width) => {
  const { context, page, go } = await openReader(width);
  await go("/docs/operations/klines");
  const tabs = page.getByRole("tablist", { name: "Language" }).first();
  const edge = await tabs.evaluate((list) => list.getBoundingClientRect().right);
  expect(await tabs.getByRole("tab").count()).toBe(8);
  for (const tab of await tabs.getByRole("tab").all())
    expect(await tab.evaluate((one) => one.getBoundingClientRect().right), String(await tab.textContent())).toBeLessThanOrEqual(
      edge,
    );
  const head = page.locator("article header");
  expect(await head.locator("code").allTextContents()).toEqual(["from", "to"]);
  expect(await head.textContent()).not.toContain("`");
  expect(await page.locator("meta[name=description]").getAttribute("content")).not.toContain("`");
  await context.close();
});

test("a table on a phone names the column of each cell", async () => {
  const { context, page, go } = await openReader(390);
  await go("/docs/market-status");
  const cell = page.locator("#how-the-state-is-determined ~ section.table td").nth(1);
  expect(await cell.evaluate((element) => getComputedStyle(element, "::before").content)).toBe('"data"');
  await picture(page, "docs-table-390");
  await context.close();
});

test("links in Markdown and in /llms.txt lead to their pages", async () => {
  const { text } = await read("/docs/operations/klines.md");
  expect(text).toContain(`(${product.baseUrl}/playground?op=klines&ticker=EURUSD&timeframe=H1)`);
  const full = await read("/llms-full.txt");
  expect(full.text).not.toMatch(/\]\([^)\s]*\\/);
  const list = await read("/llms.txt");
  for (const path of ["/openapi.json", "/asyncapi.json", "/postman.json"])
    expect(list.text).toContain(`](${product.baseUrl}${path})`);
});

/** What a feed reader gets from a feed: its own parts, and its entries. Reading throws for what is not XML. */
function readFeed(text: string) {
  const feed = new DOMParser().parseFromString(text, "application/xml");
  if (feed.querySelector("parsererror") !== null) throw new Error(feed.documentElement.textContent ?? "");
  const textOf = (parent: ParentNode, name: string) => parent.querySelector(`:scope > ${name}`)?.textContent ?? "";
  const linkOf = (parent: ParentNode, rel: string) => parent.querySelector(`:scope > link${rel}`)?.getAttribute("href") ?? "";
  const root = feed.documentElement;
  return {
    root: `${root.namespaceURI} ${root.localName}`,
    id: textOf(root, "id"),
    title: textOf(root, "title"),
    author: root.querySelector(":scope > author > name")?.textContent ?? "",
    self: linkOf(root, "[rel=self]"),
    page: linkOf(root, ":not([rel])"),
    updated: textOf(root, "updated"),
    entries: [...root.querySelectorAll(":scope > entry")].map((entry) => {
      const body = new DOMParser().parseFromString(textOf(entry, "content"), "text/html").body;
      return {
        id: textOf(entry, "id"),
        title: textOf(entry, "title"),
        link: linkOf(entry, ":not([rel])"),
        updated: textOf(entry, "updated"),
        type: entry.querySelector(":scope > content")?.getAttribute("type"),
        items: body.querySelectorAll("li").length,
        links: [...body.querySelectorAll("a")].map((a) => a.getAttribute("href") ?? ""),
        elements: [...new Set([...body.querySelectorAll("*")].map(({ localName }) => localName))],
        // What is code may hold any sign.
        prose: body.innerHTML.replace(/<code>.*?<\/code>|<[^>]*>/gs, ""),
      };
    }),
  };
}

test("the feed of the changelog is Atom whose entries are HTML: no mark of Markdown is left, and links lead to their pages", async () => {
  const { status, type, text } = await read("/changelog.atom");
  expect([status, type]).toEqual([200, "application/atom+xml; charset=utf-8"]);
  const { context, page } = await openReader();
  const { entries, ...feed } = await page.evaluate(readFeed, text);
  await context.close();
  const at = `${product.baseUrl}/docs/changelog`;
  expect(feed).toMatchObject({
    root: "http://www.w3.org/2005/Atom feed",
    id: at,
    page: at,
    self: `${product.baseUrl}/changelog.atom`,
  });
  expect([feed.title, feed.author].every((one) => one !== "")).toBe(true);
  expect(entries.length).toBeGreaterThan(1);
  expect(feed.updated).toBe(entries[0]?.updated);
  expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
  const html = (await read("/docs/changelog")).text;
  for (const { id, title, link, updated, type: kind, items, links, elements, prose } of entries) {
    expect([kind, new URL(id).origin, title !== ""], id).toEqual(["html", product.baseUrl, true]);
    expect(new Date(updated).toISOString(), id).toBe(updated);
    expect(html, id).toContain(`id="${new URL(link).hash.slice(1)}"`);
    expect(items, id).toBeGreaterThan(0);
    expect(prose, id).not.toMatch(/`|\*\*|\]\(/);
    expect(
      elements.filter((name) => !["ul", "li", "p", "a", "code", "strong", "em"].includes(name)),
      id,
    ).toEqual([]);
    expect(
      links.filter((target) => !URL.canParse(target)),
      id,
    ).toEqual([]);
  }
  const own = new Set(entries.flatMap(({ links }) => links).filter((target) => target.startsWith(`${product.baseUrl}/docs`)));
  expect(own.size).toBeGreaterThan(0);
  for (const target of own) expect((await fetch(target)).status, target).toBe(200);
});

test("programs find the interfaces, the contact for security and the skill file at their well-known URLs", async () => {
  const catalog = await read("/.well-known/api-catalog");
  expect(catalog.type).toContain("application/linkset+json");
  const { linkset } = JSON.parse(catalog.text) as { linkset: Record<string, { href: string }[] | string>[] };
  expect(linkset.map(({ anchor }) => anchor)).toEqual([`${product.baseUrl}/api/v1`, `${product.baseUrl}/mcp`]);
  const targets = linkset.flatMap(({ anchor: _, ...links }) =>
    Object.values(links).flatMap((list) => list as { href: string }[]),
  );
  for (const { href } of targets) expect((await fetch(href)).status, href).toBe(200);
  const contact = await read("/.well-known/security.txt");
  expect(contact.text).toMatch(/^Contact: mailto:help@example\.test\nExpires: \d{4}-\d\d-\d\dT00:00:00\.000Z\n/);
  const expires = Date.parse(/Expires: (.+)/.exec(contact.text)?.[1] ?? "");
  expect(expires).toBeGreaterThan(Date.now() + DAY_MS);
  const skill = await read("/skill.md");
  expect(skill.text).toMatch(/^---\nname: market-data\ndescription: .+\n---\n/);
  expect(skill.text).toContain(`${product.baseUrl}/mcp`);
});

describe("the documentation over MCP", () => {
  /** An agent without a key. */
  async function withAgent<Result>(work: (agent: Client) => Promise<Result>): Promise<Result> {
    const agent = new Client({ name: "an agent", version: "1" });
    await agent.connect(new StreamableHTTPClientTransport(new URL("/mcp", product.baseUrl)));
    return work(agent).finally(() => agent.close());
  }

  test("lists every page once, in bounded pages, and reads it as its Markdown", async () => {
    await withAgent(async (agent) => {
      const found: { uri: string; title?: string | undefined }[] = [];
      let cursor: string | undefined = "0";
      do {
        const { resources, nextCursor }: ListResourcesResult = await agent.listResources({ cursor });
        expect(resources.length).toBeLessThanOrEqual(MCP_RESOURCES_PER_PAGE_COUNT);
        found.push(...resources);
        cursor = nextCursor;
      } while (cursor !== undefined);
      expect(found.map(({ uri }) => uri)).toEqual((await listedPages()).map((path) => `${product.baseUrl}${path}.md`));
      const klines = found.find(({ uri }) => uri.endsWith("/docs/klines.md"));
      const { contents } = await agent.readResource({ uri: klines?.uri ?? "" });
      const { text } = await read("/docs/klines.md");
      expect(contents).toEqual([{ uri: klines?.uri, mimeType: "text/markdown", text }]);
      expect(text).toContain(`# ${klines?.title}\n`);
    });
  });

  test.each(["/docs/no-such-page.md", "/docs/klines", "/", "/openapi.json", "/dashboard"])("has no resource %s", async (path) => {
    const reading = withAgent((agent) => agent.readResource({ uri: product.baseUrl + path }));
    await expect(reading).rejects.toMatchObject({ code: -32_602 });
  });

  test("is found and read by tools too, for hosts that show no resources", async () => {
    await withAgent(async (agent) => {
      const textOf = async (name: string, args: Record<string, string>) =>
        ((await agent.callTool({ name, arguments: args })).content as { text: string }[])[0]?.text ?? "";
      const url = `${product.baseUrl}/docs/limits.md`;
      expect(await textOf("searchDocs", { query: "rate limits" })).toContain(`](${url})`);
      expect(await textOf("readDocs", { url })).toBe((await read("/docs/limits.md")).text);
      expect(await textOf("readDocs", { url: `${product.baseUrl}/dashboard` })).toContain("not_found");
    });
  });

  test("refuses a cursor that it did not give", async () =>
    expect(withAgent((agent) => agent.listResources({ cursor: "next" }))).rejects.toMatchObject({ code: -32_602 }));
});

interface Newman {
  readonly default: {
    run(options: object, done: (error: Error | null, summary: { readonly run: CollectionRun }) => void): void;
  };
}
interface CollectionRun {
  readonly failures: readonly {
    readonly source?: { readonly name?: string };
    readonly error: { test: string; message: string };
  }[];
  readonly stats: { readonly assertions: { readonly total?: number } };
}

/** Runs a collection as Postman does; resolves to the failed tests and how many there were. */
async function runCollection(collection: object, key: string) {
  const { default: newman } = await importTool<Newman>("newman");
  return await new Promise<{ failures: string[]; tests: number }>((resolve, reject) => {
    newman.run({ collection, environment: { values: [{ key: "key", value: key }] } }, (error, { run }) => {
      if (error) return reject(error);
      const failures = run.failures.map((failure) => `${failure.source?.name}: ${failure.error.test} ${failure.error.message}`);
      resolve({ failures, tests: run.stats.assertions.total ?? 0 });
    });
  });
}

describe("the Postman collection", () => {
  test.each(["demo", "live, for pushing", "live, for reading", "unknown", "none"])("is green with a key: %s", async (kind) => {
    const made = async (scopes: string) => (await makeKey(product, { venue: "live", scopes })).text;
    const keys: Readonly<Record<string, () => Promise<string> | string>> = {
      demo: () => product.demoKey ?? "",
      "live, for pushing": () => made("market:ingest"),
      "live, for reading": () => made("market:read,market:stream"),
      unknown: () => "sw_test_unknown",
      none: () => "",
    };
    const collection = JSON.parse((await read("/postman.json")).text) as object;
    const { failures, tests } = await runCollection(collection, (await keys[kind]?.()) ?? "");
    expect(failures).toEqual([]);
    expect(tests).toBe(2 * OPERATION_LIST.length);
  });

  test("is red against a service that answers something else", async () => {
    const wrong = createServer((_, response) => response.end('{"code":0,"message":"success","data":{}}'));
    await new Promise<void>((resolve) => wrong.listen(0, "127.0.0.1", resolve));
    const base = `http://127.0.0.1:${(wrong.address() as AddressInfo).port}`;
    const collection = (await read("/postman.json")).text.replaceAll(product.baseUrl, base);
    const { failures } = await runCollection(JSON.parse(collection) as object, "any");
    wrong.close();
    expect(failures).toHaveLength(OPERATION_LIST.length);
  });
});

test("samples of the reference run unchanged with the demo key", async () => {
  const { text } = await read("/docs/operations/latest-quotes.md");
  expect(text).toContain(`-H "Authorization: Bearer ${product.demoKey}"`);
  expect(text).not.toContain("SPOTWIRE_KEY");
  expect((await read("/docs/operations/ingest-ticks.md")).text).toContain("a key with the scope `market:ingest`");
});

describe("the examples", () => {
  const recorded = JSON.parse(readFileSync("lib/docs/reference/recorded.json", "utf8")) as RecordedAnswers;
  const ask = async ({ path, method }: RecordedAnswer) => {
    const headers = { authorization: `Bearer ${product.demoKey}` };
    return (await fetch(product.baseUrl + path, { method, headers })).json();
  };

  test("are exactly the sandbox's answers, where those never change", async () => {
    for (const id of ["klines", "instruments"] as const)
      expect(await ask(recorded.operations[id]), "run `npm run docs:examples`").toEqual(recorded.operations[id].body);
  });

  test.each(["latestQuotes", "latestSnapshots", "marketStatus", "createStreamTicket", "key"] as const)(
    "have the shape of %s",
    async (id) => {
      const answer = recorded.operations[id];
      expect(answer.path).toBe(examplePath(id));
      expect(shapeOf(await ask(answer)), "run `npm run docs:examples`").toEqual(shapeOf(answer.body));
    },
  );

  test("of refused calls are refused with the same text", async () => {
    for (const id of ["invalid_ticker", "invalid_range", "unknown_ticker", "not_found"] as const) {
      const answer = recorded.errors[id];
      if (answer === undefined) throw new Error(`${id} was not recorded.`);
      const [was, got] = [answer.body as { data: object }, await ask(answer)];
      const is = JSON.parse(JSON.stringify(got).replaceAll(product.baseUrl, SAMPLE_BASE)) as { data: object };
      expect({ ...is.data, request_id: "" }).toEqual({ ...was.data, request_id: "" });
    }
  });
});

test("all downloads exist", async () => {
  for (const path of ["/openapi.json", "/asyncapi.json", "/postman.json", "/grafana.json"]) {
    const { status, text } = await read(path);
    expect([status, typeof JSON.parse(text)], path).toEqual([200, "object"]);
  }
  expect((await read("/postman.json")).text).toContain(product.baseUrl);
  const { status, text } = await read("/downloads/Spotwire.mq5");
  expect([status, text.includes(`"${product.baseUrl}"`)]).toEqual([200, true]);
});

test("npm installs the typed client from the service, and it makes a call", async () => {
  const folder = await mkdtemp(join(tmpdir(), "spotwire-install-"));
  try {
    await writeFile(join(folder, "package.json"), "{}");
    const run = promisify(execFile);
    const cache = join(folder, "cache");
    // Nothing of it comes from a registry, which npm asks about the optional `ws` and does without.
    const options = [
      "--registry=http://127.0.0.1:9/",
      `--cache=${cache}`,
      "--fetch-retries=0",
      "--no-audit",
      "--no-fund",
      "--update-notifier=false",
    ];
    await run("npm", ["install", `${product.baseUrl}/spotwire-client.tgz`, ...options], { cwd: folder });
    const program = `import { createClient } from "spotwire-client";
      const client = createClient({ baseUrl: process.argv[2], key: process.argv[3] });
      console.log((await client.latestQuotes({ tickers: ["EURUSD"] })).items[0].ticker);`;
    await writeFile(join(folder, "call.mjs"), program);
    const { stdout } = await run(process.execPath, ["call.mjs", product.baseUrl, product.demoKey ?? ""], { cwd: folder });
    expect(stdout).toBe("EURUSD\n");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test.each([
  ["rate limit", "/docs/limits"],
  ["rate limits", "/docs/limits"],
  ["timeframe", "/docs/klines"],
  ["candles", "/docs/klines"],
  ["license", "/docs/self-hosting#license"],
  ["docker", "/docs/self-hosting"],
  ["websocket", "/docs/streaming"],
  ["api key", "/docs/authentication"],
  ["unknown_ticker", "/docs/errors/unknown-ticker"],
  ["latest quotes", "/docs/operations/latest-quotes"],
  ["files", "/docs/operations/files"],
  ["ticks", "/docs/ticks"],
])("the search of the docs answers %s with %s first", async (query, page) => {
  expect((await searchDocs(`${product.baseUrl}/docs/search.json`, query))[0]?.href).toBe(page);
});
