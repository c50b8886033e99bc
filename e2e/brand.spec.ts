import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BROWSER_TIMEOUT_MS, borrowBrowser, openPage, returnBrowser } from "./browser";
import { runCommand } from "./commands";
import { type Mailbox, openMailbox, tokenIn } from "./mailbox";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { createVisitor, signUp, type Visitor } from "./visitor";

const EMAIL = "ada@example.test";
const PASSWORD = "correct horse battery";
const LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><circle cx="12" cy="12" r="11" fill="#0b6e4f"/></svg>';
const LOGO_DARK = LOGO.replace("#0b6e4f", "#5fd3a8");
const BRAND = {
  BRAND_NAME: "Acme & Sons",
  BRAND_ACCENT: "#0b6e4f",
  BRAND_ACCENT_DARK: "#5fd3a8",
  BRAND_CREDIT: "off",
  SUPPORT_EMAIL: "help@acme.example",
  SUPPORT_URL: "https://acme.example/help",
  KEY_PREFIX: "acme",
  DOCS_OPERATOR: "off",
};
/** Those of the portal for everybody, and what is not there. */
const PORTAL_PAGES =
  "signin signup forgot reset verify invitation cancel-email connect no-such-page markets/NONE data/NONE docs/none outbox".split(
    " ",
  );
