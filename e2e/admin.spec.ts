import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, Locator, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ANSWERED, BROWSER_TIMEOUT_MS, borrowBrowser, collectProblems, openPage, returnBrowser } from "./browser";
import { runCommand } from "./commands";
import { type Mailbox, openMailbox } from "./mailbox";
import { createVisits, expectToFit, expectToStay, type Reading } from "./reading";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { openSocket } from "./socket";
import { codeOf, signUp, type Visitor } from "./visitor";

const OPERATOR = "operator@example.test";
const CUSTOMER = "customer@example.test";
const PASSWORD = "correct horse battery";
const PAGES = [
  "admin",
  "admin/accounts",
  "admin/plans",
  "admin/billing",
  "admin/calendars",
  "admin/incidents",
  "admin/feeds",
  "admin/data",
  "admin/data/USDCAD",
  "admin/data/USDCAD?tab=layers",
  "admin/data/USDCAD?tab=correct",
  "admin/data/USDCAD?tab=as-of",
  "admin/audit",
];
const PAGE_MAX_MS = 180_000;
/** Two sources, of which none has a tick: nobody pushes, and nothing listens on this port. */
const NO_FEED = { LIVE_FEED: "push,tiingo", TIINGO_TOKEN: "none", FEED_URL: "ws://127.0.0.1:1" };
/** Every process follows a change within a second, on a machine that is not busy. */
const FOLLOWED = { timeout: 60_000, interval: 100 };

let product: Product;
let browser: Browser;
let mailbox: Mailbox;
let folder: string;
let context: BrowserContext;
let page: Page;
let customer: Visitor;
let operator: Visitor;
let key: string;
const problems: string[] = [];

const signUpAs = (email: string, address: string) =>
  signUp({ baseUrl: product.baseUrl, mailbox }, { email, password: PASSWORD, address });

/** A file of so many minutes of a Wednesday and after, from an hour of it on. */
async function klineFile(name: string, count: number, hour = 0): Promise<string> {
  const file = join(folder, name);
  const start = Date.UTC(2024, 2, 6, hour) / 1000;
  const rows = Array.from({ length: count }, (_, index) => `${start + index * 60},1.1,1.2,1.0,1.15,${1 + (index % 9)},0,0.0003`);
  await writeFile(file, `time,open,high,low,close,tick_volume,real_volume,spread\n${rows.join("\n")}\n`);
  return file;
}

beforeAll(async () => {
  mailbox = await openMailbox();
  [product, browser, folder] = await Promise.all([
    startProduct({ SMTP_URL: mailbox.url, TRUSTED_PROXIES: "127.0.0.1", ...NO_FEED }),
    borrowBrowser(),
    mkdtemp(join(tmpdir(), "spotwire-imports-")),
  ]);
  operator = await signUpAs(OPERATOR, "198.51.100.1");
  customer = await signUpAs(CUSTOMER, "198.51.100.2");
  const settings = { name: "Shop", venue: "live", scopes: ["market:read", "market:stream"], origins: [], expires_at: null };
  expect((await runCommand(product, "admin", ["grant-live", CUSTOMER])).exitCode).toBe(0);
  key = String((await customer.call("POST", "keys", settings)).data.text);
  expect((await runCommand(product, "admin", ["grant", OPERATOR])).exitCode).toBe(0);
  context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  page = await context.newPage();
  collectProblems(page, problems, ANSWERED);
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await returnBrowser(browser);
  await product?.dispose();
  await mailbox?.close();
  if (folder !== undefined) await rm(folder, { recursive: true });
}, SERVER_TIMEOUT_MS);

const goto = (path: string) => openPage(page, `${product.baseUrl}/${path}`);
const row = (name: string) => page.getByRole("row").filter({ hasText: name });
/** What a reader of the screen hears after the name of a field: its hint, or what is wrong with it. */
const noteOf = (field: Locator) =>
  field.evaluate((element) => document.getElementById(element.getAttribute("aria-describedby") ?? "")?.textContent ?? null);
const calendar = (name: string) => page.getByRole("region", { name, exact: true });

function ask(path: string): Promise<Response> {
  return fetch(`${product.baseUrl}/api/v1/market/${path}`, { headers: { authorization: `Bearer ${key}` } });
}

async function reason(): Promise<unknown> {
  const answer = (await (await ask("status?tickers=EURUSD")).json()) as { data: { items: { reason: unknown }[] } };
  return answer.data.items[0]?.reason;
}

