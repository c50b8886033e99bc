import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { DAY_MS } from "#lib/units";
import { ANSWERED, BROWSER_TIMEOUT_MS, borrowBrowser, openPage, returnBrowser, STEP_MAX_MS } from "./browser";
import { type Mailbox, openMailbox } from "./mailbox";
import { createVisits, expectToFit, expectToStay, type Reading } from "./reading";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { createVisitor, signUp, type Visitor } from "./visitor";

const EMAIL = "keyboard@example.test";
const PASSWORD = "correct horse battery";
const PAGE_MAX_MS = 60_000;
/** Presses of Tab that a reader has the patience for. */
const TABS_MAX_COUNT = 60;

const PUBLIC_PAGES = [
  "/",
  "/markets",
  "/markets/XAUUSD",
  "/data",
  "/data/TESTGAP",
  "/status",
  "/plans",
  "/playground",
  "/playground?op=quoteStream",
  "/docs",
  "/docs/quickstart",
  "/docs/market-status",
  "/docs/streaming",
  "/docs/operations/klines",
  "/docs/errors/rate-limited",
  "/docs/errors/unknown-ticker",
  "/signup",
  "/signin",
  "/signin?error=CredentialsSignin",
  "/forgot",
  "/reset#token=none",
  "/verify#token=none",
  "/cancel-email#token=none",
  "/nothing-here",
];
/** What a page of Next alone weighs, after gzip. */
const BARE_NEXT_BYTES = 135_000;
/** What public pages may add. */
const ADDED_MAX_BYTES: Readonly<Record<string, number>> = {
  "/": 45_000,
  "/status": 45_000,
  "/plans": 45_000,
  "/markets": 90_000,
  "/markets/XAUUSD": 90_000,
  "/data": 45_000,
  "/data/TESTGAP": 45_000,
  "/docs": 90_000,
  "/docs/quickstart": 90_000,
  "/docs/operations/klines": 90_000,
  "/playground": 110_000,
  "/playground?op=quoteStream": 110_000,
};
const OWN_PAGES = [
  "/connect",
  "/dashboard",
  "/dashboard/keys",
  "/dashboard/links",
  "/dashboard/usage",
  "/dashboard/logs",
  "/dashboard/webhooks",
  "/dashboard/organisation",
  "/dashboard/account",
];
const OWN_PAGE_ADDED_MAX_BYTES = 110_000;
const WIDE_PX = 1440;
const NARROW_PX = 390;
const CALLS = 12;
const LONG_NAME = "Web shop of the eastern branch, production 2";
/** Usage is written every two seconds. */
const COUNTED = { timeout: 60_000, interval: 250 };

/** Scripts of an HTML page that a modern browser loads with it; what is loaded later, when it is shown, is not among them. */
const SCRIPT = /<script\b(?![^>]*\bnomodule\b)[^>]*\bsrc="([^"]+)"/gi;

let product: Product;
let browser: Browser;
let mailbox: Mailbox;
/** One who has just signed up, and one with keys, calls, a log and a second factor. */
const readers: Record<"new" | "busy", Visitor | undefined> = { new: undefined, busy: undefined };
/** The tab that pages are checked in, one after the other: a new tab costs more processor time than the page in it. */
let reading: Reading;

const signUpAs = (email: string, address: string) =>
  signUp({ baseUrl: product.baseUrl, mailbox }, { email, password: PASSWORD, address });

/** Keys, one of them revoked, calls that worked and calls that did not, and an authenticator app. */
async function fillAccount(visitor: Visitor): Promise<void> {
  const settings = { venue: "sandbox", scopes: ["market:read"], origins: ["https://app.example.test"], expires_at: null };
  const made: { text: string; id: string }[] = [];
  for (const name of ["Backtests", "Backtests", LONG_NAME]) {
    const { text, key } = (await visitor.call("POST", "keys", { ...settings, name })).data;
    made.push({ text: String(text), id: (key as { id: string }).id });
  }
  const link = { name: "Budget file", key_id: made.at(-1)?.id, operation: "latestQuotes", parameters: { tickers: "EURUSD" } };
  const expires_at = new Date(Date.now() + DAY_MS).toISOString();
  expect((await visitor.call("POST", "links", { ...link, expires_at })).status).toBe(200);
  for (let call = 0; call < CALLS; call++) {
    const authorization = `Bearer ${made[call % made.length]?.text}`;
    const ticker = call % 4 === 0 ? "NOPE" : "EURUSD";
    await fetch(`${product.baseUrl}/api/v1/market/quotes/latest?tickers=${ticker}`, { headers: { authorization } });
  }
  await vi.waitFor(async () => expect((await visitor.call("GET", "logs")).data.items).toHaveLength(CALLS), COUNTED);
  expect((await visitor.call("POST", `keys/${made[0]?.id}/revoke`, { confirm: "Backtests" })).status).toBe(200);
  await visitor.addApp();
}