const OWN_PAGES = ["", "/keys", "/links", "/usage", "/logs", "/webhooks", "/organisation", "/account"].map(
  (path) => `dashboard${path}`,
);
const ADMIN_PAGES = [
  "",
  "/accounts",
  "/plans",
  "/billing",
  "/calendars",
  "/feeds",
  "/data",
  "/data/EURUSD",
  "/incidents",
  "/audit",
].map((path) => `admin${path}`);
/** Documents that hold no code. */
const DOCUMENTS = [
  "openapi.json",
  "asyncapi.json",
  "grafana.json",
  "postman.json",
  "llms.txt",
  "skill.md",
  "data.json",
  "status.json",
  "status.atom",
  "robots.txt",
  "sitemap.xml",
];
/** Scripts repeat the page; in code the word is a class or a file. */
const CODE = /<script\b[\s\S]*?<\/script>|<pre\b[\s\S]*?<\/pre>|<code\b[\s\S]*?<\/code>|\/downloads\/Spotwire\.mq5/g;
const MARKDOWN_CODE = /```[\s\S]*?```|`[^`\n]*`|\/downloads\/Spotwire\.mq5/g;

let product: Product;
let browser: Browser;
let mailbox: Mailbox;
let folder: string;
let owner: Visitor;
/** All pages of the sitemap, as paths. */
let listed: readonly string[];
/** The pages of an owner who is an operator, as paths. */
let ownPages: readonly string[];
/** Pages of the section for operators, and links to them. */
let operatorPage: RegExp;

async function read(path: string, visitor?: Visitor): Promise<{ status: number; headers: Headers; text: string }> {
  const cookie = [...(visitor?.cookies ?? [])].map((pair) => pair.join("=")).join("; ");
  const response = await fetch(new URL(path, product.baseUrl), { headers: { cookie } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The pages of a sitemap, as paths. */
const pathsOf = (sitemap: string) => [...sitemap.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, url = ""]) => new URL(url).pathname);

/** The pages of the section for operators: what stands below its title in the menu of the docs. */
async function operatorPages(): Promise<RegExp> {
  const { pages } = JSON.parse(await readFile("lib/docs/guides/meta.json", "utf8")) as { pages: readonly string[] };
  const after = pages.slice(pages.indexOf("---Running it---") + 1);
  const names = after.slice(
    0,
    after.findIndex((name) => name.startsWith("---")),
  );
  expect(names).toEqual(expect.arrayContaining(["self-hosting", "plans", "changelog"]));
  return new RegExp(`/docs/(?:${names.join("|")})\\b`);
}

/** The texts of the pages of the sitemap, those of the portal, and those of an owner who is an operator, before scripts ran. */
async function allPages(): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  for (const path of [...listed, ...PORTAL_PAGES]) pages.set(path, (await read(path)).text);
  for (const path of ownPages) {
    const { status, text } = await read(path, owner);
    expect(status, path).toBe(200);
    pages.set(path, text);
  }
  return pages;
}

/** One page of each kind: of the sitemap those that are no docs, with one of each folder. */
function kindsOfPages(): string[] {
  const kinds = new Map(listed.map((path) => [path.replace(/^(\/[^/]+\/)[^/]+$/, "$1…"), path]));
  return [...kinds.values(), ...PORTAL_PAGES, ...ownPages];
}

beforeAll(async () => {
  mailbox = await openMailbox();
  folder = await mkdtemp(join(tmpdir(), "spotwire-brand-"));
  const logo = join(folder, "logo.svg");
  const logoDark = join(folder, "logo-dark.svg");
  await Promise.all([writeFile(logo, LOGO), writeFile(logoDark, LOGO_DARK)]);
  const logos = { BRAND_LOGO: logo, BRAND_LOGO_DARK: logoDark };
  const settings = { ...BRAND, ...logos, PLANS_PAGE: "public", SMTP_URL: mailbox.url, TRUSTED_PROXIES: "127.0.0.1" };
  [product, browser] = await Promise.all([startProduct(settings), borrowBrowser()]);
  owner = await signUp({ baseUrl: product.baseUrl, mailbox }, { email: EMAIL, password: PASSWORD, address: "198.51.100.1" });
  await owner.addApp();
  expect((await runCommand(product, "admin", ["grant", EMAIL])).exitCode).toBe(0);
  listed = pathsOf((await read("/sitemap.xml")).text);
  expect(listed.length).toBeGreaterThan(60);
  expect(listed).toContain("/plans");
  const { items } = (await owner.call("GET", "admin/accounts")).data as { items: readonly { id: string }[] };
  ownPages = [...OWN_PAGES, ...ADMIN_PAGES, `admin/accounts/${items[0]?.id}`];
  operatorPage = await operatorPages();
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await returnBrowser(browser);
  await product?.dispose();
  await mailbox?.close();
  if (folder !== undefined) await rm(folder, { recursive: true });
}, SERVER_TIMEOUT_MS);

describe("under another name", () => {
  test("no page names the program, and each has the name of the brand in its title", async () => {
    for (const [path, html] of await allPages()) {
      expect(html.replace(CODE, ""), path).not.toContain("Spotwire");
      expect(/<title>([^<]*)<\/title>/.exec(html)?.[1], path).toContain("Acme &amp; Sons");
    }
  });

  test(
    "nor does one after its scripts ran, in what it shows and in what screen readers say",
    async () => {
      const context = await browser.newContext();
      await context.addCookies([...owner.cookies].map(([name, value]) => ({ name, value, url: product.baseUrl })));
      const page = await context.newPage();
      for (const path of kindsOfPages()) {
        await openPage(page, new URL(path, product.baseUrl).href);
        expect(await page.title(), path).toContain("Acme & Sons");
        expect((await page.content()).replace(CODE, ""), path).not.toMatch(/Spotwire|\uE000/);
      }
      await context.close();
    },
    SERVER_TIMEOUT_MS,
  );

  test("no document names the program, and all that have keys in them have its prefix", async () => {
    for (const path of DOCUMENTS) {
      const { status, text } = await read(path);
      expect([status, text.includes("Spotwire")], path).toEqual([200, false]);
      expect(text, path).not.toMatch(/\bsw_(?:live|test|page|link)/);
    }
    const contact = { name: "Acme & Sons", email: "help@acme.example", url: "https://acme.example/help" };
    for (const [path, what] of [
      ["openapi.json", "data"],
      ["asyncapi.json", "streams"],
    ] as const)
      expect(JSON.parse((await read(path)).text).info).toMatchObject({ title: `Acme & Sons market ${what}`, contact });
    expect((await read("/status.atom")).text).toContain("<title>Acme &amp; Sons status</title>");
  });

  test("the docs as Markdown name it and its keys, and the program in code alone", async () => {
    for (const path of listed.filter((one) => one.startsWith("/docs"))) {
      const { status, text } = await read(`${path}.md`);
      expect(status, path).toBe(200);
      expect(text.replace(MARKDOWN_CODE, ""), path).not.toContain("Spotwire");
      expect(text, path).not.toMatch(/\bsw_(?:live|test|page|link)_|\bsw_…/);
    }
    expect((await read("/docs.md")).text).toContain("Acme & Sons is a market data service");
    expect((await read("/llms-full.txt")).text.replace(MARKDOWN_CODE, "")).not.toContain("Spotwire");
    expect((await read("/docs/authentication.md")).text).toContain("acme_(?:live|test)_[0-9A-Za-z]{36}");
  });

  test("emails name it, from its sender to its support", () => {
    expect(mailbox.texts.length).toBeGreaterThan(0);
    for (const mail of mailbox.texts) {
      expect(mail).not.toContain("Spotwire");
      expect(mail).toMatch(/^From: "?Acme & Sons"? <noreply@localhost>\r$/m);
      expect(mail).toContain("Support: https://acme.example/help or help@acme.example");
    }
    expect(mailbox.texts.join()).toContain("Welcome to Acme & Sons.");
  });

  test("authenticator apps, passkeys and agents are told its name", async () => {
    const stranger = createVisitor(product.baseUrl, "198.51.100.2");
    await stranger.call("POST", "sign-up", { email: "bob@example.test", password: PASSWORD });
    await stranger.call("POST", "verify", { token: tokenIn(await mailbox.nextLink("bob@example.test", "/verify")) });
    await stranger.signIn("bob@example.test", PASSWORD);
    expect(String((await stranger.call("POST", "second-factors/app")).data.uri)).toContain("issuer=Acme%20%26%20Sons");
    const body = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
    };
    const demoKey = /acme_test_[0-9A-Za-z]{36}/.exec(product.output())?.[0];
    const headers = {
      authorization: `Bearer ${demoKey}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const answer = await fetch(`${product.baseUrl}/mcp`, { method: "POST", headers, body: JSON.stringify(body) });
    expect(await answer.text()).toContain('"serverInfo":{"name":"acme-sons","title":"Acme & Sons"');
  });

  test("new keys have its prefix, and call the API", async () => {
    const settings = { name: "Shop", venue: "sandbox", scopes: ["market:read"], origins: [], expires_at: null };
    const { text } = (await owner.call("POST", "keys", settings)).data;
    expect(text).toMatch(/^acme_test_[0-9A-Za-z]{36}$/);
    const headers = { authorization: `Bearer ${text}` };
    expect((await fetch(`${product.baseUrl}/api/v1/market/quotes/latest?tickers=EURUSD`, { headers })).status).toBe(200);
  });
});

