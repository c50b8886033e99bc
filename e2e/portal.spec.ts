import { createHmac } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser, BrowserContext, Page, Request } from "playwright";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import {
  ANSWERED,
  BROWSER_TIMEOUT_MS,
  borrowBrowser,
  collectProblems,
  expectToBeLoaded,
  openPage,
  returnBrowser,
} from "./browser";
import { type MadeKey, runCommand } from "./commands";
import { type Mailbox, openMailbox, tokenIn } from "./mailbox";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { openSocket } from "./socket";
import { codeOf, createVisitor, signUp, type Visitor } from "./visitor";

const PASSWORD = "correct horse battery";
const NEW_PASSWORD = "staple battery horse correct";
const SITE = "https://app.example.test";
const OTHER_SITE = "https://elsewhere.example.test";
const QUOTES = "/api/v1/market/quotes/latest?tickers=";
const KEY = /sw_(?:test|live)_[0-9A-Za-z]{36}/;
/** Usage is written every two seconds; a page that is read before shows the calls of before. */
const COUNTED = { timeout: 60_000, interval: 500 };

let product: Product;
let browser: Browser;
let mailbox: Mailbox;
/** Where the pages of a group are. */
let site: string;
/** The browser of a group, and its developer. */
let context: BrowserContext;
let page: Page;
let email: string;
let visitor: Visitor;
/** Of all groups. */
const problems: string[] = [];
/** Texts of all keys that were made. */
const keys: string[] = [];
/** A receiver of webhooks, and what it got. */
const received: { headers: IncomingHttpHeaders; body: string }[] = [];
const receiver = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
  response.writeHead(204).end();
});
const receiverHost = () => `127.0.0.1:${(receiver.address() as AddressInfo).port}`;

beforeAll(async () => {
  mailbox = await openMailbox();
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const settings = { SMTP_URL: mailbox.url, TRUSTED_PROXIES: "127.0.0.1", WEBHOOK_ALLOWED_HOSTS: receiverHost() };
  [product, browser] = await Promise.all([startProduct(settings), borrowBrowser()]);
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await returnBrowser(browser);
  await product?.dispose();
  await mailbox?.close();
  receiver.close();
}, SERVER_TIMEOUT_MS);

let networks = 0;
/** An address in a network of its own, because limits are per network. */
function newAddress(): string {
  networks += 1;
  return `198.51.${networks}.1`;
}

const fromElsewhere = () => ({ extraHTTPHeaders: { "x-forwarded-for": newAddress() } });

/** Starts an empty browser. */
async function becomeStranger(host = "127.0.0.1"): Promise<void> {
  await context?.close();
  site = product.baseUrl.replace("127.0.0.1", host);
  context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...fromElsewhere() });
  page = await context.newPage();
  collectProblems(page, problems, ANSWERED);
}

/** Makes an account, into which the browser is not signed in. */
async function createAccount(): Promise<void> {
  const address = newAddress();
  email = `developer-${networks}@example.test`;
  visitor = await signUp({ baseUrl: product.baseUrl, mailbox }, { email, password: PASSWORD, address });
}

/** Starts a browser that is signed in to a new account. */
async function becomeDeveloper(host?: string): Promise<void> {
  await becomeStranger(host);
  await createAccount();
  await context.addCookies([...visitor.cookies].map(([name, value]) => ({ name, value, url: site })));
}

async function grantLive(): Promise<void> {
  expect((await runCommand(product, "admin", ["grant-live", email])).exitCode).toBe(0);
}

const goto = (path: string) => openPage(page, site + path);
const rowOf = (name: string) => page.getByRole("row").filter({ hasText: name });
const press = (name: string) => page.getByRole("button", { name, exact: true }).click();

/** The text of everything that browsers load of the build. */
async function builtFiles(): Promise<string[]> {
  const entries = await readdir(".next/static", { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && /\.(js|css|json)$/.test(entry.name));
  expect(files.length).toBeGreaterThan(5);
  return Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), "utf8")));
}

/** Calls the API with a key. */
function ask(key: string, origin?: string, path = `${QUOTES}EURUSD`): Promise<Response> {
  const headers: Record<string, string> = { authorization: `Bearer ${key}` };
  if (origin !== undefined) headers.origin = origin;
  return fetch(product.baseUrl + path, { headers });
}

const call = async (key: string, origin?: string) => (await ask(key, origin)).status;
const messageOf = async (answer: Promise<Response>) => ((await (await answer).json()) as { message: string }).message;

/** Asks the portal's API for a key. */
async function orderKey(path: string, body: object): Promise<MadeKey> {
  const { status, data } = await visitor.call("POST", path, body);
  expect(status).toBe(200);
  const text = String(data.text);
  keys.push(text);
  return { id: (data.key as MadeKey).id, text };
}

