import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import type { Browser, BrowserContext, Page } from "playwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { FeedsReport } from "#lib/contract/portal-admin";
import { reservePort } from "#lib/testing/ports";
import { BROWSER_TIMEOUT_MS, borrowBrowser, openPage, returnBrowser } from "./browser";
import { runCommand } from "./commands";
import { type Mailbox, openMailbox } from "./mailbox";
import { expectToFit } from "./reading";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { signUp, type Visitor } from "./visitor";

const OPERATOR = "operator@example.test";

let product: Product;
let browser: Browser;
let mailbox: Mailbox;
let operator: Visitor;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  mailbox = await openMailbox();
  [product, browser] = await Promise.all([
    startProduct({ SMTP_URL: mailbox.url, TRUSTED_PROXIES: "127.0.0.1" }),
    borrowBrowser(),
  ]);
  const place = { baseUrl: product.baseUrl, mailbox };
  operator = await signUp(place, { email: OPERATOR, password: "correct horse battery", address: "198.51.100.1" });
  expect((await runCommand(product, "admin", ["grant", OPERATOR])).exitCode).toBe(0);
  await operator.addApp();
  context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    extraHTTPHeaders: { "x-forwarded-for": "198.51.100.1" },
  });
  await context.addCookies([...operator.cookies].map(([name, value]) => ({ name, value, url: product.baseUrl })));
  page = await context.newPage();
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await returnBrowser(browser);
  await product?.dispose();
  await mailbox?.close();
}, SERVER_TIMEOUT_MS);

const goto = (path: string) => openPage(page, `${product.baseUrl}/${path}`);
const button = (name: string) => page.getByRole("button", { name, exact: true });
const report = () => page.getByRole("figure").filter({ hasText: "What the importer says" });

/** A file of so many minutes of a Wednesday, as a browser sends it. */
function klineFile(name: string, count: number) {
  const start = Date.UTC(2024, 2, 6) / 1000;
  const rows = Array.from({ length: count }, (_, index) => `${start + index * 60},1.1,1.2,1.0,1.15,${1 + (index % 9)},0,0.0003`);
  const text = `time,open,high,low,close,tick_volume,real_volume,spread\n${rows.join("\n")}\n`;
  return { name, mimeType: "text/csv", buffer: Buffer.from(text) };
}
const BAD = { name: "XAUUSD.csv", mimeType: "text/csv", buffer: Buffer.from("these,are,no\nmarket,data,1\n") };

const rowsOf = async (ticker: string) => {
  const { data } = await operator.call("GET", "admin/data");
  return (data.items as readonly { ticker: string; rows: number }[]).find((one) => one.ticker === ticker)?.rows;
};

test("an operator without history drops files, reads what is wrong with each, and cancels: nothing is stored", async () => {
  await goto("admin/data");
  await expectToFit(page, "admin-data-import");
  await page.getByLabel("Files of history").setInputFiles([klineFile("EURUSD.csv", 3_000), BAD]);
  await page.getByText("Some files cannot be imported. The others can. Nothing is stored yet.").waitFor();
  await report().getByText("XAUUSD.csv").first().waitFor();
  expect(await report().textContent()).toContain("NOT IMPORTED");
  expect(await report().textContent()).not.toContain(product.dataDir);
  await expectToFit(page, "admin-data-tried");
  expect(await rowsOf("EURUSD")).toBe(0);
  await button("Discard the files").click();
  await button("Choose files").waitFor();
});

test("imports files once their trial went well, and undoes that", async () => {
  await page.getByLabel("Files of history").setInputFiles([klineFile("EURUSD.csv", 3_000)]);
  await page.getByText("The trial went well. Nothing is stored yet.").waitFor();
  await button("Import").click();
  await page.getByText("Imported.", { exact: true }).waitFor();
  await expect.poll(() => rowsOf("EURUSD")).toBe(3_000);
  const { data } = await operator.call("GET", "admin/audit");
  expect(data.items).toContainEqual(expect.objectContaining({ action: "history.upload", after: { files: ["EURUSD.csv"] } }));
  await page.getByRole("button", { name: /^Undo import \d+$/ }).click();
  await page.getByText("Undone.", { exact: true }).waitFor();
  await expect.poll(() => rowsOf("EURUSD")).toBe(0);
  await page.getByRole("button", { name: /^Redo import \d+$/ }).click();
  await page.getByText("Imported.", { exact: true }).waitFor();
  await expect.poll(() => rowsOf("EURUSD")).toBe(3_000);
  await page.getByRole("button", { name: /^Undo import \d+$/ }).click();
  await page.getByText("Undone.", { exact: true }).waitFor();
  await button("Done").click();
  await button("Choose files").waitFor();
  await expect.poll(() => rowsOf("EURUSD")).toBe(0);
});

test("tells the instrument of a file whose name does not", async () => {
  await page.getByLabel("Files of history").setInputFiles([klineFile("history.csv", 100)]);
  await page.getByText("Some files cannot be imported.").waitFor();
  await page.getByLabel("Instrument").fill("gbpusd");
  await button("Try again").click();
  await page.getByText("The trial went well.").waitFor();
  await button("Import").click();
  await page.getByText("Imported.", { exact: true }).waitFor();
  expect(await rowsOf("GBPUSD")).toBe(100);
  await button("Done").click();
  await button("Choose files").waitFor();
});