beforeAll(async () => {
  mailbox = await openMailbox();
  [product, browser] = await Promise.all([
    startProduct({ SMTP_URL: mailbox.url, TRUSTED_PROXIES: "127.0.0.1", PLANS_PAGE: "public" }),
    borrowBrowser(),
  ]);
  readers.new = await signUpAs("new@example.test", "203.0.113.1");
  readers.busy = await signUpAs("busy@example.test", "203.0.113.2");
  await fillAccount(readers.busy);
  reading = await createVisits(() => browser)();
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await returnBrowser(browser);
  await product?.dispose();
  await mailbox?.close();
}, SERVER_TIMEOUT_MS);

let visits = 0;
/** Opens a page as a visitor who has nothing of it cached, stored or used up. */
async function open(path: string, width: number, visitor?: Visitor): Promise<void> {
  visits += 1;
  const cookies = visitor?.cookies ?? new Map();
  await reading.open(product.baseUrl + path, { width, cookies, address: `203.0.${visits}.1` });
}

function expectToWeigh(name: string, bytes: number, maxBytes: number): void {
  process.stdout.write(`  ${name}: ${(bytes / 1_000).toFixed(1)} kB of JavaScript\n`);
  expect(bytes, name).toBeGreaterThan(BARE_NEXT_BYTES / 2);
  expect(bytes, name).toBeLessThanOrEqual(maxBytes);
}

async function gzipBytes(path: string): Promise<number> {
  return gzipSync(Buffer.from(await (await fetch(product.baseUrl + path)).arrayBuffer())).length;
}

/** Except for the line of a page that does not exist. */
function expectNoProblems(): void {
  expect(reading.problems.filter((text) => !ANSWERED.test(text))).toEqual([]);
}

const nameOf = (path: string) => path.slice(1).replaceAll(/\W/g, "-") || "landing";

describe.each(PUBLIC_PAGES)("%s", (path) => {
  const added = ADDED_MAX_BYTES[path];

  test(
    "fits every width and colour scheme, with no finding against WCAG 2.2 AA and no error in the console",
    async () => {
      await open(path, WIDE_PX);
      if (added !== undefined) {
        expectToWeigh(`${path} at ${WIDE_PX}`, await reading.scriptBytes(), BARE_NEXT_BYTES + added);
        await expectToStay(reading, `${path} at ${WIDE_PX}`);
      }
      await expectToFit(reading.page, nameOf(path));
      expectNoProblems();
    },
    PAGE_MAX_MS,
  );

  test.runIf(added !== undefined)(
    "keeps to its budgets of script, all that comes without a click, and of layout shift, on a phone too",
    async () => {
      await open(path, NARROW_PX);
      expectToWeigh(`${path} at ${NARROW_PX}`, await reading.scriptBytes(), BARE_NEXT_BYTES + (added ?? 0));
      await expectToStay(reading, `${path} at ${NARROW_PX}`);
    },
    PAGE_MAX_MS,
  );
});

