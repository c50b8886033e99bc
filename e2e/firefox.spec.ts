import type { BrowserContext, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ANSWERED, collectProblems, PLACEHOLDERS, STEP_MAX_MS } from "./browser";
import { type FoundFirefox, openFirefox } from "./firefox";
import { type Mailbox, openMailbox } from "./mailbox";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

const PASSWORD = "correct horse battery";
const KEY = /sw_test_[0-9A-Za-z]{36}/;
const QUOTES = "/api/v1/market/quotes/latest?tickers=EURUSD";
/** The request log is written every two seconds. */
const LOGGED = { timeout: 60_000, interval: 1_000 };
/** The first start of Firefox writes its profile. */
const FIREFOX_TIMEOUT_MS = 120_000;
const SIZES = [
  { name: "at a desk", viewport: { width: 1440, height: 900 } },
  { name: "on a phone", viewport: { width: 390, height: 844 } },
];

let product: Product;
let mailbox: Mailbox;
let found: FoundFirefox;

beforeAll(async () => {
  found = await openFirefox();
  if ("missing" in found) return;
  mailbox = await openMailbox();
  product = await startProduct({ SMTP_URL: mailbox.url, TRUSTED_PROXIES: "127.0.0.1" });
}, FIREFOX_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  if (found !== undefined && "close" in found) await found.close();
  await product?.dispose();
  await mailbox?.close();
}, SERVER_TIMEOUT_MS);

/** Passes when a price on the page changed. */
async function nextPrice(page: Page): Promise<void> {
  const texts = await page.locator("[data-price]").allTextContents();
  await page.waitForFunction(
    (before) => [...document.querySelectorAll("[data-price]")].some((cell, index) => cell.textContent !== before[index]),
    texts,
  );
}

async function expectToFitWidth(page: Page): Promise<void> {
  expect(await page.evaluate("document.documentElement.scrollWidth - window.innerWidth"), page.url()).toBeLessThanOrEqual(0);
}

describe.each(SIZES)("a newcomer with Firefox $name", ({ name, viewport }) => {
  test(
    "sees live prices, reads a market, tries a call, signs up, and calls with a key of their own",
    async ({ skip }) => {
      if ("missing" in found) return skip(found.missing);
      const context: BrowserContext = await found.browser.newContext({ viewport });
      context.setDefaultTimeout(STEP_MAX_MS);
      const page = await context.newPage();
      const problems: string[] = [];
      collectProblems(page, problems, ANSWERED);
      const goto = (path: string) => page.goto(product.baseUrl + path, { waitUntil: "load" });

      await goto("/");
      await nextPrice(page);
      await expectToFitWidth(page);

      await goto("/markets");
      await page.getByRole("searchbox").fill("gold");
      await page.getByRole("link", { name: /XAUUSD/ }).click();
      await page.waitForURL("**/markets/XAUUSD");
      await page.getByRole("button", { name: "M5", exact: true }).click();
      await page.getByRole("group", { name: /^XAUUSD M5: \d{3,} klines/ }).waitFor();
      await nextPrice(page);
      await expectToFitWidth(page);

      await goto("/playground");
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await page.getByText(/^200 /).first().waitFor();
      await expectToFitWidth(page);

      const email = `${name.replaceAll(" ", "-")}@example.test`;
      await goto("/signup");
      await page.getByLabel("Email").fill("ada@");
      await page.getByLabel("Password").fill(PASSWORD);
      // The field that the reader left says what is wrong before anything is sent.
      await page.getByRole("alert").filter({ hasText: "Enter a valid email address." }).waitFor();
      // Over BiDi, filling such a field a second time would append.
      await page.getByLabel("Email").press("ControlOrMeta+a");
      await page.keyboard.type(email);
      await page.getByRole("button", { name: "Create account" }).click();
      await page.getByText("We sent an email to").waitFor();
      await page.goto(await mailbox.nextLink(email, "/verify"), { waitUntil: "load" });
      await page.getByRole("button", { name: "Verify my email" }).click();
      const dialog = page.getByRole("dialog", { name: "Create your first key" });
      await dialog.getByLabel("Name").fill("First");
      await dialog.getByRole("button", { name: "Create key" }).click();
      const text = await page.getByRole("dialog").getByText(KEY).first().textContent();
      const headers = { authorization: `Bearer ${KEY.exec(text ?? "")?.[0]}` };
      expect((await fetch(product.baseUrl + QUOTES, { headers })).status).toBe(200);
      const logged = page.getByRole("button", { name: /GET \/quotes\/latest/ });
      const rows = async () => {
        await goto("/dashboard/logs");
        await page.locator(PLACEHOLDERS).first().waitFor({ state: "detached" });
        return logged.count();
      };
      await expect.poll(rows, LOGGED).toBe(1);
      await expectToFitWidth(page);

      await context.close();
      expect(problems).toEqual([]);
    },
    6 * STEP_MAX_MS,
  );
});