test("nobody else reaches an upload: not a stranger, not a customer, not another site", async () => {
  const path = `${product.baseUrl}/api/portal/admin/upload`;
  const send = (headers: Record<string, string>) =>
    fetch(`${path}/files/EURUSD.csv?offset=0`, { method: "PUT", body: "x", headers });
  const cookie = [...operator.cookies].map((pair) => pair.join("=")).join("; ");
  expect((await send({ origin: product.baseUrl })).status).toBe(401);
  expect((await send({ origin: "https://elsewhere.test", cookie })).status).toBe(403);
  const customer = await signUp(
    { baseUrl: product.baseUrl, mailbox },
    { email: "customer@example.test", password: "correct horse battery", address: "198.51.100.2" },
  );
  expect((await customer.call("POST", "admin/upload")).status).toBe(404);
});

test("checks the settings of a provider before they are used, and ends with the lines for .env", async () => {
  await goto("admin/feeds");
  await page.getByRole("heading", { name: "Bind a provider" }).waitFor();
  await expectToFit(page, "admin-feeds-bind");
  await page.getByLabel("Provider").selectOption("tiingo");
  await page.getByText(/^1 account with live access will read its prices\. The data is for internal use\.$/).waitFor();
  await page.getByLabel("Provider").selectOption("fix");
  await page.getByLabel("FIX_HOST").fill("127.0.0.1");
  await page.getByLabel("FIX_PORT").fill("70000");
  await page.getByLabel("FIX_SENDER", { exact: true }).fill("us");
  await page.getByLabel("FIX_TARGET", { exact: true }).fill("them");
  await page.getByLabel("FIX_PASSWORD", { exact: true }).fill("secret word");
  await button("Check").click();
  await expect.poll(() => page.locator(":focus").getAttribute("name")).toBe("FIX_PORT");
  const port = String(await reservePort());
  await page.getByLabel("FIX_PORT").fill(port);
  await button("Check").click();
  const findings = page.getByRole("list", { name: "What the check found" });
  await findings.getByText(`127.0.0.1:${port} cannot be reached`).waitFor();
  await page.getByText("For .env, once the check passes").waitFor();
  const lines = await page.locator("pre").textContent();
  expect(lines).toContain(`LIVE_FEED=fix\nFIX_HOST=127.0.0.1\nFIX_PORT=${port}\n`);
  expect(lines).toContain("FIX_PASSWORD='secret word'");
  expect(product.output()).not.toContain("secret word");
  await expectToFit(page, "admin-feeds-checked");
});

test("reads what the live venue lacks first, the next step beside it, and what is not configured as neither well nor wrong", async () => {
  await goto("admin");
  const first = page.getByRole("list", { name: "What to do" }).getByRole("listitem").first();
  await first.getByText("Sandbox only: no live provider is configured.", { exact: true }).waitFor();
  expect(await page.getByText("Everything works").count()).toBe(0);
  expect(await first.getByRole("link", { name: "Bind a provider" }).getAttribute("href")).toBe("/admin/feeds");
  const checks = page.getByRole("heading", { name: "Checks" }).locator("xpath=ancestor::section").getByRole("listitem");
  const state = (title: string) => checks.filter({ hasText: new RegExp(`^${title}`) }).textContent();
  expect(await Promise.all(["Live feed", "Live prices", "Certificate", "Provider token", "Mail server"].map(state))).toEqual([
    "Live feedNot bound",
    "Live pricesNot bound",
    "CertificateNot configured",
    "Provider tokenNot configured",
    "Mail serverOK",
  ]);
});

