import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SANDBOX_FILES_MONTHS_COUNT } from "#lib/contract/limits";
import { ANSWERED, BROWSER_TIMEOUT_MS, borrowBrowser, expectToBeLoaded, openPage, returnBrowser } from "./browser";
import { runCommand } from "./commands";
import { type Mailbox, openMailbox } from "./mailbox";
import { createVisits, expectToFit, LAYOUT_SHIFT_MAX, picture } from "./reading";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { signUp } from "./visitor";

const PASSWORD = "correct horse battery";
const IMPORT_TIMEOUT_MS = 120_000;

let product: Product;
let browser: Browser;
let mailbox: Mailbox;
let folder: string;

const signUpAs = (email: string, address: string) =>
  signUp({ baseUrl: product.baseUrl, mailbox }, { email, password: PASSWORD, address });

/** Imports minutes of USDCAD from a time on, all with one price. @returns the number of the import */
async function importMinutes(name: string, from: string, count: number, price: number): Promise<number> {
  const file = join(folder, name);
  const start = Date.parse(from) / 1000;
  const rows = Array.from(
    { length: count },
    (_, index) => `${start + index * 60},${price},${price},${price},${price},${1 + (index % 9)}`,
  );
  await writeFile(file, `time,open,high,low,close,tick_volume\n${rows.join("\n")}\n`);
  const { exitCode, output } = await runCommand(product, "import", ["--ticker", "USDCAD", "--accept-doubts", file]);
  expect(exitCode, output).toBe(0);
  return Number(/This is import (\d+)/.exec(output)?.[1]);
}

/** Follows the link of a month, and calls for the list that it leads to: it has the file of this month alone. */
async function openFile(page: Page, month: Locator): Promise<void> {
  const name = /^\w+ \d{4}/.exec((await month.getAttribute("aria-label")) ?? "")?.[0];
  const first = new Date(`1 ${name} UTC`).toISOString().slice(0, 10);
  await month.click();
  await page.waitForURL("**/playground?op=files&**");
  await expectToBeLoaded(page);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const files = page.getByRole("table", { name: "Files" });
  await files.getByRole("row", { name: new RegExp(`^${first}`) }).waitFor();
  expect(await files.getByRole("row").count()).toBe(2);
}

beforeAll(async () => {
  mailbox = await openMailbox();
  [product, browser, folder] = await Promise.all([
    startProduct({ SMTP_URL: mailbox.url, TRUSTED_PROXIES: "127.0.0.1" }),
    borrowBrowser(),
    mkdtemp(join(tmpdir(), "spotwire-data-")),
  ]);
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await returnBrowser(browser);
  await product?.dispose();
  await mailbox?.close();
  if (folder !== undefined) await rm(folder, { recursive: true });
}, SERVER_TIMEOUT_MS);

const visit = createVisits(() => browser);