describe("without docs for operators", () => {
  test("the home page has one door, to this service, and compares it with nothing", async () => {
    const { text } = await read("/");
    expect(text).toContain("Use this service");
    for (const words of ["Run it yourself", "npm start", "Why not a hosted API, or your own script?"])
      expect(text).not.toContain(words);
  });

  test("their pages are 404 and nothing links to them", async () => {
    for (const path of ["/docs/self-hosting", "/docs/providers/oanda", "/docs/your-name", "/docs/changelog"])
      for (const address of [path, `${path}.md`]) expect((await read(address)).status, address).toBe(404);
    expect((await read("/changelog.atom")).status).toBe(404);
    for (const path of ["/llms.txt", "/llms-full.txt", "/sitemap.xml", "/docs/search.json"])
      expect((await read(path)).text, path).not.toMatch(operatorPage);
    expect((await read("/llms.txt")).text).not.toContain("Running it");
    for (const [path, html] of await allPages()) expect(html, path).not.toMatch(operatorPage);
    for (const path of listed.filter((one) => one.startsWith("/docs")))
      expect((await read(`${path}.md`)).text, path).not.toMatch(operatorPage);
  });

  test("each link of the docs leads to a page", async () => {
    const known = new Set(listed);
    for (const path of listed.filter((one) => one.startsWith("/docs"))) {
      const links = [...(await read(path)).text.matchAll(/href="(\/docs(?:\/[^"#?.]*)?)["#?]/g)].map(([, link = ""]) => link);
      expect(
        links.filter((link) => !known.has(link)),
        path,
      ).toEqual([]);
    }
  });
});

describe("the logo", () => {
  test.each([false, true])("is a picture that runs and loads nothing, signed in: %s", async (signedIn) => {
    const { status, headers, text } = await read("/brand/logo", signedIn ? owner : undefined);
    expect([status, text]).toEqual([200, LOGO]);
    expect((await read("/brand/logo-dark")).text).toBe(LOGO_DARK);
    expect(headers.get("content-type")).toBe("image/svg+xml; charset=utf-8");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'; style-src 'unsafe-inline'; sandbox");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("and the colour of the brand are on the page, in both themes", async () => {
    for (const [colorScheme, colour, file] of [
      ["light", "rgb(11, 110, 79)", "logo"],
      ["dark", "rgb(95, 211, 168)", "logo-dark"],
    ] as const) {
      const context = await browser.newContext({ colorScheme });
      const page = await context.newPage();
      await page.goto(product.baseUrl);
      const logo = page.locator("header img").filter({ visible: true });
      expect(await logo.evaluate((image: HTMLImageElement) => [image.naturalWidth > 0, new URL(image.src).pathname])).toEqual([
        true,
        `/brand/${file}`,
      ]);
      const link = page.locator("main a.text-accent").first();
      expect(await link.evaluate((element) => getComputedStyle(element).color)).toBe(colour);
      await context.close();
    }
  });

  test("pictures of the program are not among those of another brand", async () => {
    for (const path of ["/favicon.ico", "/apple-icon.png", "/brand/card.png", "/brand/nothing"])
      expect((await read(path)).status, path).toBe(404);
  });
});

test(
  "with the credit and the docs for operators, pages name the program there alone",
  async () => {
    await product.stop();
    product = await product.restart({ BRAND_CREDIT: "on", DOCS_OPERATOR: "on" });
    const feed = await read("/changelog.atom");
    // Its entries have code without marks.
    expect([feed.status, /\bSpotwire\b(?!\.mq5)/.test(feed.text)]).toEqual([200, false]);
    const all = pathsOf((await read("/sitemap.xml")).text);
    expect(all.filter((path) => operatorPage.test(path)).length).toBeGreaterThan(10);
    for (const path of all) {
      const named = (await read(path)).text.replace(CODE, "").match(/.{0,8}Spotwire.?/g);
      expect(named, path).toEqual(["Runs on Spotwire."]);
    }
  },
  SERVER_TIMEOUT_MS,
);