const addKey = (name: string, settings: object = {}) =>
  orderKey("keys", { name, venue: "sandbox", scopes: ["market:read", "market:stream"], origins: [], ...settings });

/** Reads the text of a key from the dialog that shows it once, and closes that. */
async function keepSecret(): Promise<string> {
  const dialog = page.getByRole("dialog");
  const text = await dialog.getByText(KEY).first().textContent();
  expect(await dialog.getByText("curl -H").textContent()).toContain(text ?? "?");
  await dialog.getByRole("button", { name: "I've saved it" }).click();
  await dialog.waitFor({ state: "detached" });
  const key = KEY.exec(text ?? "")?.[0] ?? "";
  keys.push(key);
  return key;
}

async function fillKey(name: string, kind: "Sandbox" | "Live", origin?: string): Promise<void> {
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("radio", { name: kind }).check();
  await dialog.getByLabel("Name").fill(name);
  if (origin !== undefined) await dialog.getByLabel("Allowed origins").fill(origin);
  await dialog.getByRole("button", { name: "Create key" }).click();
}

async function act(name: string, action: "Edit" | "Rotate" | "Revoke" | "Show URL"): Promise<void> {
  await page
    .getByRole("button", { name: `Actions for ${name}` })
    .last()
    .click();
  await page.getByRole("menuitem", { name: action }).click();
}

async function signIn(password: string, view: Page = page): Promise<void> {
  await view.getByLabel("Email").fill(email);
  await view.getByLabel("Password").fill(password);
  await view.getByRole("button", { name: "Sign in", exact: true }).click();
}

async function signOut(): Promise<void> {
  await page.getByRole("button", { name: "Sign out", exact: true }).first().click();
  await page.waitForURL("**/signin");
}

describe("a visitor without a session", () => {
  beforeEach(() => becomeStranger());

  test("is redirected to the sign-in page by every page of the dashboard, and back", async () => {
    for (const part of ["", "/keys", "/usage", "/logs?status=4xx", "/account"]) {
      await goto(`/dashboard${part}`);
      expect(new URL(page.url()).pathname).toBe("/signin");
    }
  });

  test("signs up, verifies the address with the link in the email, and is signed in and asked to create a first key", async () => {
    const own = "ada@example.test";
    await goto("/signup");
    await page.getByLabel("Email").fill(own);
    await page.getByLabel("Password").fill("short");
    // The server's error, not the browser's own check.
    await page.evaluate("document.forms[0].noValidate = true");
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByRole("alert").filter({ hasText: "Use at least 12 characters." }).waitFor();
    // The first answer is that of a service that rates too many passwords at once: the page asks again.
    const data = { detail: "Too many passwords at once.", request_id: "req_test", retry_after: 1 };
    const busy = { status: 429, json: { code: 42901, message: "rate_limited", data } };
    await page.route("**/api/portal/password/strength", (route) => route.fulfill(busy), { times: 1 });
    await page.getByLabel("Password").fill("password1234");
    await page.getByText("Easy to guess. This is similar to a commonly used password.").waitFor();
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByText("We sent an email to").waitFor();
    await openPage(page, await mailbox.nextLink(own, "/verify"));
    await page.getByRole("button", { name: "Verify my email" }).click();
    await page.waitForURL("**/dashboard/keys?new=1");
    const dialog = page.getByRole("dialog", { name: "Create your first key" });
    await dialog.getByRole("radio", { name: "Live" }).check();
    await dialog.getByText("Live keys need access that the operator grants.").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.waitForURL("**/dashboard/keys");
    await signOut();
  });

  test("has to verify the address before creating a key, and can create one as soon as it is verified in another tab", async () => {
    // Nothing here is refused.
    collectProblems(page, problems);
    await page.setViewportSize({ width: 390, height: 900 });
    const own = "grace@example.test";
    const account = { data: { email: own, password: PASSWORD }, headers: { origin: site } };
    expect((await context.request.post(`${site}/api/portal/sign-up`, account)).status()).toBe(200);
    await mailbox.nextLink(own, "/verify");
    await goto(`/signin?${new URLSearchParams({ next: "/dashboard/keys", email: own })}`);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.waitForURL("**/dashboard/keys");
    await page.getByRole("button", { name: "Create key" }).click();
    const dialog = page.getByRole("dialog", { name: "Verify your email first" });
    await dialog.waitFor();
    expect(await dialog.getByRole("textbox").count()).toBe(0);
    await dialog.getByRole("button", { name: "Resend the email" }).click();
    await dialog.getByText("Sent.").waitFor();
    const link = await mailbox.nextLink(own, "/verify");
    await dialog.getByRole("button", { name: "Close" }).click();

    const mail = await context.newPage();
    await openPage(mail, link);
    await mail.getByRole("button", { name: "Verify my email" }).click();
    await mail.getByRole("dialog", { name: "Create your first key" }).waitFor();
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("dialog", { name: "Create your first key" }).getByLabel("Name").waitFor();
  });

  test("sees the same error for a wrong password and an unknown address, then signs in and lands on the requested page", async () => {
    await createAccount();
    await goto("/dashboard/keys");
    await signIn("not the password");
    await page.getByText("Wrong email or password").waitFor();
    await page.getByLabel("Email").fill("nobody@example.test");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByText("Wrong email or password").waitFor();
    await signIn(PASSWORD);
    await page.waitForURL("**/dashboard/keys");
    expect(await page.getByText("No keys yet").count()).toBe(1);
  });

  test("opens links whose token is in the query, and learns of one that is incomplete", async () => {
    await goto("/reset?token=sent-by-an-older-version");
    await page.getByRole("heading", { name: "Set a new password" }).waitFor();
    await goto("/reset");
    await page.getByRole("heading", { name: "This link is incomplete" }).waitFor();
  });
});