describe("a stranger", () => {
  test.each([1440, 390])(
    "at %i pixels finds the instrument that lacks klines, its worst year and why minutes lack",
    async (width) => {
      const { page, problems, overhang } = await visit({ width });
      await openPage(page, `${product.baseUrl}/data`);
      await page.getByRole("searchbox").fill("missing klines");
      expect(await page.getByRole("row").count()).toBe(2);
      await page.getByRole("row", { name: /TESTGAP.*91\.\d%/ }).waitFor();
      await page.getByRole("searchbox").fill("");
      await page.getByRole("button", { name: "Complete", exact: true }).click();
      await page.getByRole("button", { name: "Complete", exact: true }).click();
      await page.getByRole("row").nth(1).getByText("TESTGAP", { exact: true }).waitFor();
      expect(await overhang()).toBeLessThanOrEqual(0);
      await picture(page, `data-list-${width}`);
      await page.getByRole("link", { name: "TESTGAP" }).click();
      await page.getByRole("heading", { level: 1, name: "Data of TESTGAP" }).waitFor();
      await page.getByRole("link", { name: "2024", exact: true }).click();
      await page.waitForURL("**/data/TESTGAP?year=2024#gaps");
      await page.getByRole("heading", { name: "Gaps in 2024" }).waitFor();
      const gaps = page.getByRole("table", { name: "Gaps in 2024", exact: true });
      await gaps
        .getByRole("row", { name: /\d\d [A-Z][a-z]+ 2024, .* h .*Nothing is stored/ })
        .first()
        .waitFor();
      await page.getByRole("table", { name: "Sources" }).getByText("Formula of the sandbox").waitFor();
      for (const [label, type] of [
        ["M1 klines by month", "klines"],
        ["Ticks by day", "ticks"],
      ] as const) {
        const download = page.getByRole("link", { name: `${label} of TESTGAP in the playground` });
        expect(await download.getAttribute("href")).toContain(`op=files&ticker=TESTGAP&type=${type}`);
      }
      expect(await overhang()).toBeLessThanOrEqual(0);
      await picture(page, `data-ticker-${width}`);
      expect(problems).toEqual([]);
      await page.close();
    },
  );

  test.each([1440, 390, 320])("at %i pixels opens the row of those that are alike, and sees the years of each", async (width) => {
    const { page, problems, overhang, shift } = await visit({ width });
    await openPage(page, `${product.baseUrl}/data`);
    const alike = page.getByRole("button", { name: /^\d\d instruments/ });
    const folded = page.getByRole("row").filter({ has: alike });
    const rows = page.getByRole("row");
    await folded.filter({ hasText: /31 Dec 2019.*100%/ }).waitFor();
    const count = Number(/\d+/.exec((await alike.textContent()) ?? "")?.[0]);
    const closed = await rows.count();
    expect(await alike.getAttribute("aria-expanded")).toBe("false");
    await page.getByRole("link", { name: "EURUSD", exact: true }).waitFor();
    // A browser leaves out what a key moves within half a second; on a busy machine the rows come later.
    expect(await shift()).toBeLessThan(LAYOUT_SHIFT_MAX);
    await alike.press("Enter");
    // The rows of each are in the place of the line with their tickers.
    await expect.poll(() => rows.count()).toBe(closed - 1 + count);
    expect(await alike.getAttribute("aria-expanded")).toBe("true");
    const single = page.getByRole("row", { name: /^EURUSD.*100%/ });
    const [bars, row] = [await single.locator("svg").last().boundingBox(), await single.boundingBox()];
    if (bars === null || row === null) throw new Error("no bars");
    expect(bars.width).toBeGreaterThan(row.width * (width < 500 ? 0.5 : 0.25));
    expect(await single.getByText("2019", { exact: true }).isVisible()).toBe(width < 500);
    expect(await overhang()).toBeLessThanOrEqual(0);
    await alike.press("Enter");
    await expect.poll(() => rows.count()).toBe(closed);
    await page.getByRole("searchbox").fill("cable");
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole("row", { name: /^GBPUSD/ }).waitFor();
    await page.getByRole("searchbox").fill("");
    await page.getByRole("button", { name: "Instrument", exact: true }).click();
    await expect.poll(() => alike.count()).toBe(0);
    expect(await rows.count()).toBeGreaterThan(count);
    expect(problems).toEqual([]);
    await page.close();
  });

  test("reads the first day in UTC, by which years and months are counted, in whatever zone the page is, and within its cell", async () => {
    const { page, problems } = await visit({ width: 320, timezoneId: "Asia/Kolkata" });
    await openPage(page, `${product.baseUrl}/data/XAUUSD`);
    await page.getByRole("banner").getByRole("radio", { name: "Kolkata" }).check();
    const first = page.locator("dt", { hasText: "First kline" }).locator("xpath=following-sibling::dd");
    await expect.poll(() => first.allTextContents()).toEqual(["31 Dec 2019", "01 Jan 2020, 03:30"]);
    await page.getByRole("link", { name: "2019", exact: true }).waitFor();
    const wide = await page
      .locator("dd")
      .evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length);
    expect(wide).toBe(0);
    await page.goto(`${product.baseUrl}/data`);
    await page.getByRole("row", { name: /instruments since 31 Dec 2019/ }).waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  test("comes from a month to its file, where the sandbox has one", async () => {
    const { page, problems } = await visit();
    await openPage(page, `${product.baseUrl}/data/EURUSD`);
    const months = page.getByRole("link", { name: /^[A-Z][a-z]+ \d{4}: 100%, list its file$/ });
    expect(await months.count()).toBe(SANDBOX_FILES_MONTHS_COUNT);
    await openFile(page, months.first());
    expect(problems).toEqual([]);
    await page.close();
  });

  test("reads all of it before any script runs, and the list as JSON", async () => {
    const { page } = await visit({ javaScriptEnabled: false });
    await page.goto(`${product.baseUrl}/data`);
    await page.getByRole("row", { name: /\d\d instruments.*31 Dec 2019.*100%/ }).waitFor();
    await page.getByRole("link", { name: "EURUSD", exact: true }).click();
    await page.waitForURL("**/data/EURUSD");
    await page.getByText("No gaps: every minute in which the market was open has a kline.").waitFor();
    await page.close();
    const answer = await fetch(`${product.baseUrl}/data.json`);
    const { venue, items } = (await answer.json()) as { venue: string; items: { ticker: string; missing_minutes: number }[] };
    expect(venue).toBe("sandbox");
    expect(items.find(({ ticker }) => ticker === "EURUSD")).toMatchObject({
      missing_minutes: 0,
      first_at: "2019-12-31T22:00:00.000Z",
    });
  });

  test.each([
    ["/data/NOPE", 404],
    ["/data/EURUSD?year=1990", 404],
    ["/data/EURUSD?year=next", 404],
    ["/data.json?venue=mars", 400],
    ["/data.json?venue=live", 401],
  ])("%s is answered with %i", async (path, status) => {
    expect((await fetch(product.baseUrl + path)).status).toBe(status);
  });

  test("sees why the live venue is hidden", async () => {
    const { page } = await visit();
    await page.goto(`${product.baseUrl}/data/EURUSD?venue=live`);
    const reason = page.getByRole("status").filter({ hasText: "This is the sandbox." });
    expect(await reason.getByRole("link", { name: "Sign in" }).getAttribute("href")).toBe(
      `/signin?next=${encodeURIComponent("/data/EURUSD?venue=live")}`,
    );
    expect(await page.getByRole("navigation", { name: "Venue" }).count()).toBe(0);
    await page.close();
  });
});

test(
  "a reader with a live key sees what is stored of the live venue, with its gaps, holidays and sources",
  async () => {
    const ada = await signUpAs("ada@example.test", "203.0.113.7");
    expect((await runCommand(product, "admin", ["grant-live", "ada@example.test"])).exitCode).toBe(0);
    const settings = { name: "Desk", venue: "live", scopes: ["market:read"], origins: [], expires_at: null };
    expect((await ada.call("POST", "keys", settings)).status).toBe(200);
    await importMinutes("early.csv", "2023-12-20T00:00Z", 600, 1.3);
    await importMinutes("late.csv", "2024-01-03T00:00Z", 600, 1.3);
    const { page, problems } = await visit();
    await page.context().addCookies([...ada.cookies].map(([name, value]) => ({ name, value, url: product.baseUrl })));
    await openPage(page, `${product.baseUrl}/data`);
    await page.getByRole("navigation", { name: "Venue" }).getByRole("link", { name: "Live" }).click();
    await page.getByRole("status").getByText("The history of the live venue. Until an operator binds a provider").waitFor();
    await page.getByRole("row", { name: /^\d\d instruments.*Nothing is stored/ }).waitFor();
    await page
      .getByRole("row", { name: /USDCAD.*20 Dec 2023/ })
      .getByRole("link")
      .click();
    await page.waitForURL("**/data/USDCAD?venue=live");
    await page.getByRole("link", { name: "2023", exact: true }).click();
    await page.waitForURL("**/data/USDCAD?venue=live&year=2023#gaps");
    await page.getByRole("row", { name: /20 Dec 2023, 10:00.*Nothing is stored/ }).waitFor();
    await page
      .getByRole("table", { name: "Closed by the calendar" })
      .getByRole("row", { name: /25 Dec 2023.*Holiday/ })
      .waitFor();
    await page.getByRole("row", { name: /Imported files.*2 in all.*1,200/ }).waitFor();
    expect(await page.getByRole("main").textContent()).not.toContain("early.csv");
    await expectToFit(page, "data-live");
    await openFile(page, page.getByRole("link", { name: /^December 2023: \d+\.\d%, list its file$/ }));
    expect(problems).toEqual([]);
    await page.close();
  },
  IMPORT_TIMEOUT_MS,
);

test(
  "an operator sees a wrong import on top of a right one, undoes and redoes it, and views the year as of an earlier time",
  async () => {
    const operator = await signUpAs("operator@example.test", "203.0.113.8");
    expect((await runCommand(product, "admin", ["grant", "operator@example.test"])).exitCode).toBe(0);
    await operator.addApp();
    const right = await importMinutes("right.csv", "2022-06-07T00:00Z", 300, 1.25);
    // Instants are told apart by seconds: this one is after the first import and before the second one.
    const before = new Date(Math.ceil(Date.now() / 1_000) * 1_000);
    await expect.poll(() => Date.now()).toBeGreaterThan(before.getTime());
    const wrong = await importMinutes("wrong.csv", "2022-06-07T01:00Z", 100, 1.35);

    const { page, problems } = await visit();
    await page.context().addCookies([...operator.cookies].map(([name, value]) => ({ name, value, url: product.baseUrl })));
    // Without a key, and without a provider.
    await openPage(page, `${product.baseUrl}/data`);
    await page.getByRole("navigation", { name: "Venue" }).getByRole("link", { name: "Live" }).click();
    // A venue is counted once a minute: before or after these imports, here.
    await page
      .getByRole("row", { name: /^USDCAD.* 202[23]/ })
      .getByRole("link")
      .click();
    await page.waitForURL("**/data/USDCAD?venue=live");
    await page.getByRole("row", { name: /Imported files/ }).waitFor();
    expect(await page.getByRole("link", { name: /list its file/ }).count()).toBe(0);

    await openPage(page, `${product.baseUrl}/admin/data/USDCAD?tab=layers`);
    await page.getByLabel("Year of the layers").selectOption("2022");
    const layers = page.getByRole("region", { name: "Layers" });
    const layer = (name: string) => layers.getByRole("row").filter({ hasText: name });
    await layer(`${wrong} · wrong.csv`).getByRole("cell", { name: "100", exact: true }).first().waitFor();
    await layer(`${right} · right.csv`).getByRole("cell", { name: "200", exact: true }).waitFor();
    expect(await layer("wrong.csv").locator("svg title").first().textContent()).toBe("2022-06: 100 said, 100 show");
    await picture(page, "admin-layers");

    const open = (tab: string) => page.getByRole("tab", { name: tab }).click();
    const ask = async (asOf: string) => {
      await page.locator("input[name=as_of]").fill(asOf);
      await page.getByRole("button", { name: "Show", exact: true }).click();
    };
    await open("As of");
    await ask(before.toISOString().slice(0, 19));
    const past = page.getByRole("region", { name: /^2022 as of / });
    await past.getByRole("row", { name: /2022-06 300 1\.25000 1\.25000 1\.25000 1\.25000/ }).waitFor();
    await page.getByText("Other values since").locator("..").getByText("100", { exact: true }).waitFor();

    await open("Layers");
    const press = (action: "Undo" | "Redo") => page.getByRole("button", { name: `${action} import ${wrong}` }).click();
    await press("Undo");
    await layer("wrong.csv").getByText("Undone", { exact: true }).waitFor();
    await layer("right.csv").getByRole("cell", { name: "300", exact: true }).last().waitFor();
    await open("As of");
    await ask(before.toISOString().slice(0, 19));
    await page.getByText("Other values since").locator("..").getByText("0", { exact: true }).waitFor();
    await open("Layers");
    await press("Redo");
    await layer("right.csv").getByRole("cell", { name: "200", exact: true }).waitFor();

    await open("As of");
    await ask("2100-01-01T00:00:00");
    await page.getByText("as_of must not be in the future.").waitFor();
    await ask("2001-01-01T00:00:00");
    await page.getByText(/^Nothing of USDCAD was known before /).waitFor();
    expect(problems.filter((text) => !ANSWERED.test(text))).toEqual([]);
    await page.close();
  },
  IMPORT_TIMEOUT_MS,
);