test("opens the pages of operators from the palette", async () => {
  await goto("admin");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("calend");
  await page.getByRole("option", { name: "Calendars", selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/admin/calendars");
});

test("goes from a problem on the health page to an incident that says its cause, since when, and whom it concerns", async () => {
  const { url } = JSON.parse(await readFile(join(product.dataDir, "postgres.json"), "utf8")) as { url: string };
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const report = { version: "1", role: "all", started_ms: 0, checks: {}, rates: null, connections: 0, disk: null };
  const more = { lag_ms: { live: null, sandbox: null }, memory_bytes: 1, loop_lag_ms: 1 };
  await client.query(
    "INSERT INTO node_report (id, name, reported_at, report) VALUES ($1, 'edge-1:3000', now() - interval '5 minutes', $2)",
    [randomUUID(), JSON.stringify({ ...report, ...more })],
  );
  await client.end();
  await goto("admin");
  const problem = page.getByRole("listitem").filter({ hasText: "edge-1:3000 has not reported" });
  await problem.getByRole("link", { name: "Publish an incident" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a note" });
  await dialog.waitFor();
  expect(await dialog.getByLabel("Title").inputValue()).toBe("Nodes");
  const text = await dialog.getByLabel("What happens, and what to do (optional)").inputValue();
  expect(text).toMatch(/^edge-1:3000 has not reported for .*\nConcerns: Clients of the node that is silent\.$/);
  expect(await dialog.getByLabel("Starts").inputValue()).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d/);
  await dialog.getByLabel("Title").fill("One node is away");
  await dialog.getByRole("button", { name: "Publish" }).click();
  await page.getByRole("listitem").filter({ hasText: "One node is away" }).waitFor();
  expect(page.url()).toBe(`${product.baseUrl}/admin/incidents`);
  // What they wrote is no check that fails, and goes on until they end it.
  await goto("admin");
  const told = page
    .getByRole("list", { name: "What to do" })
    .getByRole("listitem")
    .filter({ hasText: "Your note: One node is away" });
  await told.getByText(/since 20\d\d-|since \d/).waitFor();
  await told.getByRole("link", { name: "Update or resolve it" }).click();
  await page.getByRole("button", { name: "Resolve One node is away now" }).click();
  await page.getByText("The status page shows it as resolved.", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Resolve One node is away now" }).waitFor({ state: "detached" });
});

test("says of a feeder that is gone when its last tick came, who pushed it, and what to do, above what is not offered", async () => {
  const at = "2026-01-05T09:41:07.000Z";
  const pusher = { key: "Feeder", account: "Acme", at, address: "203.0.113.0/24", refused: false };
  const prices_problem = "All 2 open instruments have no fresh price: EURUSD, XAUUSD";
  const counts = { newest_ticker: "XAUUSD", lag_ms: 180_000, tickers: 2, live: 0, stale: 2, missing: 0, not_offered: ["GBPUSD"] };
  let refused = false;
  await page.route("**/admin/feeds", async (route) => {
    if (route.request().resourceType() !== "fetch") return route.continue();
    const { data, ...more } = (await (await route.fetch()).json()) as { data: FeedsReport };
    const live = { ...data.feeds[0], ...counts, provider: "push", problem: null, prices_problem, pusher: { ...pusher, refused } };
    await route.fulfill({
      json: { ...more, data: { ...data, at_ms: Date.parse(at) + 180_000, feeds: [live, ...data.feeds.slice(1)] } },
    });
  });
  await goto("admin/feeds");
  const section = page.getByRole("heading", { name: "Live", exact: true }).locator("xpath=ancestor::section");
  await section.getByText("No fresh prices", { exact: true }).waitFor();
  expect(await section.getByRole("alert").textContent()).toBe(prices_problem);
  await section.getByText(/^Last call of a key that may push: Feeder of Acme, from 203\.0\.113\.0\/24, .*09:41:07\.$/).waitFor();
  await section.getByText(/^XAUUSD, .*09:41:07$/).waitFor();
  await section.getByText(/^What to do: Look whether the feeder runs/).waitFor();
  const unoffered = section.getByText("1 instrument not offered by push");
  expect((await unoffered.boundingBox())?.y).toBeGreaterThan(
    (await section.getByText("Ticks per second").boundingBox())?.y ?? Infinity,
  );
  expect(await section.getByText("GBPUSD", { exact: true }).isVisible()).toBe(false);
  refused = true;
  await section.getByText(/^What to do: Give the feeder a key that has not ended/).waitFor();
  await page.unroute("**/admin/feeds");
});

test("leads from late prices to one incident about their venue, with the last price as its start", async () => {
  const { url } = JSON.parse(await readFile(join(product.dataDir, "postgres.json"), "utf8")) as { url: string };
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const checks = { prices_live: "All 6 open instruments have no fresh price: EURUSD" };
  const report = { version: "1", role: "all", started_ms: 0, checks, rates: null, connections: 0, disk: null };
  const quiet_since_ms = { live: Date.UTC(2026, 0, 5, 9, 41, 7), sandbox: null };
  const more = { lag_ms: { live: null, sandbox: null }, quiet_since_ms, memory_bytes: 1, loop_lag_ms: 1 };
  await client.query("INSERT INTO node_report (id, name, reported_at, report) VALUES ($1, 'edge-2:3000', now(), $2)", [
    randomUUID(),
    JSON.stringify({ ...report, ...more }),
  ]);
  await goto("admin");
  const problem = page.getByRole("listitem").filter({ hasText: "EURUSD" });
  expect(await problem.textContent()).toMatch(/^Problem: Live prices since .*09:41/);
  await problem.getByRole("link", { name: "Publish an incident" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a note" });
  expect(await dialog.getByLabel("Title").inputValue()).toBe("Live prices delayed");
  expect(await dialog.getByLabel("Starts").inputValue()).toMatch(/^2026-01-05T09:41/);
  await dialog.getByRole("button", { name: "Publish" }).click();
  await page.getByRole("listitem").filter({ hasText: "Live prices delayed" }).waitFor();
  await goto("admin");
  await problem.getByRole("link", { name: "Update the incident" }).click();
  await page.getByRole("dialog", { name: "Edit the incident" }).getByRole("button", { name: "Cancel" }).click();
  expect((await client.query("SELECT part FROM incident_note WHERE title = 'Live prices delayed'")).rows).toEqual([
    { part: "live" },
  ]);
  await client.query("DELETE FROM node_report WHERE name = 'edge-2:3000'");
  await client.end();
});
