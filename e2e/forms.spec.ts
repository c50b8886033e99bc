import type { Browser, BrowserContext, Locator, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BROWSER_TIMEOUT_MS, borrowBrowser, openPage, returnBrowser, STEP_MAX_MS } from "./browser";
import { runCommand } from "./commands";
import { type Mailbox, openMailbox } from "./mailbox";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { signUp, type Visitor } from "./visitor";

const PASSWORD = "correct horse battery";
const OPERATOR = "operator@example.test";
const OWNER = "ada@example.test";
const KEY = { name: "Backtests", venue: "sandbox", scopes: ["market:read"], origins: [], expires_at: null };
const SOON = { timeout: STEP_MAX_MS, interval: 50 };

interface Case {
  readonly at: string;
  /** The button that opens the dialog with the form. */
  readonly opener?: string;
  /** What a reader did with the fields before; they are empty or as the page proposes them otherwise. */
  readonly wrong?: (form: Locator) => Promise<void>;
  /** What is said at each wrong field, in the order of the form. */
  readonly said: Readonly<Record<string, string>>;
}

let product: Product;
let browser: Browser;
let mailbox: Mailbox;
let context: BrowserContext | undefined;
let page: Page;
/** What the page asked the service to do. */
let asked: string[] = [];

async function become(visitor: Visitor | undefined, address: string): Promise<void> {
  await context?.close();
  context = await browser.newContext({ extraHTTPHeaders: { "x-forwarded-for": address } });
  const cookies = [...(visitor?.cookies ?? [])].map(([name, value]) => ({ name, value, url: product.baseUrl }));
  await context.addCookies(cookies);
  page = await context.newPage();
  page.on("request", (request) => request.method() === "GET" || asked.push(`${request.method()} ${request.url()}`));
}

beforeAll(async () => {
  mailbox = await openMailbox();
  [product, browser] = await Promise.all([
    startProduct({ SMTP_URL: mailbox.url, TRUSTED_PROXIES: "127.0.0.1", TERMS_URL: "https://example.test/terms" }),
    borrowBrowser(),
  ]);
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await returnBrowser(browser);
  await product?.dispose();
  await mailbox?.close();
}, SERVER_TIMEOUT_MS);

/** What is said at each field that is marked as wrong, in the order of the form. */
const saidIn = (form: Locator) =>
  form.evaluate((element) => {
    const wrong = [...element.querySelectorAll<HTMLInputElement>("[aria-invalid=true][name]")];
    const noteOf = (field: Element) => document.getElementById(field.getAttribute("aria-describedby") ?? "")?.textContent;
    return Object.fromEntries(wrong.map((field) => [field.name, noteOf(field)]));
  });
const focusedField = () => page.evaluate(() => (document.activeElement as HTMLInputElement | null)?.name);

async function openForm({ at, opener }: Pick<Case, "at" | "opener">): Promise<Locator> {
  await openPage(page, `${product.baseUrl}/${at}`);
  if (opener === undefined) return page.locator("main form").first();
  await page.getByRole("button", { name: opener, exact: true }).first().click();
  return page.getByRole("dialog").locator("form");
}

/** Sends a form with the keyboard alone, as it is. */
async function send(form: Locator): Promise<void> {
  await form.locator("button[type=submit]").focus();
  await page.keyboard.press("Enter");
}

async function sendsNothing(one: Case): Promise<void> {
  const form = await openForm(one);
  await one.wrong?.(form);
  asked = [];
  await send(form);
  await expect.poll(() => saidIn(form), SOON).toEqual(one.said);
  expect(Object.keys(await saidIn(form))).toEqual(Object.keys(one.said));
  await expect.poll(focusedField, SOON).toBe(Object.keys(one.said)[0]);
  expect(asked).toEqual([]);
}

const empty = (name: string) => (form: Locator) => form.locator(`[name=${name}]`).fill("");
const byDate = async (form: Locator) => {
  await form.locator("[name=expiry]").selectOption("date");
};

/** Resolves once what changed is painted. */
const painted = () =>
  page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(null)))));

const STRANGERS: readonly Case[] = [
  { at: "signin", said: { email: "Enter a valid email address.", password: "Enter your password." } },
  {
    at: "signup",
    said: {
      email: "Enter a valid email address.",
      password: "Use at least 12 characters.",
      terms: "Accept the terms to create an account.",
    },
  },
  { at: "forgot", wrong: (form) => form.locator("[name=email]").fill("ada@"), said: { email: "Enter a valid email address." } },
];

