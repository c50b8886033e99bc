import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import type { Browser, BrowserContext, Page } from "playwright";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { reservePort } from "#lib/testing/ports";
import { BROWSER_TIMEOUT_MS, borrowBrowser, openPage, returnBrowser } from "./browser";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

/** Enough senders to take every request the limit lets in while the page shows its error. */
const SENDERS = 20;
/** The possible errors of a sign-in: our own refusals, next-auth's names, and an unknown name. */
const ERRORS = [
  "CredentialsSignin",
  "rate_limited",
  "account_suspended",
  "service_unavailable",
  "internal_error",
  "email_not_verified",
  "AccessDenied",
  "OAuthSignin",
  "OAuthCallback",
  "Callback",
  "OAuthAccountNotLinked",
  "SessionRequired",
  "Configuration",
  "csrf",
  "made_up",
];

let product: Product;
let browser: Browser;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  [product, browser] = await Promise.all([startProduct(), borrowBrowser()]);
  context = await browser.newContext();
  page = await context.newPage();
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await returnBrowser(browser);
  await product?.dispose();
}, SERVER_TIMEOUT_MS);

const notice = () => page.getByRole("main").getByRole("alert");
const signIn = () => page.getByRole("button", { name: "Sign in", exact: true }).click();

test("without a mail server, a form that emails a link says where it is", async () => {
  await openPage(page, `${product.baseUrl}/forgot`);
  await page.getByLabel("Email").fill("ada@example.test");
  await page.getByText("This installation has no mail server").waitFor();
  expect(await page.getByText("We'll email you").count()).toBe(0);
  await page.getByRole("button", { name: "Make link" }).click();
  await page.getByText("If that address has an account, there is a link for it.").waitFor();
  await page.getByText("This installation has no mail server, so no email was sent.").waitFor();
});

describe("a failed sign-in", () => {
  beforeEach(async () => {
    await openPage(page, `${product.baseUrl}/signin`);
    await page.getByLabel("Email").fill("ada@example.test");
    await page.getByLabel("Password").fill("correct horse battery");
  });

  test("a sign-in with an unknown address shows the same error as one with a wrong password, and where to set a new one", async () => {
    await signIn();
    await notice().getByText("Wrong email or password. Try again, or reset your password below.").waitFor();
    await page.getByRole("link", { name: "Forgot your password?" }).waitFor();
  });

  test("a password is shown and hidden again by its button", async () => {
    const field = page.getByLabel("Password");
    await page.getByRole("button", { name: "Show password" }).click();
    expect(await field.getAttribute("type")).toBe("text");
    await page.getByRole("button", { name: "Hide password" }).click();
    expect(await field.getAttribute("type")).toBe("password");
  });

  test("a sign-in without a network shows that the browser is offline", async () => {
    await context.setOffline(true);
    await signIn();
    await notice().getByText("You're offline. Connect to a network, then try again.").waitFor();
    await context.setOffline(false);
  });

  test("a sign-in that is rate limited shows how many seconds to wait", async () => {
    const limited = notice().getByText(/^Too many attempts\. Try again in \d+ s\.$/);
    let shown = false;
    let refused = 0;
    // The limit refills while the browser works, so the flood goes on until the page shows the error.
    const flood = Array.from({ length: SENDERS }, async () => {
      while (!shown) refused += (await fetch(`${product.baseUrl}/api/auth/csrf`)).status === 429 ? 1 : 0;
    });
    try {
      await expect.poll(() => refused, { timeout: SERVER_TIMEOUT_MS }).toBeGreaterThan(SENDERS);
      // A sign-in that was let in shows another error; the next one meets the limit.
      const signInUntilLimited = async (): Promise<void> => {
        await signIn();
        await notice().waitFor();
        if (!(await limited.isVisible())) await signInUntilLimited();
      };
      await signInUntilLimited();
    } finally {
      shown = true;
      await Promise.all(flood);
    }
  });
});

describe("the errors of a sign-in", () => {
  test("every error of a sign-in has its own message and never shows its identifier", async () => {
    const shown = new Set<string>();
    for (const error of ERRORS) {
      await page.goto(`${product.baseUrl}/signin?error=${error}`);
      const words = (await notice().textContent()) ?? "";
      expect(words, error).toMatch(/^[A-Z].+\.$/);
      expect(words).not.toContain(error);
      shown.add(words);
    }
    expect(shown.size).toBe(ERRORS.length);
  });
});

describe("a portal with an address and a mail server of its own", () => {
  let named: Product;
  let own: string;
  beforeAll(async () => {
    const port = await reservePort();
    own = `http://127.0.0.1:${port}`;
    named = await startProduct({ PORT: `${port}`, PUBLIC_URL: `HTTP://127.0.0.1:${port}/`, SMTP_URL: "smtp://127.0.0.1:1" });
  }, SERVER_TIMEOUT_MS);
  afterAll(() => named?.dispose(), SERVER_TIMEOUT_MS);

  test("it promises an email to who forgot their password", async () => {
    await openPage(page, `${own}/forgot`);
    await page.getByText("We'll email you a link").waitFor();
    await page.getByRole("button", { name: "Send link" }).waitFor();
  });

  test("opened by another address, it says which one is right, and at that one it says nothing", async () => {
    const told = page.getByText("Signing in does not work at this address.");
    for (const path of ["/signup", "/signin", "/forgot"]) {
      await openPage(page, `${own.replace("127.0.0.1", "localhost")}${path}`);
      await told.waitFor();
      await page.getByRole("link", { name: own }).click();
      await page.waitForURL(`${own}${path}`);
      await openPage(page, `${own}${path}`);
      expect(await told.count()).toBe(0);
    }
  });

  test("it starts without its mail server, says so in the log, and reports it to operators", async () => {
    await expect.poll(() => named.output()).toContain("The mail server at 127.0.0.1:1 cannot be used");
    expect(named.output().match(/emails cannot be sent/g)).toHaveLength(1);
    const { url } = JSON.parse(await readFile(join(named.dataDir, "postgres.json"), "utf8")) as { url: string };
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const warning = async () => {
      const { rows } = await client.query("SELECT report::json->'warnings'->>'mail_server' AS problem FROM node_report");
      return rows[0]?.problem;
    };
    await expect.poll(warning).toMatch(/^The mail server at 127\.0\.0\.1:1 cannot be used: .*ECONNREFUSED/);
    await client.end();
    const ready = await fetch(`${own}/api/ready`);
    expect(ready.status).toBe(200);
  });
});
