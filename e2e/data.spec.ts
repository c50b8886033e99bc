import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ANSWERED, BROWSER_TIMEOUT_MS, borrowBrowser, openPage, returnBrowser } from "./browser";
import { runCommand } from "./commands";
import { type Mailbox, openMailbox } from "./mailbox";
import { createVisits, expectToFit, picture } from "./reading";
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
      await page.getByRole("button", { name: "Complete" }).click();
      await page.getByRole("button", { name: "Complete" }).click();
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

  test("reads all of it before any script runs, and the list as JSON", async () => {
    const { page } = await visit({ javaScriptEnabled: false });
    await page.goto(`${product.baseUrl}/data`);
    await page.getByRole("row", { name: /EURUSD.*31 Dec 2019.*100%/ }).waitFor();
    await page.goto(`${product.baseUrl}/data/EURUSD`);
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
    await openPage(page, `${product.baseUrl}/data?venue=live`);
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
    await openPage(page, `${product.baseUrl}/admin/data/USDCAD`);
    await page.getByLabel("Year of the layers").selectOption("2022");
    const layers = page.getByRole("region", { name: "Layers" });
    const layer = (name: string) => layers.getByRole("row").filter({ hasText: name });
    await layer(`${wrong} · wrong.csv`).getByRole("cell", { name: "100", exact: true }).first().waitFor();
    await layer(`${right} · right.csv`).getByRole("cell", { name: "200", exact: true }).waitFor();
    expect(await layer("wrong.csv").locator("svg title").first().textContent()).toBe("2022-06: 100 said, 100 show");
    await picture(page, "admin-layers");

    await page.getByLabel("As of", { exact: true }).fill(before.toISOString().slice(0, 19));
    await page.getByRole("button", { name: "Show", exact: true }).click();
    const past = page.getByRole("region", { name: /^2022 as of / });
    await past.getByRole("row", { name: /2022-06 300 1\.25000 1\.25000 1\.25000 1\.25000/ }).waitFor();
    await page.getByText("Other values since").locator("..").getByText("100", { exact: true }).waitFor();

    const press = (action: "Undo" | "Redo") => page.getByRole("button", { name: `${action} import ${wrong}` }).click();
    await press("Undo");
    await layer("wrong.csv").getByText("Undone", { exact: true }).waitFor();
    await layer("right.csv").getByRole("cell", { name: "300", exact: true }).last().waitFor();
    await page.getByText("Other values since").locator("..").getByText("0", { exact: true }).waitFor();
    await press("Redo");
    await layer("right.csv").getByRole("cell", { name: "200", exact: true }).waitFor();

    await page.getByLabel("As of", { exact: true }).fill("2100-01-01T00:00:00");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.getByText("`as_of` must not be in the future.").waitFor();
    await page.getByLabel("As of", { exact: true }).fill("2001-01-01T00:00:00");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.getByText(/^Nothing of USDCAD was known before /).waitFor();
    expect(problems.filter((text) => !ANSWERED.test(text))).toEqual([]);
    await page.close();
  },
  IMPORT_TIMEOUT_MS,
);