const OWNERS: readonly Case[] = [
  {
    at: "dashboard/keys",
    opener: "Create key",
    wrong: async (form) => {
      for (const scope of await form.locator("[name=scopes]").all()) await scope.uncheck();
      await byDate(form);
    },
    said: { name: "Enter a name.", scopes: "Choose at least one scope.", expires_at: "Enter a date." },
  },
  {
    // What is wrong is folded away.
    at: "dashboard/keys",
    opener: "Create key",
    wrong: async (form) => {
      await form.locator("[name=name]").fill("Pricing");
      const fold = form.locator("summary");
      await fold.click();
      await form.locator("[name=rest_per_minute]").fill("0");
      await form.locator("[name=rest_burst]").pressSequentially("1e");
      await form.locator("[name=not_before]").pressSequentially("12");
      await fold.click();
    },
    said: { rest_per_minute: "Must be at least 1.", rest_burst: "Enter a number.", not_before: "Enter a date and a time." },
  },
  {
    at: "dashboard/links",
    opener: "Create link",
    wrong: byDate,
    said: { name: "Enter a name.", expires_at: "Enter a date." },
  },
  {
    at: "dashboard/links",
    opener: "Create link",
    wrong: async (form) => {
      await form.locator("[name=name]").fill("Budget");
      await form.locator("[name=operation]").selectOption("latestQuotes");
      await form.locator("[name=tickers]").fill("");
      await form.getByText("tickers is required.").waitFor();
    },
    said: { tickers: "tickers is required." },
  },
  { at: "dashboard/webhooks", opener: "Add webhook", said: { url: "Enter a URL." } },
  {
    at: "dashboard/webhooks",
    opener: "Add webhook",
    wrong: (form) => form.locator("[name=url]").fill("hooks.example.com"),
    said: { url: "Enter a whole URL, such as https://hooks.example.com/spotwire." },
  },
  { at: "dashboard/organisation", opener: "Invite", said: { email: "Enter a valid email address." } },
  { at: "dashboard/organisation", wrong: empty("name"), said: { name: "Enter a name." } },
  {
    at: "playground",
    opener: "Save request",
    wrong: empty("name"),
    said: { name: "Enter a name and a collection of at most 60 characters." },
  },
];

const OPERATORS: readonly Case[] = [
  { at: "admin/accounts", opener: "Create customer", said: { name: "Enter a name." } },
  {
    at: "admin/plans",
    opener: "Add plan",
    wrong: empty("rest_burst"),
    said: {
      name: "Use lowercase letters, digits and hyphens, starting with a letter, at most 40 characters.",
      rest_burst: "Is required.",
    },
  },
  { at: "admin/billing", opener: "Create key", said: { name: "Enter a name." } },
  {
    at: "admin/calendars",
    opener: "Close now…",
    wrong: (form) => form.getByText("Until a set time").click(),
    said: { ends_at: "Enter a date." },
  },
  {
    at: "admin/incidents",
    opener: "Add a note",
    wrong: empty("starts_at"),
    said: { title: "Enter a title.", starts_at: "Enter a date." },
  },
];

