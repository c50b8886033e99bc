import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Browser, BrowserContext, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BROWSER_TIMEOUT_MS, openBrowser } from "./browser";
import { runCommand } from "./commands";
import { type Mailbox, openMailbox } from "./mailbox";
import { show } from "./reading";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { createVisitor, type Visitor } from "./visitor";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** The rules of WCAG 2.2 at level AA. */
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
const EMAIL = "keyboard@example.test";
const OWNER = "owner@example.test";
const PASSWORD = "correct horse battery";
const STEP_MAX_MS = 20_000;
const PAGE_MAX_MS = 60_000;
/** Presses of Tab that a reader has the patience for. */
const TABS_MAX_COUNT = 60;

const PUBLIC_PAGES = [
  "/",
  "/markets",
  "/markets/XAUUSD",
  "/status",
  "/playground",
  "/playground?op=quoteStream",
  "/docs",
  "/docs/quickstart",
  "/docs/market-status",
  "/docs/streaming",
  "/docs/operations/klines",
  "/docs/errors/rate-limited",
  "/signup",
  "/signin?error=CredentialsSignin",
  "/forgot",
  "/reset?token=none",
  "/verify?token=none",
  "/cancel-email?token=none",
  "/nothing-here",
];
const OWN_PAGES = [
  ...["/dashboard", "/dashboard/keys", "/dashboard/usage", "/dashboard/logs", "/dashboard/account"],
  ...[
    "/admin",
    "/admin/accounts",
    "/admin/plans",
    "/admin/calendars",
    "/admin/feeds",
    "/admin/data",
    "/admin/incidents",
    "/admin/audit",
  ],
];
const VIEWS = [
  { width: 1440, colorScheme: "light" },
  { width: 390, colorScheme: "dark" },
] as const;

let product: Product;
let browser: Browser;
let mailbox: Mailbox;
let owner: Visitor;
/** The tab that pages are checked in, one after the other: a new tab costs more processor time than the page in it. */
let tab: Page;

beforeAll(async () => {
  mailbox = await openMailbox();
  [product, browser] = await Promise.all([startProduct({ SMTP_URL: mailbox.url, TRUSTED_PROXIES: "127.0.0.1" }), openBrowser()]);
  owner = createVisitor(product.baseUrl, "198.51.100.9");
  await owner.call("POST", "sign-up", { email: OWNER, password: PASSWORD });
  await owner.call("POST", "verify", { token: new URL(await mailbox.nextLink(OWNER, "/verify")).searchParams.get("token") });
  expect(await owner.signIn(OWNER, PASSWORD)).toBeNull();
  const settings = { name: "First", venue: "sandbox", scopes: ["market:read"], origins: [], expires_at: null };
  const { data } = await owner.call("POST", "keys", settings);
  const headers = { authorization: `Bearer ${data.text}` };
  await fetch(`${product.baseUrl}/api/v1/market/quotes/latest?tickers=EURUSD,NOSUCH`, { headers });
  expect((await runCommand(product, "admin", ["grant", OWNER])).exitCode).toBe(0);
  await owner.addApp();
  const context = await browser.newContext();
  context.setDefaultTimeout(STEP_MAX_MS);
  tab = await context.newPage();
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await browser?.close();
  await product?.dispose();
  await mailbox?.close();
}, SERVER_TIMEOUT_MS);

let readers = 0;
async function openReader(): Promise<BrowserContext> {
  readers += 1;
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    extraHTTPHeaders: { "x-forwarded-for": `203.0.${readers}.1` },
  });
  context.setDefaultTimeout(STEP_MAX_MS);
  return context;
}