describe("an operator", () => {
  let secret: string;

  test("without a second factor reaches only the page to set one up; other pages say so", async () => {
    const cookie = [...operator.cookies].map((pair) => pair.join("=")).join("; ");
    for (const path of PAGES) {
      const answer = await fetch(`${product.baseUrl}/${path}`, { headers: { cookie } });
      expect(answer.status, path).toBe(403);
      expect(await answer.text()).toContain("Operators need a second factor");
    }
    const dashboard = await fetch(`${product.baseUrl}/dashboard/keys`, { headers: { cookie }, redirect: "manual" });
    expect(dashboard.headers.get("location")).toBe("/dashboard/account");
    expect(await operator.call("GET", "admin/plans")).toMatchObject({ status: 403, message: "second_factor_required" });
    secret = await operator.addApp();
    expect((await operator.call("GET", "admin/plans")).status).toBe(200);
  });

  test("signs in and lands on the requested page, which does not exist for anyone else", async () => {
    await goto("admin/plans");
    expect(new URL(page.url()).pathname).toBe("/signin");
    await page.getByLabel("Email").fill(OPERATOR);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByLabel("Code").fill(codeOf(secret, 1));
    await page.getByRole("button", { name: "Continue" }).click();
    await page.waitForURL("**/admin/plans");
    await page.getByRole("heading", { level: 1, name: "Plans" }).waitFor();
    const cookie = [...customer.cookies].map((pair) => pair.join("=")).join("; ");
    for (const path of PAGES) expect((await fetch(`${product.baseUrl}/${path}`, { headers: { cookie } })).status, path).toBe(404);
  });

  test("adds a plan, puts an account on it, and the next answers have its limit", async () => {
    await page.getByRole("button", { name: "Add plan" }).click();
    await page.getByLabel("Name").fill("Team A");
    await page.getByLabel("REST burst").fill("0");
    await page.getByRole("spinbutton", { name: "Stream connections" }).focus();
    await expect.poll(() => noteOf(page.getByLabel("Name"))).toMatch(/^Use lowercase letters/);
    await expect.poll(() => noteOf(page.getByLabel("REST burst"))).toBe("Must be at least 1.");
    await page.getByLabel("REST burst").fill("20");
    await page.getByLabel("Name").fill("free");
    await page.getByRole("dialog").getByRole("button", { name: "Add plan" }).click();
    await page.getByText("A plan with this name already exists.").waitFor();
    await page.getByLabel("Name").fill("team-a");
    await page.getByLabel("REST units per minute").fill("777");
    await page.getByRole("dialog").getByRole("button", { name: "Add plan" }).click();
    await row("team-a").getByText("777").waitFor();
    await goto("admin");
    await page.getByRole("heading", { level: 1, name: "Health" }).waitFor();
    const rate = page.getByText("Requests per minute").locator("xpath=following-sibling::dd[1]");
    await expect.poll(() => rate.textContent(), { timeout: 60_000 }).toMatch(/^\d/);
    await row(new URL(product.baseUrl).port)
      .getByText(/^all, version /)
      .waitFor();
    await page.getByText("No backup yet.").waitFor();
    await goto("admin/accounts");
    await page.getByRole("searchbox").fill("customer@");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await row(OPERATOR).waitFor({ state: "detached" });
    await page.getByLabel(`Plan of ${CUSTOMER}`).selectOption("team-a");
    await row(CUSTOMER).getByRole("button", { name: "Save" }).click();
    await expect.poll(async () => (await ask("instruments")).headers.get("x-ratelimit-limit"), FOLLOWED).toBe("777");
  });

  test("limits an account to single tickers", async () => {
    await page.getByRole("button", { name: `Actions for ${CUSTOMER}` }).click();
    await page.getByRole("menuitem", { name: "Access", exact: true }).click();
    await page.getByRole("radio", { name: "Specific tickers" }).check();
    await page.getByRole("textbox", { name: "Tickers" }).fill("EUR/USD");
    await page.getByRole("textbox", { name: "Tickers" }).blur();
    await page.getByText("Tickers are 3 to 20 letters and digits").waitFor();
    await page.getByRole("textbox", { name: "Tickers" }).fill("eurusd, XAUUSD");
    await page.getByRole("button", { name: "Save" }).click();
    await row(CUSTOMER).getByText("EURUSD, XAUUSD").waitFor();
    const listed = (await (await ask("instruments")).json()) as { data: { items: object[] } };
    expect(listed.data.items).toHaveLength(2);
  });

  test("opens an account, with its keys and their use, and changes it there", async () => {
    await row(CUSTOMER).getByRole("link", { name: CUSTOMER }).click();
    await page.getByRole("heading", { level: 1, name: CUSTOMER }).waitFor();
    await row("Shop").getByText("Active", { exact: true }).waitFor();
    expect(await page.getByLabel(`Plan of ${CUSTOMER}`).inputValue()).toBe("team-a");
    await page.getByRole("button", { name: `Actions for ${CUSTOMER}` }).click();
    await page.getByRole("menuitem", { name: "Access", exact: true }).click();
    await page.getByRole("textbox", { name: "Tickers" }).fill("EURUSD, XAUUSD, XAGUSD");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Reads: EURUSD, XAUUSD, XAGUSD.").waitFor();
    await goto("admin/accounts");
  });

  test("sees a conflict when a colleague changed the account, and saves after opening it again", async () => {
    await page.getByRole("button", { name: `Actions for ${CUSTOMER}` }).click();
    await page.getByRole("menuitem", { name: "Access", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("With its plan team-a, it reads now: EURUSD, XAUUSD, XAGUSD.").waitFor();
    const { data } = await operator.call("GET", `admin/accounts?q=${CUSTOMER}`);
    const [{ id, revision }] = data.items as [{ id: string; revision: number }];
    const byColleague = { permissions: { kind: "tickers", values: ["EURUSD"] }, history_days: 30, revision };
    expect((await operator.call("PATCH", `admin/accounts/${id}`, byColleague)).status).toBe(200);
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("alert").getByText("was changed after you read it").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await row(CUSTOMER).getByText("EURUSD, 30 days").waitFor();
    await page.getByRole("button", { name: `Actions for ${CUSTOMER}` }).click();
    await page.getByRole("menuitem", { name: "Access", exact: true }).click();
    await dialog.getByRole("textbox", { name: "Tickers" }).fill("EURUSD, XAUUSD, XAGUSD");
    await dialog.getByRole("spinbutton", { name: "Days of history" }).fill("");
    await dialog.getByRole("button", { name: "Save" }).click();
    await row(CUSTOMER).getByText("EURUSD, XAUUSD, XAGUSD", { exact: true }).waitFor();
  });

  test("sees the providers' terms before a plan gives an account live access", async () => {
    const plans = (await operator.call("GET", "admin/plans")).data.items as { name: string; accounts: number }[];
    const { accounts, name, ...terms } = { ...plans.find((one) => one.name === "team-a") };
    const desk = { ...terms, live_access: true, revision: null };
    expect((await operator.call("PUT", "admin/plans/desk", desk)).status).toBe(200);
    await goto("admin/accounts");
    await page.getByRole("button", { name: "Create customer" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Newcomer");
    const told = "tiingo: The data is for internal use.";
    expect(await dialog.getByText(told).isVisible()).toBe(false);
    await dialog.getByLabel("Plan").selectOption("desk");
    await dialog.getByText(told).waitFor();
    await dialog.getByLabel("Plan").selectOption("team-a");
    await dialog.getByRole("button", { name: "Create customer" }).click();
    await page.getByRole("heading", { level: 1, name: "Newcomer" }).waitFor();
    await page.getByLabel("Plan of Newcomer").selectOption("desk");
    await page.getByText(told).waitFor();
    await goto("admin/accounts");
  });

  test("suspends an account after confirming it, and restores it", async () => {
    for (const [action, status] of [
      ["Suspend", 403],
      ["Restore", 200],
    ] as const) {
      await page.getByRole("button", { name: `Actions for ${CUSTOMER}` }).click();
      await page.getByRole("menuitem", { name: action }).click();
      await page
        .getByRole("alertdialog")
        .getByRole("button", { name: `${action} account` })
        .click();
      await page.getByRole("alertdialog").waitFor({ state: "detached" });
      await expect.poll(async () => (await ask("instruments")).status, FOLLOWED).toBe(status);
    }
  });

  test("closes a market by hand, which status and open streams show at once, and reopens it", async () => {
    const stream = await openSocket(product.baseUrl, { key });
    await stream.ask("subscribe", { stream: "quote", tickers: ["EURUSD"] });
    await goto("admin/calendars");
    await calendar("forex").getByRole("button", { name: "Close now…" }).click();
    await page.getByLabel("Note").fill("Provider outage");
    await page.getByRole("dialog").getByRole("button", { name: "Close now" }).click();
    await calendar("forex").getByText("Provider outage").waitFor();
    await expect.poll(reason, FOLLOWED).toBe("operator_override");
    const change = await stream.next("market_status", ({ data }) => data.reason === "operator_override");
    expect(change).toMatchObject({ ticker: "EURUSD", data: { calendar_state: "closed" } });
    await calendar("forex").getByRole("button", { name: "End override" }).click();
    await calendar("forex").getByText("Provider outage").waitFor({ state: "detached" });
    await expect.poll(reason, FOLLOWED).not.toBe("operator_override");
    await stream.next("market_status", ({ data }) => data.reason !== "operator_override");
    stream.close();
  });

  test("edits a calendar in a form, and reviews what changes before saving it", async () => {
    await calendar("metals").getByRole("button", { name: "Edit…" }).click();
    const dialog = page.getByRole("dialog");
    const review = dialog.getByRole("button", { name: "Review changes" });
    const zone = dialog.getByLabel("Time zone");
    await zone.fill("Mars/Olympus");
    await zone.blur();
    await dialog.getByRole("alert").filter({ hasText: "Must be an IANA time zone" }).waitFor();
    await review.click();
    expect(await zone.evaluate((element) => element === document.activeElement)).toBe(true);
    await zone.fill("America/Chicago");
    await dialog.getByRole("button", { name: "Add a session on Saturday" }).click();
    await dialog.getByLabel("Saturday closes").fill("12:30");
    await dialog.getByLabel("Date").fill("2028-12-24");
    await dialog.getByLabel("Trading").selectOption("early_close");
    await dialog.getByLabel("Time", { exact: true }).fill("25:00");
    await dialog.getByLabel("Time", { exact: true }).blur();
    expect(await noteOf(dialog.getByLabel("Time", { exact: true }))).toMatch(/^Must be/);
    await dialog.getByText("Import a list").click();
    await dialog
      .getByLabel("CSV or iCalendar")
      .fill("date,kind,time,name\n2028-10-10,closed,,Founders\n2028-02-30,closed,,\n2028-11-01,early_close,12:00,Saints");
    await dialog.getByText("Line 3: ").waitFor();
    await dialog.getByRole("button", { name: "Apply to 2 dates" }).click();
    await dialog.getByRole("button", { name: "Edit 2028-10-10 closed all day" }).waitFor();
    await dialog.getByText("Advanced").click();
    const json = dialog.getByLabel("Definition as JSON");
    expect(JSON.parse(await json.inputValue())).toMatchObject({ zone: "America/Chicago", names: { "2028-10-10": "Founders" } });
    await json.fill("{");
    await json.blur();
    await dialog.getByRole("alert").filter({ hasText: "JSON" }).waitFor();
    await dialog.getByLabel("Hours", { exact: true }).selectOption("weekly");
    await review.click();
    await dialog.getByText("2028-11-01 closes 12:00 (Saints)").waitFor();
    await dialog.getByText("Saturday 09:00–12:30").waitFor();
    await dialog.getByRole("heading", { name: "Two weeks from 2028-10-07" }).waitFor();
    await dialog.getByRole("button", { name: "Back" }).click();
    await dialog.getByLabel("Hours", { exact: true }).selectOption("never");
    await review.click();
    await dialog.getByText("Always closed.").waitFor();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await calendar("metals").getByText("Always closed.").waitFor();
  });

  test("reads at a field of an incident note what is wrong, once it is left, and publishes the note", async () => {
    await goto("admin/incidents");
    await page.getByRole("button", { name: "Add a note" }).click();
    const [starts, ends] = [page.getByLabel("Starts"), page.getByLabel("Ends (optional)")];
    await page.getByLabel("Title").fill("x".repeat(500));
    await starts.fill("2026-01-02T10:00");
    await expect.poll(() => noteOf(page.getByLabel("Title"))).toMatch(/^Use at most \d+ characters\.$/);
    await page.getByLabel("Title").fill("Maintenance");
    await ends.fill("2026-01-02T09:00");
    await ends.blur();
    await expect.poll(() => noteOf(ends)).toBe("The end must be later than the start.");
    await starts.fill("2026-01-02T08:00");
    await starts.blur();
    await expect.poll(() => noteOf(ends)).toBe("Time in UTC. Leave empty if ongoing.");
    await page.getByRole("button", { name: "Publish" }).click();
    await page.getByRole("listitem").filter({ hasText: "Maintenance" }).waitFor();
    await goto("admin/calendars");
  });

  test("sees that a calendar has too many sessions to draw", async () => {
    await page.getByText("Of the sandbox alone: always, flip, late, never").click();
    await page.getByText("Opens more than 300 times in the next two weeks").first().waitFor();
  });

  test("watches the feeds: the sandbox has ticks, no provider of live has any", async () => {
    await goto("admin/feeds");
    await page.getByText(/^No provider speaks for \d+ instruments yet/).waitFor();
    const rate = page.getByText("Ticks per second").last().locator("xpath=following-sibling::dd[1]");
    await expect.poll(async () => Number(await rate.textContent()), { timeout: 60_000 }).toBeGreaterThan(0);
    await page.getByRole("heading", { name: "Gaps none" }).last().waitFor();
    await page
      .getByText(/^History loaded .* \d+ of \d+ tickers have history/)
      .last()
      .waitFor();
  });

  test("pins one of several providers, and releases it", async () => {
    await page.getByRole("button", { name: "Pin tiingo" }).click();
    await page.getByRole("button", { name: "Pin provider" }).click();
    await page.getByText("Pinned", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Release tiingo" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Release" }).click();
    await page.getByRole("button", { name: "Pin tiingo" }).waitFor();
  });

  test("sees the progress of an import in another process, and why a file was not imported", async () => {
    await page.getByText("No imports yet").waitFor();
    expect((await runCommand(product, "import", [await klineFile("EURUSD.csv", 5_000, -48)])).exitCode).toBe(0);
    await row("1 of 1 file").getByText("Done", { exact: true }).waitFor();
    await row("1 of 1 file").getByText("5,000", { exact: true }).waitFor();
    const broken = join(folder, "XAUUSD.csv");
    await writeFile(broken, "these,are,no\nmarket,data,1\n");
    expect((await runCommand(product, "import", [broken, await klineFile("GBPUSD.csv", 100)])).exitCode).toBe(1);
    await row("2 of 2 files").getByText("Failed", { exact: true }).waitFor();
    await row("2 of 2 files").getByText("XAUUSD.csv: ").waitFor();
  });

  test("undoes an import with one click, and puts it back with the one of the toast", async () => {
    const imported = row("1 of 1 file");
    await imported.getByText("5,000 added, 0 overwritten").waitFor();
    const undo = imported.getByRole("button", { name: /^Undo import \d+$/ });
    const number = ((await undo.getAttribute("aria-label")) ?? "").replace(/\D/g, "");
    // The second click of a double click does not redo what the first undid.
    await undo.dblclick();
    await page.getByText(`Import ${number} is undone.`, { exact: true }).waitFor();
    await imported.getByText("Undone", { exact: true }).waitFor();
    await imported.getByRole("button", { name: `Redo import ${number}` }).waitFor();
    expect(await undo.count()).toBe(0);
    await page.getByRole("button", { name: "Put it back" }).click();
    await page.getByText(`Import ${number} is put back.`, { exact: true }).waitFor();
    await undo.waitFor();
    await imported.getByText("Done", { exact: true }).waitFor();
  });

  test("reads in its row why an import was not undone", async () => {
    const imported = row("1 of 1 file");
    await page.route("**/api/portal/admin/imports/*/undo", (route) => {
      const data = { detail: "The history of EURUSD is being changed.", request_id: "req_test", docs_url: "/docs/errors" };
      return route.fulfill({ status: 400, json: { code: 40001, message: "invalid_parameter", data } });
    });
    await imported.getByRole("button", { name: /^Undo import \d+$/ }).click();
    await imported.getByRole("alert").getByText("The history of EURUSD is being changed.").waitFor();
    await page.unroute("**/api/portal/admin/imports/*/undo");
  });

  test("finds the gap between two imports, the command that fills it, and what else is odd", async () => {
    const files = [await klineFile("USDCAD_first.csv", 600), await klineFile("USDCAD_second.csv", 300, 13)];
    expect((await runCommand(product, "import", files)).exitCode).toBe(0);
    await goto("admin/data");
    await row("USDCAD").getByText("900", { exact: true }).waitFor();
    await page.getByRole("link", { name: "USDCAD" }).click();
    await row("06 Mar 2024, 10:00").getByText("3 h", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Import… from 06 Mar 2024, 10:00" }).click();
    await page.getByRole("dialog").getByText("npm run import -- --ticker USDCAD FILE").waitFor();
    await page.keyboard.press("Escape");
    await row("Frozen").getByText("600 minutes with the same prices").waitFor();
    const around = await row("Frozen").getByRole("link").first().getAttribute("href");
    expect(around).toBe("/playground?op=klines&ticker=USDCAD&timeframe=M1&from=1709679600&to=1709722740");
    await page
      .getByText(/from 06 Mar 2024, 00:00 to 06 Mar 2024, 18:00$/)
      .last()
      .waitFor();
    await page.getByRole("tab", { name: "Layers" }).click();
    await row("USDCAD_second.csv").getByText("900 added, 0 overwritten, 0 unchanged").waitFor();
  });

  test("strikes a wrong minute out, and sees what struck it out", async () => {
    // The chosen tab is in the address: a link leads to it.
    expect(page.url()).toBe(`${product.baseUrl}/admin/data/USDCAD?tab=layers`);
    await goto("admin/data/USDCAD?tab=correct");
    await page.getByRole("button", { name: "Correct… 06 Mar 2024, 17:58" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reason").fill("A tick without its decimal point");
    await dialog.getByRole("button", { name: "Strike out" }).click();
    await row("06 Mar 2024, 17:58")
      .getByText(/^Struck out, import \d+$/)
      .waitFor();
    await page.getByRole("tab", { name: "Layers" }).click();
    await row("struck out: A tick without its decimal point").waitFor();
    await row("USDCAD_second.csv").getByText("899", { exact: true }).waitFor();
    await page.getByRole("tab", { name: "Correct" }).click();
    await page.getByRole("button", { name: "Correct… 06 Mar 2024, 17:59" }).click();
    await dialog.getByLabel("New values").click();
    await dialog.getByLabel("High").fill("0.5");
    await dialog.getByLabel("Reason").fill("Seen elsewhere");
    await dialog.getByRole("button", { name: "Save values" }).click();
    await dialog.getByText("Must be the highest of the four prices.").waitFor();
    await page.keyboard.press("Escape");
  });

  test("finds every one of these changes in the audit log, with before and after", async () => {
    await goto("admin/audit");
    const lines = await page.getByRole("row").allTextContents();
    const line = (...words: string[]) => lines.filter((text) => words.every((word) => text.includes(word))).length;
    expect(line("plan.change", "team-a", "777", OPERATOR)).toBe(1);
    expect(line("account.change", CUSTOMER, "free → team-a")).toBe(1);
    expect(line("account.change", CUSTOMER, "false → true", OPERATOR)).toBe(1);
    expect(line("calendar.override", "forex", "Provider outage")).toBe(1);
    expect(line("Changed the hours of calendar metals", "calendar.define", "weekly → never")).toBe(1);
    expect(line("history.import", "live", "command line", "5000", "EURUSD")).toBe(1);
    expect(line("history.undo", OPERATOR, "EURUSD")).toBe(1);
    expect(line("history.redo", OPERATOR, "EURUSD")).toBe(1);
    expect(line("history.correct", OPERATOR, "USDCAD", "A tick without its decimal point")).toBe(1);
    await page.getByLabel("Kind").selectOption("plan");
    await page.waitForURL("**/audit?kind=plan");
    await expect.poll(() => page.getByRole("row").count()).toBe(3);
  });
});

describe("the operators' pages", () => {
  let reading: Reading;
  beforeAll(async () => {
    reading = await createVisits(() => browser)();
  });

  /** Opens a page as the operator, with nothing of it cached. */
  const open = (path: string, width: number) =>
    reading.open(`${product.baseUrl}/${path}`, { width, cookies: operator.cookies, address: "198.51.100.1" });

  test.each(PAGES)(
    "/%s stays where it is while it comes in, and fits every width and colour scheme, with no finding against WCAG 2.2 AA",
    async (path) => {
      await open(path, 390);
      await expectToStay(reading, `/${path} at 390`);
      await open(path, 1440);
      await expectToStay(reading, `/${path} at 1440`);
      await expectToFit(reading.page, path.replaceAll(/[/?]/g, "-"));
      expect(reading.problems).toEqual([]);
    },
    PAGE_MAX_MS,
  );

  test("wrote no error to the console", () => {
    expect(problems).toEqual([]);
  });
});