describe("a form that is sent with mistakes says at each field what is wrong, leads to the first, and asks the service nothing", () => {
  describe("a stranger", () => {
    beforeAll(() => become(undefined, "198.51.100.1"));
    test.each(STRANGERS)("$at", sendsNothing);
  });

  describe("an owner", () => {
    beforeAll(async () => {
      const owner = await signUp(
        { baseUrl: product.baseUrl, mailbox },
        { email: OWNER, password: PASSWORD, address: "198.51.100.2", terms: true },
      );
      expect((await owner.call("POST", "keys", KEY)).status).toBe(200);
      await become(owner, "198.51.100.2");
    });
    test.each(OWNERS)("$at: $said", sendsNothing);

    test("dashboard/account, whose forms stand one below the other", async () => {
      await openPage(page, `${product.baseUrl}/dashboard/account`);
      const passwords = page.locator("form").filter({ has: page.getByLabel("Current password") });
      asked = [];
      await send(passwords);
      const said = { current: "Enter your password.", password: "Use at least 12 characters." };
      await expect.poll(() => saidIn(passwords), SOON).toEqual(said);
      await expect.poll(focusedField, SOON).toBe("current");
      // What was said goes with what it was about, and the other one stays.
      await page.keyboard.type(PASSWORD);
      await expect.poll(() => saidIn(passwords), SOON).toEqual({ password: said.password });
      expect(asked).toEqual([]);
    });
  });

  describe("an operator", () => {
    beforeAll(async () => {
      const operator = await signUp(
        { baseUrl: product.baseUrl, mailbox },
        { email: OPERATOR, password: PASSWORD, address: "198.51.100.3", terms: true },
      );
      expect((await runCommand(product, "admin", ["grant", OPERATOR])).exitCode).toBe(0);
      await operator.addApp();
      await become(operator, "198.51.100.3");
    });
    test.each(OPERATORS)("$at", sendsNothing);

    test("admin/calendars, whose dates are kept by the page until the calendar is saved", async () => {
      const form = await openForm({ at: "admin/calendars", opener: "Edit…" });
      const row = page
        .getByRole("list", { name: "Holidays and other hours" })
        .getByRole("listitem")
        .filter({ hasText: "31 Dec 2099" });
      await form.getByLabel("Trading").selectOption("Closes early");
      asked = [];
      await send(form);
      await expect.poll(async () => Object.keys(await saidIn(form)), SOON).toEqual(["date", "time"]);
      await expect.poll(focusedField, SOON).toBe("date");
      expect(asked.filter((one) => !one.endsWith("/preview"))).toEqual([]);
      await form.locator("[name=date]").fill("2099-12-31");
      await form.locator("[name=time]").fill("13:00");
      await send(form);
      await row.getByText("Closes early 13:00").waitFor();
      await expect.poll(() => form.locator("[name=date]").inputValue(), SOON).toBe("");
      // A day that is closed has no time, and replaces the one that closed early.
      await form.locator("[name=date]").fill("2099-12-31");
      await form.locator("[name=name]").fill("Year's end");
      await send(form);
      await row.getByText("Year's end").waitFor();
      await page.getByRole("button", { name: "Edit 2099-12-31 closed all day" }).click();
      expect(await form.locator("[name=name]").inputValue()).toBe("Year's end");
      await expect.poll(() => saidIn(form), SOON).toEqual({});
    });

    test("admin/feeds, where the fields are those of a provider", async () => {
      await openPage(page, `${product.baseUrl}/admin/feeds`);
      const form = page.locator("form").filter({ has: page.getByRole("button", { name: "Check", exact: true }) });
      const required = await form
        .locator("[required]")
        .evaluateAll((fields) => fields.map((field) => (field as HTMLInputElement).name));
      expect(required.length).toBeGreaterThan(0);
      asked = [];
      await send(form);
      await expect.poll(() => saidIn(form), SOON).toEqual(Object.fromEntries(required.map((name) => [name, "Is required."])));
      await expect.poll(focusedField, SOON).toBe(required[0]);
      expect(asked).toEqual([]);
    });
  });
});

test("a click on a button is not lost to the line that says what is wrong with the field before it", async () => {
  await become(undefined, "198.51.100.5");
  const form = await openForm({ at: "signup" });
  const [email, button] = [form.locator("[name=email]"), form.locator("button[type=submit]")];
  const wrong = { email: "Enter a valid email address." };
  await email.fill("ada@");
  await page.keyboard.press("Tab");
  await expect.poll(() => saidIn(form), SOON).toEqual(wrong);
  await email.fill("eve@");
  await expect.poll(() => saidIn(form), SOON).toEqual({});
  const { x, y } = (await button.boundingBox()) ?? { x: 0, y: 0 };
  await page.mouse.move(x + 20, y + 3);
  await page.mouse.down();
  await painted();
  expect(await saidIn(form)).toEqual({});
  await page.mouse.up();
  await expect
    .poll(() => saidIn(form), SOON)
    .toEqual({
      ...wrong,
      password: "Use at least 12 characters.",
      terms: "Accept the terms to create an account.",
    });
  // A press that was on no button ends the wait as well.
  await email.fill("bob@");
  await page.getByRole("heading", { level: 1 }).click();
  await expect.poll(async () => (await saidIn(form)).email, SOON).toBe(wrong.email);
});

test("a form without mistakes is sent, and what the service refuses is said at the field", async () => {
  await become(undefined, "198.51.100.4");
  const form = await openForm({ at: "signup" });
  await form.locator("[name=email]").fill("eve@example.test");
  await form.locator("[name=password]").fill("password1234");
  await form.locator("[name=terms]").check();
  await send(form);
  await expect.poll(async () => Object.keys(await saidIn(form)), SOON).toEqual(["password"]);
  await expect.poll(focusedField, SOON).toBe("password");
  // The answer was about what was sent: it goes with the first change.
  await page.keyboard.press("End");
  await page.keyboard.type("!");
  await expect.poll(() => saidIn(form), SOON).toEqual({});
  await form.locator("[name=password]").fill(PASSWORD);
  await send(form);
  await page.getByRole("heading", { name: "Check your email" }).waitFor();
});
