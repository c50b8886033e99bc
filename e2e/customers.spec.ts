import type { Browser, BrowserContext, Locator, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ANSWERED, BROWSER_TIMEOUT_MS, borrowBrowser, collectProblems, openPage, returnBrowser, STEP_MAX_MS } from "./browser";
import { runCommand } from "./commands";
import { type Mailbox, openMailbox } from "./mailbox";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { createVisitor, signUp, type Visitor } from "./visitor";

const OPERATOR = "operator@acme.test";
const OWNER = "ada@globex.test";
const PASSWORD = "correct horse battery";
const KEY = /sw_test_[0-9A-Za-z]{36}/;
/** Usage is written every two seconds. */
const COUNTED = { timeout: STEP_MAX_MS, interval: 500 };

let product: Product;
let browser: Browser;
let mailbox: Mailbox;
let operator: Page;
let owner: Page;
let networks = 0;
const problems: string[] = [];

/** An address in a network of its own, because limits are per network. */
function newAddress(): string {
  networks += 1;
  return `198.51.${networks}.1`;
}

/** A page of somebody with a browser of their own, who is signed in already where a visitor is given. */
async function somebody(visitor?: Visitor): Promise<Page> {
  const extraHTTPHeaders = { "x-forwarded-for": newAddress() };
  const context: BrowserContext = await browser.newContext({ viewport: { width: 1440, height: 900 }, extraHTTPHeaders });
  const cookies = [...(visitor?.cookies ?? [])].map(([name, value]) => ({ name, value, url: product.baseUrl }));
  await context.addCookies(cookies);
  const page = await context.newPage();
  collectProblems(page, problems, ANSWERED);
  return page;
}

const goto = (page: Page, path: string) => openPage(page, `${product.baseUrl}${path}`);
const press = (within: Page | Locator, name: string) => within.getByRole("button", { name, exact: true }).click();
const rowOf = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });

beforeAll(async () => {
  mailbox = await openMailbox();
  const settings = { SMTP_URL: mailbox.url, TRUSTED_PROXIES: "127.0.0.1", SIGNUP: "invited", SIGNUP_DOMAINS: "acme.test" };
  [product, browser] = await Promise.all([startProduct(settings), borrowBrowser()]);
  const place = { baseUrl: product.baseUrl, mailbox };
  const visitor = await signUp(place, { email: OPERATOR, password: PASSWORD, address: newAddress() });
  expect((await runCommand(product, "admin", ["grant", OPERATOR])).exitCode).toBe(0);
  await visitor.addApp();
  operator = await somebody(visitor);
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await returnBrowser(browser);
  await product?.dispose();
  await mailbox?.close();
}, SERVER_TIMEOUT_MS);

/** The operator creates a customer on a plan and invites somebody. @returns the link to pass on */
async function createCustomer(name: string, plan: string, email: string): Promise<string> {
  await goto(operator, "/admin/accounts");
  await press(operator, "Create customer");
  const dialog = operator.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill(name);
  await dialog.getByLabel("Plan", { exact: true }).selectOption(plan);
  await press(dialog, "Create customer");
  await operator.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  await press(operator, "Invite");
  await dialog.getByLabel("Email", { exact: true }).fill(email);
  expect(await dialog.getByLabel("Role").inputValue()).toBe("owner");
  await dialog.getByRole("radio", { name: "Copy it" }).check();
  await press(dialog, "Create link");
  const link = (await dialog.getByText("/invitation#token=").textContent()) ?? "";
  await press(dialog, "I've saved it");
  await operator.getByRole("table", { name: "Invitations that wait" }).getByText(email).waitFor();
  return link;
}

/** Makes a key in the browser. @returns its text */
async function createKey(page: Page, name: string): Promise<string> {
  await goto(page, "/dashboard/keys");
  await press(page, "Create key");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill(name);
  await press(dialog, "Create key");
  await page.getByRole("heading", { name: "Your new key" }).waitFor();
  const text = KEY.exec((await dialog.textContent()) ?? "")?.[0] ?? "";
  await press(dialog, "I've saved it");
  await rowOf(page, name).waitFor();
  return text;
}