describe("a developer without keys", () => {
  beforeAll(() => becomeDeveloper());

  test("is told what to ask for instead of a live key", async () => {
    await goto("/dashboard/keys");
    await page.getByRole("button", { name: "Create key" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("radio", { name: "Live" }).check();
    await dialog.getByRole("button", { name: "Ask for live access" }).waitFor();
  });

  test("creates a test key and, once an operator grants live data, a live key with an origin, each shown once", async () => {
    await grantLive();
    await goto("/dashboard/keys");
    await fillKey("Backtests", "Sandbox");
    expect(await keepSecret()).toMatch(/^sw_test_/);
    await fillKey("Web shop", "Live", "https://shop.test\nshop.test");
    const dialog = page.getByRole("dialog");
    await dialog
      .getByRole("alert")
      .filter({ hasText: /^Entry 2 must be scheme:\/\/host/ })
      .waitFor();
    expect(await dialog.getByLabel("Allowed origins").evaluate((field) => field === document.activeElement)).toBe(true);
    await dialog.getByLabel("Allowed origins").fill(SITE);
    await dialog.getByRole("button", { name: "Create key" }).click();
    expect(await keepSecret()).toMatch(/^sw_live_/);
    await goto("/dashboard/keys");
    expect(await page.content()).not.toMatch(KEY);
    expect(await rowOf("Web shop").textContent()).toContain(SITE);
    expect(await rowOf("Web shop").textContent()).toMatch(/Activeuntil \d\d \w+ \d{4}/);
    // Without its scripts, which would call.
    const markets = await context.request.get(`${site}/markets?venue=live`);
    expect(await markets.text()).toContain("No live feed yet.");
  });
});

describe("calls", () => {
  let sandboxKey: string;

  beforeAll(async () => {
    await becomeDeveloper();
    await grantLive();
    sandboxKey = (await addKey("Backtests")).text;
    const { text: liveKey } = await addKey("Web shop", { venue: "live", origins: [SITE] });
    const klines = await ask(sandboxKey, undefined, "/api/v1/market/klines?ticker=EURUSD&timeframe=M1&limit=3000");
    expect([klines.status, klines.headers.get("x-ratelimit-cost")]).toEqual([200, "3"]);
    // Nothing feeds the live venue here.
    expect(await call(liveKey, SITE)).toBe(503);
    expect(await call(liveKey, OTHER_SITE)).toBe(403);
    await vi.waitFor(async () => {
      expect((await visitor.call("GET", "logs")).data.items).toHaveLength(3);
      expect(JSON.stringify((await visitor.call("GET", "usage/month")).data.items)).toMatch(/"units":[1-9]/);
    }, COUNTED);
  });

  test("are in the usage, by key and by operation, with what they cost", async () => {
    await expect
      .poll(async () => {
        await goto("/dashboard/usage");
        return page.getByRole("region", { name: "Requests by key" }).getByRole("row").allTextContents();
      }, COUNTED)
      .toEqual([expect.any(String), expect.stringMatching(/^Backtests310/), expect.stringMatching(/^Web shop122/)]);
    expect(await page.getByRole("region", { name: "Requests by operation" }).getByRole("row").allTextContents()).toEqual([
      expect.any(String),
      expect.stringMatching(/^klines310/),
      expect.stringMatching(/^latestQuotes122/),
    ]);
    await page.locator("[data-bar=calls]:not([style*='height: 0%'])").first().waitFor();
    await page.getByRole("tab", { name: "Units" }).click();
    const bar = page.locator("[data-bar=units]:not([style*='height: 0%'])");
    await bar.first().hover({ force: true });
    await page.getByText(/^Units: [34]$/).waitFor();
    expect(await page.getByRole("link", { name: "How requests are counted" }).getAttribute("href")).toMatch(/^\/docs\/limits#/);
    await page.getByRole("region", { name: "Requests by key" }).getByRole("button", { name: "Backtests" }).click();
    await page.waitForURL(/\/usage\?key_id=/);
    await page.reload();
    await expectToBeLoaded(page);
    await expect.poll(() => page.getByRole("region", { name: "Requests by key" }).getByRole("row").count(), COUNTED).toBe(2);
  });

  test("are in the logs, which explain why one failed", async () => {
    await goto("/dashboard/logs");
    expect(await page.getByRole("row").count()).toBe(4);
    await page.getByLabel("Status").selectOption("4xx");
    await page.waitForURL("**/logs?status=4xx");
    await page.getByRole("button", { name: "GET /quotes/latest?tickers=EURUSD" }).click();
    await page.getByText("Why did this request fail?").waitFor();
    const dialog = await page.getByRole("dialog").textContent();
    expect(dialog).toContain(OTHER_SITE);
    expect(dialog).toContain("This key does not allow the origin of the request.");
    expect(dialog).toMatch(/Cost0, then \d+ of \d+ left in the minute/);
    expect(new URL(page.url()).searchParams.get("request")).toBeTruthy();
    await page.getByRole("link", { name: "Replay in playground" }).waitFor();
    await page.keyboard.press("Escape");
  });

  test("stay in the log while it cannot be read again, and are downloaded as CSV", async () => {
    await goto("/dashboard/logs");
    expect(await page.getByRole("row").count()).toBe(4);
    await page.route("**/api/portal/logs**", (route) => route.abort());
    await page.getByRole("button", { name: "Refresh", exact: true }).click();
    await page.getByRole("alert").getByRole("button", { name: "Try again" }).waitFor();
    expect(await page.getByRole("row").count()).toBe(4);
    await page.unroute("**/api/portal/logs**");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("button", { name: "Try again" }).waitFor({ state: "detached" });
    await page.getByLabel("Status").selectOption("4xx");
    await page.waitForURL("**/logs?status=4xx");
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Export CSV" }).click()]);
    const lines = (await readFile(await download.path(), "utf8")).trim().split("\r\n");
    expect([download.suggestedFilename(), lines.length]).toEqual(["requests.csv", 2]);
    expect(lines[1]).toContain(OTHER_SITE);
  });

  test("are downloaded with the usage, as CSV", async () => {
    await goto("/dashboard/usage");
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Export CSV" }).click()]);
    expect(download.suggestedFilename()).toMatch(/^usage-.*\.csv$/);
    expect(await readFile(await download.path(), "utf8")).toMatch(/^at,.*,units\r\n(?:.*\r\n)*.*,Backtests,klines,0,1,.*,3\r\n/);
  });

  test("are units of the month, added up, as a chart and as a table", async () => {
    await goto("/dashboard/usage");
    await page.getByRole("tab", { name: "Month" }).click();
    await page.getByText("Your plan has no monthly quota.").waitFor();
    await page.getByText("Show as a table").click();
    const rows = page.getByRole("region", { name: "Units of the month by day" }).getByRole("row");
    await expect.poll(() => rows.count(), COUNTED).toBe(new Date().getUTCDate() + 1);
    expect(await rows.nth(1).textContent()).toMatch(/^\d\d [A-Za-z]+[1-9]/);
  });

  test("are two of the first steps with their key, and a stream is the last", async () => {
    await goto("/dashboard");
    const steps = page.getByRole("region", { name: "First steps" });
    await steps.getByText("To do").waitFor();
    const client = await openSocket(product.baseUrl, { key: sandboxKey });
    await client.ask("subscribe", { stream: "quote", tickers: ["EURUSD"] });
    await client.next("quote");
    // Without a reload.
    await expect.poll(() => steps.getByText("Done").count(), COUNTED).toBe(3);
    await goto("/dashboard");
    expect(await steps.count()).toBe(0);
    const streams = page.locator("div").filter({ has: page.getByText("Stream connections", { exact: true }) });
    expect(await streams.last().textContent()).toMatch(/^Stream connections1opened since \w{3},? 00:00/);
    client.close();
  });
});

describe("the end of a key", () => {
  beforeAll(() => becomeDeveloper());

  test("rotates a key with an hour of grace, and both texts work during it", async () => {
    const { text: before } = await addKey("Nightly");
    await goto("/dashboard/keys");
    await act("Nightly", "Rotate");
    await page.getByRole("radio", { name: "24 hours" }).and(page.locator(":focus:checked")).waitFor();
    await page.getByRole("radio", { name: "1 hour" }).check();
    await page.getByRole("button", { name: "Rotate" }).click();
    const after = await keepSecret();
    expect(after).not.toBe(before);
    expect([await call(before), await call(after)]).toEqual([200, 200]);
    await page.getByText(/^(00:5\d:\d\d|01:00:00)$/).waitFor();
  });

  test("revokes the old key by typing its name, which ends its open stream", async () => {
    const { id, text } = await addKey("Backtests");
    const newer = await orderKey(`keys/${id}/rotate`, { grace: "1h" });
    await goto("/dashboard/keys");
    const client = await openSocket(product.baseUrl, { key: text });
    await client.ask("subscribe", { stream: "quote", tickers: ["EURUSD"] });
    await act("Backtests", "Revoke");
    const dialog = page.getByRole("alertdialog");
    const revoke = dialog.getByRole("button", { name: "Revoke key" });
    expect(await revoke.isDisabled()).toBe(true);
    await dialog.getByRole("textbox").fill("Backtests");
    await revoke.click();
    expect(await client.closed()).toEqual({ code: 4401, reason: "unauthorized" });
    await dialog.waitFor({ state: "detached" });
    await page.getByText("1 revoked or expired").click();
    await rowOf("Backtests").getByText("Revoked", { exact: true }).waitFor();
    expect([await call(text), await call(newer.text)]).toEqual([401, 200]);
  });

  test("revokes a key together with the older one that it replaced, which the dialog names", async () => {
    const { text: older } = await addKey("Pair");
    await goto("/dashboard/keys");
    await act("Pair", "Rotate");
    await page.getByRole("button", { name: "Rotate" }).click();
    const newer = await keepSecret();
    expect([await call(older), await call(newer)]).toEqual([200, 200]);
    const actions = page.getByRole("button", { name: "Actions for Pair" });
    // The list is read again once the new key was made.
    await expect.poll(() => actions.count(), COUNTED).toBe(2);
    const names = await actions.evaluateAll((buttons) => buttons.map((button) => button.getAttribute("aria-label")));
    expect(new Set(names).size).toBe(2);
    await actions.first().click();
    await page.getByRole("menuitem", { name: "Revoke" }).click();
    const dialog = page.getByRole("alertdialog");
    await dialog.getByText(`${older.slice(0, 12)}…${older.slice(-4)}`).waitFor();
    await dialog.getByText(/^23:5\d:\d\d$/).waitFor();
    await dialog.getByRole("checkbox", { name: "Revoke this one too" }).check();
    await dialog.getByRole("textbox").fill("Pair");
    await dialog.getByRole("button", { name: "Revoke key" }).click();
    await dialog.waitFor({ state: "detached" });
    await expect.poll(async () => [await call(older), await call(newer)], COUNTED).toEqual([401, 401]);
    await expect.poll(() => actions.count(), COUNTED).toBe(0);
  });
});

describe("a change of a live key", { tags: ["slow"] }, () => {
  beforeAll(async () => {
    await becomeDeveloper();
    await grantLive();
  });

  async function addLiveKey(name: string, settings: object = {}): Promise<MadeKey> {
    const key = await addKey(name, { venue: "live", origins: [SITE], ...settings });
    await goto("/dashboard/keys");
    return key;
  }

  test("changes what a key may do, with immediate effect", async () => {
    const { text } = await addLiveKey("Web shop");
    expect(await call(text, SITE)).toBe(503);
    await act("Web shop", "Edit");
    await page.getByLabel("Allowed origins").fill(OTHER_SITE);
    await page.getByLabel("Expires").selectOption("Never");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => rowOf("Web shop").textContent(), COUNTED).not.toContain("until");
    await expect.poll(() => call(text, SITE), COUNTED).toBe(403);
  });

  test("limits a key to addresses, after an invalid entry was refused at its field", async () => {
    const { text } = await addLiveKey("Office", { origins: [OTHER_SITE] });
    await act("Office", "Edit");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Restrictions").click();
    await dialog.getByLabel("Allowed IP addresses").fill("localhost");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("alert").filter({ hasText: "must be an IP address" }).waitFor();
    await dialog.getByLabel("Allowed IP addresses").fill("192.0.2.0/24");
    await dialog.getByLabel("Allowed origins").fill(SITE);
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await expect.poll(() => rowOf("Office").textContent(), COUNTED).toContain("192.0.2.0/24");
    await expect.poll(() => messageOf(ask(text, SITE)), COUNTED).toBe("address_not_allowed");
  });

  test("limits a key to tickers and units per minute, after a limit above the plan's was refused at its field", async () => {
    const { text } = await addLiveKey("Desk", { addresses: ["192.0.2.0/24"] });
    await act("Desk", "Edit");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Allowed IP addresses").fill("");
    await dialog.getByLabel("Tickers").fill("EURUSD");
    await dialog.getByLabel("Units per minute").fill("1000000");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("alert").filter({ hasText: "the limit of the plan" }).waitFor();
    await dialog.getByLabel("Units per minute").fill("7");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await expect.poll(() => rowOf("Desk").textContent(), COUNTED).toContain("EURUSD");
    await expect.poll(() => messageOf(ask(text, SITE, `${QUOTES}XAUUSD`)), COUNTED).toBe("unknown_ticker");
    expect((await ask(text, SITE)).headers.get("ratelimit-policy")).toBe('"key";q=7;w=60');
  });
});

describe("a developer on the dashboard", { tags: ["slow"] }, () => {
  beforeAll(() => becomeDeveloper());

  test("creates a link after a wrong ticker was refused at its field, reads CSV by its address alone, sees it in the logs, and revokes it", async () => {
    await addKey("Backtests");
    await goto("/dashboard/links");
    await page.getByRole("button", { name: "Create link" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Budget file");
    await dialog.getByLabel("What to read").selectOption("Latest quotes");
    await dialog.getByLabel("tickers").fill("EUR/USD");
    await dialog.getByRole("button", { name: "Create link" }).click();
    await dialog.getByRole("alert").filter({ hasText: "without separators" }).waitFor();
    await dialog.getByLabel("tickers").fill("EURUSD");
    await dialog.getByRole("listbox").waitFor();
    await page.keyboard.press("Escape");
    await dialog.getByRole("listbox").waitFor({ state: "detached" });
    await dialog.getByLabel("tickers").fill("EUR");
    await dialog.getByRole("listbox").waitFor();
    await page.keyboard.press("Tab");
    await dialog.getByRole("listbox").waitFor({ state: "detached" });
    expect(await page.locator(":focus").getAttribute("name")).toBe("format");
    await dialog.getByLabel("tickers").fill("EURUSD");
    await page.keyboard.press("Tab");
    await dialog.getByRole("button", { name: "Create link" }).click();
    const address = (await dialog.getByText(/^http.*sw_link_/).textContent()) ?? "";
    await dialog.getByText(`=IMPORTDATA("${address}")`).waitFor();
    const answer = await fetch(address);
    expect(answer.headers.get("content-type")).toContain("text/csv");
    expect(await answer.text()).toMatch(/^type,ticker,.*\r\nquote,EURUSD,/);
    await dialog.getByRole("button", { name: "Done" }).click();
    await rowOf("Budget file").getByText("Active", { exact: true }).waitFor();
    await act("Budget file", "Show URL");
    await dialog.getByText(address, { exact: true }).waitFor();
    await dialog.getByRole("button", { name: "Done" }).click();
    await act("Budget file", "Revoke");
    await page.getByRole("alertdialog").getByRole("textbox").fill("Budget file");
    await page.getByRole("alertdialog").getByRole("button", { name: "Revoke link" }).click();
    await page.getByText("No links yet").waitFor();
    await expect.poll(async () => (await fetch(address)).status, COUNTED).toBe(404);
    // The log is written every few seconds.
    await expect
      .poll(async () => {
        await goto("/dashboard/logs?operation=link");
        return page.getByRole("button", { name: "GET /quotes/latest?tickers=EURUSD&format=csv" }).count();
      }, COUNTED)
      .toBe(1);
    expect(await page.content()).not.toContain("sw_link_");
  });

  test("adds a webhook from the status page, after an address inside the network was refused, and its receiver gets a signed test", async () => {
    await goto("/status");
    await page.getByRole("link", { name: "webhook", exact: true }).click();
    await page.waitForURL("**/dashboard/webhooks");
    await page.getByRole("button", { name: "Add webhook" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("URL").fill("https://127.0.0.1/");
    await dialog.getByRole("button", { name: "Add webhook" }).click();
    await dialog.getByText("Must be a public address.").waitFor();
    await dialog.getByLabel("URL").fill(`http://${receiverHost()}/incidents`);
    await dialog.getByRole("button", { name: "Add webhook" }).click();
    const secret = (await dialog.getByText(/^whsec_/).textContent()) ?? "";
    await dialog.getByRole("button", { name: "I've saved it" }).click();
    await page.getByRole("button", { name: "Send a test" }).click();
    await rowOf("webhook.test").getByText("Delivered", { exact: true }).waitFor();
    // It also hears of incidents, which a busy machine may have.
    const tests = received.filter(({ body }) => JSON.parse(body).type === "webhook.test");
    expect(tests).toHaveLength(1);
    const [{ headers, body } = { headers: {}, body: "" }] = tests;
    const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
    const signature = createHmac("sha256", Buffer.from(secret.replace("whsec_", ""), "base64"))
      .update(signed)
      .digest("base64");
    expect(headers["webhook-signature"]).toBe(`v1,${signature}`);
  });

  test("opens any page from the command palette, with the keyboard alone", async () => {
    await goto("/dashboard");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("acc");
    await page.getByRole("option", { name: /^Account/, selected: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL("**/dashboard/account");
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Account");
  });

  test("chooses a theme, and the next page has it at once", async () => {
    await goto("/dashboard/account");
    await page.getByRole("radio", { name: "dark" }).check();
    const html = await (await context.request.get(`${site}/dashboard/account`)).text();
    expect(html).toMatch(/<html[^>]* data-theme="dark"/);
    await page.getByRole("radio", { name: "system" }).check();
    expect(await page.evaluate("document.documentElement.dataset.theme")).toBeUndefined();
  });
});

describe("a second factor", { tags: ["slow"] }, () => {
  beforeEach(async () => {
    // Passkeys belong to a host name, which an address is not.
    await becomeDeveloper("localhost");
    const session = await context.newCDPSession(page);
    await session.send("WebAuthn.enable");
    const kind = { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true } as const;
    await session.send("WebAuthn.addVirtualAuthenticator", {
      options: { ...kind, isUserVerified: true, automaticPresenceSimulation: true },
    });
  });

  async function enterPassword(view: Page = page): Promise<void> {
    await openPage(view, `${site}/signin`);
    await signIn(PASSWORD, view);
  }

  async function enterCode(code: string, view: Page = page): Promise<void> {
    await view.getByLabel("Code").fill(code);
    await view.getByRole("button", { name: "Continue", exact: true }).click();
  }

  /** Leaves the account page open; resolves with the recovery codes. */
  async function addPasskey(): Promise<string[]> {
    await goto("/dashboard/account");
    await press("Add a passkey");
    await page.getByRole("dialog").getByLabel("Name").fill("Test key");
    await press("Continue");
    const codes = ((await page.getByRole("dialog").locator("pre").textContent()) ?? "").trim().split("\n");
    expect(codes).toHaveLength(10);
    await press("I've saved them");
    await rowOf("Test key").getByText("Not yet").waitFor();
    return codes;
  }

  /** Finishes what "Set up" began; resolves with the secret of the app. */
  async function confirmApp(): Promise<string> {
    const dialog = page.getByRole("dialog", { name: "Set up an authenticator app" });
    await dialog.getByRole("img").waitFor();
    const secret = ((await dialog.locator("code").textContent()) ?? "").replaceAll(" ", "");
    await dialog.getByLabel("Code").fill(codeOf(secret));
    await press("Turn on");
    await page.getByText("On since").waitFor();
    return secret;
  }

  test("a passkey is added, with recovery codes, and then opens the account without a password", async () => {
    await addPasskey();
    await signOut();
    await press("Sign in with a passkey");
    await page.waitForURL("**/dashboard");
    await goto("/dashboard/account");
    expect(await rowOf("Test key").getByText("Not yet").count()).toBe(0);
  });

  test("a change that needs a proof asks for it, and then is made", async () => {
    await addPasskey();
    // As if the last proof was long ago: the first answer is the one the service gives then.
    let asked = 0;
    await page.route("**/api/portal/second-factors/app", (route) => {
      asked += 1;
      if (asked > 1) return route.continue();
      const data = { detail: "Confirm it's you.", request_id: "req_test", docs_url: "/docs/errors/proof-required" };
      return route.fulfill({ status: 403, json: { code: 40306, message: "proof_required", data } });
    });
    await press("Set up");
    await page.getByRole("dialog", { name: "Confirm it's you" }).getByLabel("Password").fill(PASSWORD);
    await press("Confirm");
    await confirmApp();
  });

  test("a code finishes a sign-in with the password, which opens nothing by itself", async () => {
    await addPasskey();
    await press("Set up");
    const secret = await confirmApp();
    await signOut();
    await enterPassword();
    await page.getByLabel("Code").waitFor();
    await page.goto(`${site}/dashboard`);
    expect(new URL(page.url()).pathname).toBe("/signin");
    await enterPassword();
    await enterCode("000000");
    await page.getByText("This code is wrong or was used before.").waitFor();
    await enterCode(codeOf(secret, 1));
    await page.waitForURL("**/dashboard");
  });

  test("with passkey and app lost, a recovery code opens the account once; a thief with the password stays out", async () => {
    const [code = ""] = await addPasskey();
    await press("Set up");
    const secret = await confirmApp();
    await signOut();
    await enterPassword();
    const used = codeOf(secret, 1);
    await enterCode(used);
    await page.waitForURL("**/dashboard");
    const thief = await browser.newPage(fromElsewhere());
    await enterPassword(thief);
    for (const guess of [used, "aaaaaa-bbbbbb-cccccc-dddddd"]) {
      await enterCode(guess, thief);
      await thief.getByText("This code is wrong or was used before.").waitFor();
    }
    await thief.goto(`${site}/dashboard`);
    expect(new URL(thief.url()).pathname).toBe("/signin");
    await thief.close();
    await signOut();
    await enterPassword();
    await enterCode(code);
    await page.waitForURL("**/dashboard");
    await signOut();
    await enterPassword();
    await enterCode(code);
    await page.waitForURL("**/signin");
    await page.getByText("This code is wrong or was used before.").waitFor();
  });
});

describe("a developer with a password", { tags: ["slow"] }, () => {
  beforeEach(() => becomeDeveloper());

  test("changes the password and signs in with the new one", async () => {
    await goto("/dashboard/account");
    await page.getByLabel("Current password").fill(PASSWORD);
    await page.getByLabel("New password").fill(NEW_PASSWORD);
    await page.getByRole("button", { name: "Change password" }).click();
    await page.getByText("Password changed").first().waitFor();
    const other = await browser.newPage(fromElsewhere());
    await openPage(other, `${site}/signin`);
    await signIn(NEW_PASSWORD, other);
    await other.waitForURL("**/dashboard");
    await other.close();
  });

  test("signs out everywhere, including this browser", async () => {
    expect(await createVisitor(site, newAddress()).signIn(email, PASSWORD)).toBeNull();
    await goto("/dashboard/account");
    expect(await page.getByRole("region", { name: "Active sessions" }).getByRole("row").count()).toBe(3);
    await page.getByRole("button", { name: "Sign out everywhere" }).click();
    await page.waitForURL("**/signin");
    await goto("/dashboard");
    expect(new URL(page.url()).pathname).toBe("/signin");
  });

  test("resets a forgotten password with the link in an email, and signs in with the new one", async () => {
    await context.clearCookies();
    await goto("/forgot");
    await page.getByLabel("Email").fill(email);
    await page.getByRole("button", { name: "Send link" }).click();
    await page.getByText("If that address has an account").waitFor();
    const link = await mailbox.nextLink(email, "/reset");
    const sent: { address: string; headers: Record<string, string> }[] = [];
    const note = (request: Request) => sent.push({ address: request.url(), headers: request.headers() });
    page.on("request", note);
    await openPage(page, link);
    await page.getByLabel("New password").fill(NEW_PASSWORD);
    await page.getByRole("button", { name: "Set password" }).click();
    await page.getByText("Your password was changed").waitFor();
    await page.getByRole("link", { name: "Sign in", exact: true }).last().click();
    await page.waitForURL("**/signin");
    page.off("request", note);
    const token = tokenIn(link);
    expect(token).not.toBe("");
    expect(sent.filter((request) => JSON.stringify(request).includes(token))).toEqual([]);
    expect(product.output()).not.toContain(token);
    await signIn(NEW_PASSWORD);
    await page.waitForURL("**/dashboard");
  });

  test("deletes the account, and its keys with it", async () => {
    const { text } = await addKey("Backtests");
    expect(await call(text)).toBe(200);
    await goto("/dashboard/account");
    await page.getByRole("button", { name: "Delete account" }).click();
    const dialog = page.getByRole("alertdialog");
    await dialog.getByRole("textbox").first().fill(email);
    await dialog.getByRole("button", { name: "Delete account" }).click();
    await page.waitForURL(`${site}/`);
    expect(await call(text)).toBe(401);
  });
});

describe("the pages", () => {
  let text: string;

  beforeAll(async () => {
    await becomeDeveloper();
    const { id, text: older } = await addKey("Backtests");
    text = (await orderKey(`keys/${id}/rotate`, { grace: "1h" })).text;
    expect([await call(older), await call(text)]).toEqual([200, 200]);
    await vi.waitFor(async () => expect((await visitor.call("GET", "logs")).data.items).toHaveLength(2), COUNTED);
  });

  test("run no script without the nonce of their response, which is new each time", async () => {
    const nonces = await Promise.all(
      ["/", "/signin", "/dashboard/keys", "/no/such/page"].map(async (path) => {
        const answer = await context.request.get(site + path);
        const nonce = /script-src [^;]*'nonce-([^']+)'/.exec(answer.headers()["content-security-policy"] ?? "")?.[1];
        const scripts = (await answer.text()).match(/<script\b[^>]*>/g) ?? [];
        expect(scripts.length, path).toBeGreaterThan(0);
        for (const script of scripts) expect(script).toContain(`nonce="${nonce}"`);
        return nonce;
      }),
    );
    expect(new Set(nonces).size).toBe(nonces.length);
  });

  test("contain no text of a key, nor do the product's output, what browsers load, or an error", async () => {
    expect(keys.length).toBeGreaterThan(1);
    const seen = [product.output(), ...(await builtFiles())];
    for (const path of [
      "/",
      "/dashboard",
      "/dashboard/keys",
      "/dashboard/links",
      "/dashboard/usage",
      "/dashboard/logs",
      "/dashboard/webhooks",
      "/dashboard/account",
      "/nowhere",
    ]) {
      await goto(path);
      seen.push(await page.content());
    }
    const answer = await fetch(`${site}/api/v1/market/nowhere`, { headers: { authorization: `Bearer ${text}` } });
    seen.push(await answer.text());
    for (const key of keys) expect(seen.filter((page) => page.includes(key))).toEqual([]);
  });

  test("violated no rule of that policy, and wrote no error to the console", () => {
    expect(problems).toEqual([]);
  });
});