describe.each(OWN_PAGES)("%s", (path) => {
  test("loads no more script at first than its budget; charts come when they are shown", async () => {
    const cookie = [...(readers.busy as Visitor).cookies].map((pair) => pair.join("=")).join("; ");
    const html = await (await fetch(product.baseUrl + path, { headers: { cookie } })).text();
    const scripts = new Set([...html.matchAll(SCRIPT)].map(([, src = ""]) => src));
    expect(scripts.size).toBeGreaterThan(3);
    const sizes = await Promise.all([...scripts].map(gzipBytes));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    expectToWeigh(path, bytes, BARE_NEXT_BYTES + OWN_PAGE_ADDED_MAX_BYTES);
  });

  test(
    "fits every width and colour scheme, with no finding against WCAG 2.2 AA and no error in the console",
    async () => {
      await open(path, WIDE_PX, readers.busy);
      await expectToStay(reading, `${path} at ${WIDE_PX}, busy`);
      await expectToFit(reading.page, nameOf(path));
      expectNoProblems();
    },
    PAGE_MAX_MS,
  );

  test.each([
    { width: WIDE_PX, reader: "new" },
    { width: NARROW_PX, reader: "new" },
    { width: NARROW_PX, reader: "busy" },
  ] as const)(
    "stays where it is while it comes in, at $width pixels for a $reader account",
    async ({ width, reader }) => {
      await open(path, width, readers[reader]);
      await expectToStay(reading, `${path} at ${width}, ${reader}`);
    },
    PAGE_MAX_MS,
  );
});

test("a name that is too long for the log loses its middle, so that those that begin alike stay apart", async () => {
  await open("/dashboard/logs", WIDE_PX, readers.busy);
  const cell = reading.page.getByRole("cell", { name: LONG_NAME }).first();
  const [whole, end] = [await cell.boundingBox(), await cell.getByText(LONG_NAME.slice(-8), { exact: true }).boundingBox()];
  if (whole === null || end === null) throw new Error("no name");
  expect(whole.width).toBeLessThan(300);
  expect(end.x + end.width).toBeLessThanOrEqual(whole.x + whole.width);
});

describe.each(["/docs/operations/klines", "/docs", "/docs/streaming", "/playground"])("%s", (path) => {
  test.each([
    { part: "header", cut: "<main", what: "body > header > div" },
    { part: "main part", cut: "</main>", what: "main" },
  ])("has the width of its $part before the rest of the page comes in", async ({ cut, what }) => {
    const context = await browser.newContext({ viewport: { width: WIDE_PX, height: 900 }, javaScriptEnabled: false });
    const page = await context.newPage();
    const width = async () => (await page.locator(what).boundingBox())?.width;
    await page.goto(product.baseUrl + path);
    const whole = await width();
    const [start = ""] = (await page.content()).split(cut);
    await page.route(product.baseUrl + path, (route) => route.fulfill({ body: start, contentType: "text/html" }));
    await page.goto(product.baseUrl + path);
    expect(await page.locator("body > footer").count()).toBe(0);
    expect(await width()).toBe(whole);
    await context.close();
  });
});

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
    const context = await browser.newContext({
      viewport: { width: WIDE_PX, height: 900 },
      extraHTTPHeaders: { "x-forwarded-for": "198.51.100.11" },
    });
    const page = await context.newPage();
    const press = (key: string) => page.keyboard.press(key);
    await openPage(page, product.baseUrl);
    await tabTo(page, "link", "Create an account");
    await press("Enter");
    await page.waitForURL("**/signup");
    await page.getByRole("textbox", { name: "Email" }).waitFor();
    await type(page, "Email", EMAIL);
    await type(page, /^Password/, PASSWORD);
    await press("Enter");
    await page.getByText("We sent an email to").waitFor();

    await openPage(page, await mailbox.nextLink(EMAIL, "/verify"));
    await tabTo(page, "button", "Verify my email");
    await press("Enter");
    await page.waitForURL("**/dashboard/keys?new=1");
    await page.getByRole("dialog", { name: "Create your first key" }).waitFor();
    await type(page, "Name", "By keyboard");
    await tabTo(page, "radio", /^Sandbox|^Live/);
    if (!(await page.getByRole("radio", { name: "Sandbox" }).isChecked())) await press("ArrowRight");
    expect(await page.getByRole("radio", { name: "Sandbox" }).isChecked()).toBe(true);
    await tabTo(page, "button", "Create key");
    await press("Enter");
    await page
      .getByText(/sw_test_\w{36}/)
      .first()
      .waitFor();
    // It shows the key once, so Escape does not close it.
    await press("Escape");
    await tabTo(page, "button", "I've saved it");
    await press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });

    await openPage(page, `${product.baseUrl}/playground?op=latestQuotes&tickers=EURUSD`);
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
  });
});