test("an operator adds a plan to sell and creates a customer on it, whose owner joins by a copied link and sees what is left", async () => {
  await goto(operator, "/admin/plans");
  await press(operator, "Add plan");
  const dialog = operator.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("starter");
  await dialog.getByLabel("Units per month").fill("100");
  await dialog.getByRole("checkbox", { name: /^Refuse requests beyond the quota/ }).check();
  await dialog.getByLabel("Price").fill("€ 49 a month");
  await press(dialog, "Add plan");
  await rowOf(operator, "starter").waitFor();

  const link = await createCustomer("Globex", "starter", OWNER);
  owner = await somebody();
  await openPage(owner, link);
  await owner.getByRole("heading", { name: "Join Globex" }).waitFor();
  await owner.getByLabel("Password").fill(PASSWORD);
  await press(owner, "Create account and join");
  await owner.goto(await mailbox.nextLink(OWNER, "/verify"));
  await press(owner, "Verify my email");
  await owner.waitForURL(/\/dashboard\/keys/);

  const key = await createKey(owner, "Shop");
  const address = `${product.baseUrl}/api/v1/market/quotes/latest?tickers=EURUSD`;
  expect((await fetch(address, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200);
  await vi.waitFor(async () => {
    await goto(owner, "/dashboard");
    expect(await owner.locator("main").textContent()).toContain("1 of 100 units used");
  }, COUNTED);
  expect(await owner.locator("main").textContent()).toMatch(/99 left until .*Requests beyond it are refused\./);

  await operator.reload();
  await operator.getByRole("table", { name: "Members" }).getByText(OWNER).waitFor();
  await goto(operator, "/admin/billing");
  await rowOf(operator, "Globex").filter({ hasText: "starter" }).waitFor();
});

test("an operator approves somebody who waits, and refuses another one", async () => {
  const [welcome, other] = ["bob@initech.test", "eve@elsewhere.test"];
  const visitors: Visitor[] = [];
  for (const email of [welcome, other])
    visitors.push(await signUp({ baseUrl: product.baseUrl, mailbox }, { email, password: PASSWORD, address: newAddress() }));
  const waiting = await somebody(visitors[0]);
  await goto(waiting, "/dashboard");
  await waiting.getByText("Your account waits for approval.").waitFor();

  await goto(operator, "/admin/accounts?waiting=true");
  await operator.getByRole("link", { name: welcome, exact: true }).click();
  await press(operator, "Approve");
  await operator.getByText(`${welcome} was approved.`, { exact: true }).waitFor();
  await createKey(waiting, "First");

  await goto(operator, "/admin/accounts?waiting=true");
  await rowOf(operator, welcome).waitFor({ state: "detached" });
  await operator.getByRole("link", { name: other, exact: true }).click();
  await press(operator, "Refuse");
  const dialog = operator.getByRole("alertdialog");
  await dialog.getByRole("textbox").fill(other);
  await press(dialog, "Refuse");
  await operator.waitForURL(/\/admin\/accounts$/);
  await rowOf(operator, welcome).waitFor();
  expect(await rowOf(operator, other).count()).toBe(0);
  const refused = createVisitor(product.baseUrl, newAddress());
  expect(await refused.signIn(other, PASSWORD)).not.toBeNull();
});

describe("somebody in two organisations", () => {
  /** Opens the menu of the account and chooses the organisation. */
  async function switchTo(page: Page, name: string): Promise<void> {
    await press(page, "Account menu");
    await page.getByRole("combobox", { name: "Organisation", exact: true }).selectOption(name);
  }
  const keyNames = async (page: Page) =>
    (await page.getByRole("table", { name: "Keys" }).getByRole("row").allTextContents()).join();

  test("joins the second one by a link, switches in the header, and their other tab follows with its keys", async () => {
    const link = await createCustomer("Umbrella", "free", OWNER);
    await openPage(owner, link);
    await press(owner, "Accept invitation");
    await owner.waitForURL(/\/dashboard$/);
    await createKey(owner, "Lab");
    expect(await keyNames(owner)).not.toContain("Shop");

    const other = await owner.context().newPage();
    collectProblems(other, problems, ANSWERED);
    await goto(other, "/dashboard");
    await switchTo(other, "Globex");
    await rowOf(owner, "Shop").waitFor();
    expect(await keyNames(owner)).not.toContain("Lab");
    await vi.waitFor(async () => {
      await goto(other, "/dashboard");
      expect(await other.locator("main").textContent()).toContain("1 of 100 units used");
    }, COUNTED);

    await switchTo(owner, "Umbrella");
    await owner.waitForURL(/\/dashboard$/);
    await goto(other, "/dashboard/keys");
    await rowOf(other, "Lab").waitFor();
    expect(problems).toEqual([]);
  });
});