/** All violations of WCAG that axe finds on the page it was loaded into, as texts. */
async function findings(page: Page): Promise<string[]> {
  const run = `axe.run(document, { runOnly: ${JSON.stringify(TAGS)}, resultTypes: ["violations"] })`;
  const { violations } = (await page.evaluate(run)) as AxeResults;
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${impact} ${id}: ${target.join(" ")}\n${failureSummary}`),
  );
}

/** Opens a page once and lets axe judge it in each view; `signedIn` opens it as the owner. */
async function expectNoFindings(path: string, signedIn: boolean): Promise<void> {
  readers += 1;
  await tab.setExtraHTTPHeaders({ "x-forwarded-for": `203.0.${readers}.1` });
  await tab.context().clearCookies();
  if (signedIn)
    await tab.context().addCookies([...owner.cookies].map(([name, value]) => ({ name, value, url: product.baseUrl })));
  const [first] = VIEWS;
  await show(tab, first.width, first.colorScheme);
  await tab.goto(product.baseUrl + path, { waitUntil: "networkidle" });
  if (signedIn) expect(new URL(tab.url()).pathname).toBe(path);
  // The page's own policy does not apply to what its debugger evaluates.
  await tab.evaluate(AXE);
  for (const { width, colorScheme } of VIEWS) {
    await show(tab, width, colorScheme);
    expect(await findings(tab), `at ${width} px, ${colorScheme}`).toEqual([]);
  }
}

const AXE_TITLE = "axe finds nothing against WCAG 2.2 AA on %s, wide and light, and narrow and dark";
test.each(PUBLIC_PAGES)(AXE_TITLE, (path) => expectNoFindings(path, false), PAGE_MAX_MS);
test.each(OWN_PAGES)(AXE_TITLE, (path) => expectNoFindings(path, true), PAGE_MAX_MS);

/** The rings around what has the focus, or around its label where it is drawn as that. */
const RINGS = `[document.activeElement, document.activeElement.closest("label")]
  .filter((element) => element !== null)
  .map((element) => getComputedStyle(element))
  .flatMap(({ outlineStyle, boxShadow }) => [outlineStyle, boxShadow])
  .filter((ring) => ring !== "none")`;

/** Presses Tab until what has the focus is called so; it must be seen to have it. */
async function tabTo(page: Page, role: Parameters<Page["getByRole"]>[0], name: string | RegExp): Promise<void> {
  const wanted = page.getByRole(role, { name }).and(page.locator(":focus"));
  for (let presses = 0; presses < TABS_MAX_COUNT; presses += 1) {
    if ((await wanted.count()) > 0) {
      expect(await page.evaluate(RINGS), `focus on ${name} is not to be seen`).not.toEqual([]);
      return;
    }
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not reach ${role} ${name}`);
}

async function type(page: Page, name: string | RegExp, text: string): Promise<void> {
  await tabTo(page, "textbox", name);
  await page.keyboard.type(text);
}

describe("by the keyboard alone, a newcomer", () => {
  test("signs up, signs in, makes a key and calls with it in the playground", async () => {
    const context = await openReader();
    const page = await context.newPage();
    const press = (key: string) => page.keyboard.press(key);
    await page.goto(product.baseUrl, { waitUntil: "networkidle" });
    await tabTo(page, "link", "Create an account");
    await press("Enter");
    await page.waitForURL("**/signup");
    await page.getByRole("textbox", { name: "Email" }).waitFor();
    await type(page, "Email", EMAIL);
    await type(page, /^Password/, PASSWORD);
    await press("Enter");
    await page.getByText("We sent an email to").waitFor();

    await page.goto(await mailbox.nextLink(EMAIL, "/verify"), { waitUntil: "networkidle" });
    await tabTo(page, "button", "Verify my email");
    await press("Enter");
    await page.waitForURL("**/dashboard/keys?new=1");
    await page.getByRole("dialog", { name: "Create your first key" }).waitFor();
    await type(page, "Name", "By keyboard");
    await tabTo(page, "radio", /^Test|^Live/);
    if (!(await page.getByRole("radio", { name: "Test" }).isChecked())) await press("ArrowRight");
    expect(await page.getByRole("radio", { name: "Test" }).isChecked()).toBe(true);
    await tabTo(page, "button", "Create key");
    await press("Enter");
    await page
      .getByText(/sw_test_\w{36}/)
      .first()
      .waitFor();
    await press("Escape");
    await page
      .getByRole("dialog")
      .waitFor({ state: "detached" })
      .catch(() => undefined);

    await page.goto(`${product.baseUrl}/playground?op=latestQuotes&tickers=EURUSD`, { waitUntil: "networkidle" });
    await tabTo(page, "combobox", "Key");
    await press("ArrowDown");
    await page.getByRole("combobox", { name: "Key" }).getByText("By keyboard").first().waitFor({ state: "attached" });
    await tabTo(page, "button", "Send");
    await press("Enter");
    const answer = page.getByRole("region", { name: "Answer", exact: true });
    await answer.getByText("200 OK").waitFor();
    await expect
      .poll(
        async () => {
          const visitor = createVisitor(product.baseUrl, "198.51.100.10");
          await visitor.signIn(EMAIL, PASSWORD);
          const { data } = await visitor.call("GET", "logs");
          return (data.items as { path: string }[]).map(({ path }) => path);
        },
        { timeout: STEP_MAX_MS, interval: 1_000 },
      )
      .toContainEqual(expect.stringContaining("/quotes/latest"));
    await context.close();
  }, 120_000);
});
