import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import type { Browser, BrowserContext, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operations } from "#lib/operations/declarations";
import { DAY_S, HOUR_S } from "#lib/units";
import { ANSWERED, BROWSER_TIMEOUT_MS, borrowBrowser, expectToBeLoaded, openPage, returnBrowser, STEP_MAX_MS } from "./browser";
import { type Mailbox, openMailbox, tokenIn } from "./mailbox";
import { feedBy, overhangOf, picture, SCHEMES, show } from "./reading";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { openSocket } from "./socket";
import { createVisitor, type Visitor } from "./visitor";

/** A bare page of the framework, and what the playground may add before its first call; gzip. */
const FIRST_LOAD_MAX_BYTES = 135_000 + 110_000;
const KEY = /sw_(?:test|live|page)_/;
const PASSWORD = "correct horse battery";

let product: Product;
let browser: Browser;
let mailbox: Mailbox;
let addresses = 0;
let problems: string[] = [];

beforeAll(async () => {
  mailbox = await openMailbox();
  [product, browser] = await Promise.all([
    startProduct({ SMTP_URL: mailbox.url, TRUSTED_PROXIES: "127.0.0.1" }),
    borrowBrowser(),
  ]);
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await returnBrowser(browser);
  await product?.dispose();
  await mailbox?.close();
}, SERVER_TIMEOUT_MS);

/** A browser of a reader with an address of its own, so that limits start afresh. */
async function reader({ width = 1440 }: { width?: number } = {}): Promise<BrowserContext> {
  addresses += 1;
  problems = [];
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    permissions: ["clipboard-read", "clipboard-write"],
    extraHTTPHeaders: { "x-forwarded-for": `198.51.${addresses}.1` },
  });
  context.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !ANSWERED.test(message.text())) problems.push(message.text());
  });
  context.on("weberror", (error) => problems.push(String(error.error())));
  return context;
}

async function open(context: BrowserContext, path = "/playground"): Promise<Page> {
  const page = await context.newPage();
  await openPage(page, product.baseUrl + path);
  return page;
}

/** Unix seconds of a Saturday at noon, UTC, that is over: no foreign exchange market is open then. */
function lastSaturday(): number {
  const day = DAY_S;
  const today = Math.floor(Date.now() / 1_000 / day);
  // The first day of 1970 was a Thursday.
  const sinceSaturday = (today + 5) % 7;
  return (today - (sinceSaturday === 0 ? 7 : sinceSaturday)) * day + day / 2;
}

const answer = (page: Page) => page.getByRole("region", { name: "Answer", exact: true });
const choose = (page: Page, operation: string) => page.getByRole("button", { name: operation }).click();
const send = (page: Page) => page.getByRole("button", { name: "Send", exact: true }).click();
const alert = (page: Page) => page.getByRole("alert").filter({ hasText: /\S/ }).first();
/** What this device keeps, besides the token of its pages, which stands for no key. */
const kept = (page: Page) =>
  page.evaluate("JSON.stringify([{ ...localStorage, 'page-token': undefined }, { ...sessionStorage }, location.href])");
const copied = (page: Page) => page.evaluate("navigator.clipboard.readText()") as Promise<string>;

/** What the reader can see, without scripts and styles; no test ends on a page that shows a stack or a bare "null". */
async function expectWords(page: Page, text: string | RegExp): Promise<void> {
  await page.getByText(text).first().waitFor();
  const shown = await page.locator("main").textContent();
  expect(shown).not.toMatch(/\bundefined\b|\[object|\n\s+at .*:\d+:\d+/);
  for (const one of await page.getByRole("alert").allTextContents()) expect(one).not.toMatch(/\bnull\b/);
}

describe("a reader without an account", () => {
  test("gets the first answer with one click: a live chart, and what the call cost", async () => {
    const page = await open(await reader());
    await send(page);
    await answer(page).getByText("200 OK").waitFor();
    await answer(page).getByText("Streaming", { exact: true }).waitFor();
    expect(await answer(page).locator("canvas").count()).toBeGreaterThan(0);
    expect(await answer(page).getByRole("link", { name: "Charts by TradingView" }).getAttribute("href")).toBe(
      "https://www.tradingview.com/",
    );
    expect(await answer(page).textContent()).toMatch(
      /Time\s*[\d.,]+ ms\s*Size\s*[\d.]+ k?B[\s\S]*\d+ of \d+ left, resets in (?:[\d.]+ m?s|1 min)/,
    );
    await answer(page).getByRole("button", { name: "M5", exact: true }).click();
    await answer(page).getByText("EURUSD M5, bid prices").waitFor();
    await answer(page).getByText("Streaming", { exact: true }).waitFor();
    expect(page.url()).toContain("timeframe=M5");
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test("spends of the demo key what the page says, and no more for the chart and the list of instruments", async () => {
    const page = await open(await reader());
    const spent: string[] = [];
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (request.headers().authorization === `Bearer ${product.demoKey}`) spent.push(pathname);
    });
    await page.getByRole("combobox", { name: "ticker" }).fill("xau");
    await page.getByRole("option", { name: /XAUUSD/ }).click();
    await send(page);
    await answer(page).getByText("Streaming", { exact: true }).waitFor();
    expect(spent).toEqual([operations.klines.path]);
    await page.context().close();
  });

  test("sees what a call costs before it is sent, as the values change", async () => {
    const page = await open(await reader(), "/playground?op=klines&ticker=EURUSD&timeframe=M1&limit=5000");
    await page.getByText("Costs 5 units of the rate limit.").waitFor();
    await page.getByRole("textbox", { name: "limit" }).fill("1001");
    await page.getByText("Costs 2 units of the rate limit.").waitFor();
    await page.getByRole("textbox", { name: "limit" }).fill("none");
    await page.getByText("Its cost depends on valid values.").waitFor();
    await page.getByRole("textbox", { name: "limit" }).fill("1001");
    await send(page);
    await answer(page).getByRole("tab", { name: "Headers" }).click();
    const cost = answer(page).getByText("x-ratelimit-cost", { exact: true }).locator("xpath=following-sibling::dd");
    expect(await cost.textContent()).toBe("2");
    await choose(page, "Quote stream");
    expect(await page.getByText("of the rate limit").count()).toBe(0);
    await page.context().close();
  });

  test("reads of a ticker that there is none once the field is left, and sees which answer is not to the request of the form", async () => {
    const page = await open(await reader(), "/playground?op=latestQuotes&tickers=EURUSD");
    const old = answer(page).getByText("Answer to the previous request.");
    await send(page);
    await answer(page).getByText("200 OK").waitFor();
    const field = page.getByRole("combobox", { name: "tickers" });
    await field.fill("EURUSD,XAUUSDD");
    await old.waitFor();
    expect(await page.locator("form [aria-invalid]").count()).toBe(0);
    await page.keyboard.press("Tab");
    await expectWords(page, "Not among your instruments: XAUUSDD. Did you mean XAUUSD?");
    expect(await page.locator("form [aria-invalid]").getAttribute("name")).toBe("tickers");
    await field.fill("EURUSD");
    await old.waitFor({ state: "detached" });
    expect(await page.locator("form [aria-invalid]").count()).toBe(0);
    await field.fill("XAUUSD");
    await old.waitFor();
    await send(page);
    await old.waitFor({ state: "detached" });
    await answer(page).getByText('"XAUUSD"').first().waitFor();
    await page.context().close();
  });

  test("finds the way from a timeframe that has too many days of mid prices to one that fits, by one click", async () => {
    const page = await open(await reader(), "/playground?op=klines&ticker=EURUSD&timeframe=H1&price=mid&limit=200");
    await send(page);
    await answer(page).getByText("EURUSD H1, mid prices").waitFor();
    await answer(page).getByRole("button", { name: "MN1", exact: true }).click();
    await expectWords(page, /The sandbox computes ask and mid klines of 800 days at most, here \d+ klines\./);
    await answer(page)
      .getByRole("button", { name: /^Send with limit=\d+$/ })
      .click();
    await answer(page).getByText("EURUSD MN1, mid prices").waitFor();
    expect(page.url()).toMatch(/timeframe=MN1.*limit=2\d/);
    await page.context().close();
  });

  test("draws bid and ask of ticks", async () => {
    const page = await open(await reader(), "/playground?op=ticks&ticker=XAUUSD&limit=300");
    await send(page);
    await answer(page)
      .getByRole("img", { name: /^XAUUSD: bid and ask of 300 ticks, / })
      .waitFor();
    await answer(page)
      .getByText(/^\d\d \w{3,4} \d{4} \d\d:\d\d:\d\d\.\d{3}$/)
      .waitFor();
    expect(await answer(page).locator("canvas").count()).toBeGreaterThan(0);
    await answer(page).getByRole("tab", { name: "Table" }).click();
    await answer(page).getByRole("row").nth(2).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test("downloads a file of the list, and reads why one could not be had", async () => {
    const page = await open(await reader(), "/playground?op=files&ticker=EURUSD&type=klines");
    await send(page);
    const download = answer(page)
      .getByRole("button", { name: /^Download the file of / })
      .first();
    const saved = page.waitForEvent("download");
    await download.click();
    const file = await saved;
    expect(file.suggestedFilename()).toMatch(/^EURUSD-M1-\d{4}-\d\d\.parquet$/);
    expect((await readFile(await file.path())).subarray(0, 4).toString()).toBe("PAR1");
    const data = { detail: "There is no such file.", request_id: "req_test", docs_url: "/docs/errors/unknown-file" };
    await page.route("**/api/v1/market/files/**", (route) =>
      route.fulfill({ status: 404, json: { code: 40402, message: "unknown_file", data } }),
    );
    await download.click();
    await answer(page).getByRole("alert").getByText("There is no such file.").waitFor();
    await page.context().close();
  });

  test("saves the table of a response as the CSV that the service sends", async () => {
    const page = await open(await reader());
    await choose(page, "Instruments");
    await send(page);
    await answer(page).getByRole("tab", { name: "Table" }).click();
    const saved = page.waitForEvent("download");
    await answer(page).getByRole("button", { name: "Download CSV" }).click();
    const file = await saved;
    expect(file.suggestedFilename()).toBe("instruments.csv");
    const headers = { authorization: `Bearer ${product.demoKey}`, accept: "text/csv" };
    const sent = await fetch(`${product.baseUrl}${operations.instruments.path}`, { headers });
    expect(sent.headers.get("content-type")).toMatch(/^text\/csv/);
    expect(await readFile(await file.path(), "utf8")).toBe(await sent.text());
    await page.context().close();
  });

  test("runs each of the six operations that read the market, as JSON that folds, as a table and with its headers", async () => {
    const page = await open(await reader());
    for (const operation of [
      "Historical klines",
      "Instruments",
      "Latest quotes",
      "Latest snapshots",
      "Conversion",
      "Market status",
    ]) {
      await choose(page, operation);
      await send(page);
      await answer(page).getByText("200 OK").waitFor();
      await answer(page).getByRole("tab", { name: "JSON" }).click();
      await answer(page).getByText('"message": ').waitFor();
      const items = answer(page).getByRole("button", { name: /^"items": / });
      await items.click();
      await expect.poll(() => items.getAttribute("aria-expanded")).toBe("false");
      expect(await items.textContent()).toMatch(/\[…\] \d+ items?$/);
      await answer(page).getByRole("button", { name: "Copy JSON" }).click();
      expect(JSON.parse(await copied(page))).toMatchObject({ code: 0, message: "success" });
      await answer(page).getByRole("tab", { name: "Table" }).click();
      await answer(page)
        .getByRole("row", {
          name: operation === "Historical klines" ? /EURUSD H1 \d{4}-\d\d-\d\d \d\d:00:00 \d\.\d{5} / : /EURUSD/,
        })
        .first()
        .waitFor();
      await answer(page).getByRole("tab", { name: "Headers" }).click();
      await answer(page).getByText("ratelimit-policy").waitFor();
    }
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test("takes a curl command without its key, keeps the request on this device, and compares any two answers", {
    tags: ["slow"],
  }, async () => {
    const page = await open(await reader());
    expect(await answer(page).textContent()).toContain("It looks like this:");
    await page.getByRole("button", { name: "Import curl" }).click();
    const command = `curl -sG '${product.baseUrl}${operations.marketStatus.path}' -d tickers=EURUSD -H "Authorization: Bearer ${product.demoKey}"`;
    await page.getByRole("textbox", { name: "Command" }).fill(command);
    await page.getByRole("button", { name: "Import", exact: true }).click();
    expect(await page.getByRole("combobox", { name: "tickers" }).inputValue()).toBe("EURUSD");
    await page.getByRole("button", { name: "Save request" }).first().click();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("Euro now");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await send(page);
    await answer(page).getByText("200 OK").waitFor();
    await page.getByRole("combobox", { name: "tickers" }).fill("XAUUSD");
    await send(page);
    await answer(page).getByRole("tab", { name: "Compare" }).click();
    await answer(page).getByText("items.0.ticker").waitFor();
    expect(await answer(page).getByLabel("Before").inputValue()).toBe("1");
    await page.getByRole("combobox", { name: "tickers" }).fill("EURUSD");
    await send(page);
    await answer(page).getByRole("tab", { name: "Compare" }).click();
    await expect.poll(() => answer(page).getByLabel("Before").inputValue()).toBe("2");
    await answer(page).getByText("items.0.ticker").waitFor();
    await answer(page).getByLabel("Before").selectOption("1");
    expect(await answer(page).getByLabel("Before").locator("option:checked").textContent()).toMatch(
      /^1\. Market status EURUSD, \d\d:\d\d:\d\d \(200\)$/,
    );
    await answer(page).getByText("items.0.ticker").waitFor({ state: "detached" });
    await answer(page).getByLabel("After").selectOption("2");
    await answer(page).getByText("items.0.ticker").waitFor();
    await answer(page).getByRole("tab", { name: "Timing" }).click();
    await answer(page).getByText("Wait for the first byte").waitFor();
    await page.reload();
    await expectToBeLoaded(page);
    await choose(page, "Your key");
    await page.getByRole("button", { name: "Euro now", exact: true }).click();
    expect(await page.getByRole("combobox", { name: "tickers" }).inputValue()).toBe("EURUSD");
    expect(await kept(page)).not.toMatch(KEY);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test("shows what the demo key can be used for", { tags: ["slow"] }, async () => {
    const page = await open(await reader());
    await choose(page, "Your key");
    await send(page);
    await answer(page).getByText("200 OK").waitFor();
    await answer(page).getByRole("button", { name: "Copy JSON" }).click();
    expect(JSON.parse(await copied(page))).toMatchObject({ data: { venue: "sandbox", plan: "demo", expires_at: null } });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test("picks a ticker from the instruments by the keyboard alone, sends with Enter, and copies the code", async () => {
    const page = await open(await reader(), "/playground?op=latestQuotes&tickers=EURUSD");
    const field = page.getByRole("combobox", { name: "tickers" });
    await field.focus();
    await page.keyboard.press("End");
    await page.keyboard.type(",xau");
    await page.getByRole("option", { name: /XAUUSD/ }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    expect(await field.inputValue()).toMatch(/^EURUSD,XAU[A-Z]{3}$/);
    await field.fill("EURUSD,XAUUSD");
    await page.keyboard.press("Enter");
    await answer(page).getByText("200 OK").waitFor();
    expect(new URL(page.url()).search).toBe("?op=latestQuotes&tickers=EURUSD,XAUUSD");
    const code = page.getByRole("region", { name: "Code" });
    await code.getByLabel("Language").selectOption("Python");
    await code.getByRole("button", { name: "Copy" }).click();
    expect(await copied(page)).toContain("quotes/latest?tickers=EURUSD,XAUUSD");
    await page.reload();
    await expectToBeLoaded(page);
    expect(await code.getByLabel("Language").inputValue()).toBe("Python");
    await page.goto(`${product.baseUrl}/docs/operations/latest-quotes`);
    await page.getByRole("tab", { name: "Python", selected: true }).first().waitFor();
    await page.getByRole("tab", { name: "PHP" }).first().click();
    await page.goto(`${product.baseUrl}/playground`);
    expect(await code.getByLabel("Language").inputValue()).toBe("PHP");
    await page.context().close();
  });

  test("writes Unix seconds by picking a date, and sees the service's error message", { tags: ["slow"] }, async () => {
    const page = await open(await reader());
    await page.getByLabel("Pick from (UTC)").fill("2026-01-02T00:00");
    await expect.poll(() => page.getByRole("textbox", { name: "from optional" }).inputValue()).toBe("1767312000");
    await page.getByLabel("Pick to (UTC)").fill("2026-01-01T00:00");
    await page.getByText("from must be before to.", { exact: true }).waitFor();
    await send(page);
    await expectWords(page, "from must be before to.");
    await expect
      .poll(() => answer(page).getByRole("alert").locator("code").allTextContents())
      .toEqual(["from", "to", expect.stringMatching(/^req_/)]);
    await page.getByRole("textbox", { name: "to optional" }).fill("1767400000000");
    await page.getByText("must be in Unix seconds; this value looks like milliseconds.").waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test("shares a link that opens the same call in another browser, and keeps the calls of this one", {
    tags: ["slow"],
  }, async () => {
    const page = await open(await reader(), "/playground?op=klines&ticker=XAUUSD&timeframe=M5&limit=20");
    await send(page);
    await answer(page).getByText("200 OK").waitFor();
    await page.getByRole("button", { name: "Copy link" }).click();
    const link = await copied(page);
    expect(link).toBe(`${product.baseUrl}/playground?op=klines&ticker=XAUUSD&timeframe=M5&limit=20`);
    await page.getByRole("button", { name: "Clear", exact: true }).waitFor();
    const stored = await kept(page);
    expect(stored).toContain("XAUUSD");
    expect(stored).not.toMatch(KEY);
    await choose(page, "Instruments");
    await page.getByRole("button", { name: /Historical klines 200/ }).click();
    expect(await page.getByRole("combobox", { name: "ticker" }).inputValue()).toBe("XAUUSD");
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    expect(await page.getByText("On this device").count()).toBe(0);
    await page.context().close();
    const other = await open(await reader(), link.slice(product.baseUrl.length));
    expect(await other.getByRole("combobox", { name: "ticker" }).inputValue()).toBe("XAUUSD");
    await send(other);
    await answer(other).getByText("200 OK").waitFor();
    await other.context().close();
  });

  test("has the form without any script", { tags: ["slow"] }, async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${product.baseUrl}/playground?op=marketStatus&tickers=XAUUSD`);
    expect(await page.getByRole("combobox", { name: "tickers" }).inputValue()).toBe("XAUUSD");
    expect(await page.getByRole("region", { name: "Code" }).textContent()).toContain("/api/v1/market/status?tickers=XAUUSD");
    await context.close();
  });
});

describe("a stream", () => {
  test.each(["Quote stream", "Kline stream", "Snapshot stream"])(
    "%s shows last values, sequences and every message",
    async (name) => {
      const page = await open(await reader());
      await choose(page, name);
      await page.getByRole("combobox", { name: "tickers" }).fill("EURUSD,XXXYYY,TESTCLOSED");
      await page.getByRole("button", { name: "Connect", exact: true }).click();
      await page.getByRole("row", { name: /^EURUSD .* 0$/ }).waitFor();
      await page.getByText("XXXYYY was not accepted").waitFor();
      await page.getByText("TESTCLOSED is closed").first().waitFor();
      const log = page.getByRole("list", { name: "Log" });
      await log.getByRole("button", { name: /sent subscribe/ }).waitFor();
      await log
        .getByRole("button", { name: /update/ })
        .first()
        .waitFor();
      await page.getByRole("button", { name: "Pause" }).click();
      await page.getByLabel("Filter messages").fill("welcome");
      expect(await log.getByRole("listitem").count()).toBe(1);
      await log.getByRole("button", { name: /welcome/ }).click();
      await page.getByRole("button", { name: "Resume" }).click();
      await page.getByLabel("Filter messages").fill("");
      await page.getByRole("button", { name: "Clear", exact: true }).click();
      await page.getByRole("button", { name: "Unsubscribe" }).click();
      await log.getByRole("button", { name: /sent unsubscribe/ }).waitFor();
      await page.getByText("Waiting for the first record.").waitFor();
      await page.getByRole("button", { name: "Disconnect" }).click();
      await page.getByText("You closed the connection.").waitFor();
      expect(problems).toEqual([]);
      await page.context().close();
    },
  );

  test.each([1440, 390])(
    "fits %i px, in two tabs at once on the demo key, and shows the values of each record",
    { tags: ["slow"] },
    async (width) => {
      const context = await reader({ width });
      const pages = [await open(context, "/playground?op=quoteStream"), await open(context, "/playground?op=quoteStream")];
      for (const page of pages) {
        await page.bringToFront();
        await page.getByRole("button", { name: "Connect", exact: true }).click();
        await page.getByRole("row", { name: /^XAUUSD .* 0$/ }).waitFor();
        const table = page.getByRole("table", { name: "Last value of each subscription" });
        expect(await table.evaluate((one) => one.scrollWidth - (one.parentElement?.clientWidth ?? 0))).toBeLessThanOrEqual(0);
        const line = page
          .getByRole("list", { name: "Log" })
          .getByRole("button", { name: /EURUSD [\d.]+ \/ [\d.]+ snapshot #\d+/ });
        await line.click();
        await page.getByText('{"type":"quote","event":"snapshot","ticker":"EURUSD"').first().waitFor();
      }
      expect(problems).toEqual([]);
      await context.close();
    },
  );

  test("pauses when its page was hidden for five minutes, and continues with the same tickers when it is shown", {
    tags: ["slow"],
  }, async () => {
    const context = await reader();
    const page = await context.newPage();
    await page.clock.install();
    await page.goto(`${product.baseUrl}/playground?op=quoteStream&tickers=EURUSD`);
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByRole("row", { name: /EURUSD/ }).waitFor();
    await page.evaluate(
      "Object.defineProperty(document, 'hidden', { value: true, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))",
    );
    await page.clock.fastForward("05:00");
    await page.getByText("Paused while hidden").waitFor();
    await page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByText("Connected", { exact: true }).waitFor();
    await page.getByRole("row", { name: /EURUSD/ }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});

test("while the demo key has no stream left, the console says so, and live prices go on", {
  tags: ["slow"],
}, async () => {
  const context = await reader();
  const headers = { "x-forwarded-for": `198.51.${addresses}.1` };
  const others = await Promise.all([1, 2].map(() => openSocket(product.baseUrl, { key: product.demoKey ?? "", headers })));
  // A connection that follows nothing is closed soon, and its place would be free again.
  for (const other of others) await other.ask("subscribe", { stream: "quote", tickers: ["EURUSD"] });
  const page = await open(context, "/playground?op=quoteStream&tickers=EURUSD");
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  await expectWords(page, 'The plan "demo" allows 2 connections at a time.');
  await expectWords(page, "Close one, then connect again.");
  await page.goto(product.baseUrl);
  await feedBy(page, "stream");
  for (const other of others) other.close();
  expect(problems).toEqual([]);
  await context.close();
});

describe("bad input", { tags: ["slow"] }, () => {
  test("in a link is listed with a sentence each, and no call is made", async () => {
    const page = await open(
      await reader(),
      "/playground?op=klines&ticker=%3Cimg%20src=x%20onerror=alert(1)%3E&timeframe=h1&bogus=1",
    );
    await expectWords(page, "Historical klines does not take “bogus”; it was left out.");
    await expectWords(page, "must be one of M1, M5");
    await expectWords(page, "A ticker is 3 to 20 letters and digits, without separators.");
    await page.goto(`${product.baseUrl}/playground?op=%00%FF%ED%A0%80`);
    expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
    await page.goto(`${product.baseUrl}/playground?op=nothing&op=klines`);
    await expectWords(page, /The operation in this link, “nothing”, does not exist/);
    await page.goto(`${product.baseUrl}/playground?op=latestQuotes&tickers=${product.demoKey}`);
    await expectWords(page, "The value of “tickers” was left out: it is too long or holds a key.");
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test("that the service refuses shows the service's error, with a suggestion", async () => {
    const page = await open(await reader(), "/playground?op=latestQuotes&tickers=XXXYYY");
    await send(page);
    await expectWords(page, "Not among your instruments: XXXYYY.");
    await expectWords(page, /Request id/);
    const about = answer(page).getByRole("link", { name: "About unknown_ticker" });
    expect(await about.getAttribute("href")).toBe("/docs/errors/unknown-ticker");
    const field = page.getByRole("combobox", { name: "tickers" });
    await field.fill("XAUUSD,EUR/USD");
    await send(page);
    await page.getByRole("button", { name: "Did you mean EURUSD?" }).click();
    expect(await field.inputValue()).toBe("XAUUSD,EURUSD");
    await answer(page).getByText("200 OK").waitFor();
    await page.context().close();
  });

  test("a market without data yet (503) asks to wait, and a closed one shows when it opens", async () => {
    const page = await open(await reader(), "/playground?op=latestQuotes&tickers=TESTNOTREADY");
    await send(page);
    await answer(page).getByText("503 Unavailable").waitFor();
    await expectWords(page, "No quote yet: TESTNOTREADY.");
    await expectWords(page, /Try again in|You can try again now/);
    await choose(page, "Market status");
    await page.getByRole("combobox", { name: "tickers" }).fill("TESTCLOSED");
    await send(page);
    await expectWords(page, /TESTCLOSED is closed/);
    await choose(page, "Historical klines");
    await page.getByRole("combobox", { name: "ticker" }).fill("TESTFX");
    const saturday = lastSaturday();
    await page.getByRole("textbox", { name: "from optional" }).fill(String(saturday));
    await page.getByRole("textbox", { name: "to optional" }).fill(String(saturday + HOUR_S));
    await send(page);
    await expectWords(page, /TESTFX was closed for the whole time range/);
    await page.context().close();
  });

  test("a used-up limit (429) shows when to try again", async () => {
    const context = await reader();
    const page = await open(context);
    const headers = { authorization: `Bearer ${product.demoKey}`, "x-forwarded-for": `198.51.${addresses}.1` };
    const call = () => fetch(`${product.baseUrl}/api/v1/market/instruments`, { headers });
    await expect.poll(async () => (await call()).status, { timeout: STEP_MAX_MS, interval: 1 }).toBe(429);
    // The limit refills while the browser works, so the calls go on until the page shows the error.
    let shown = false;
    const flood = Array.from({ length: 5 }, async () => {
      while (!shown) await call();
    });
    // A call of the page can be the one that gets what came back.
    await expect
      .poll(
        async () => {
          const answered = page.waitForResponse((response) => response.url().includes("/api/v1/market/klines"));
          await send(page);
          return (await answered).status();
        },
        { timeout: STEP_MAX_MS, interval: 1 },
      )
      .toBe(429);
    await expectWords(
      page,
      /^The (burst )?limit of the plan "demo" is reached[;:] .* left( this minute)?\. Try again in \d+ s\.$/,
    ).finally(() => {
      shown = true;
    });
    await Promise.all(flood);
    expect(await alert(page).getByRole("link", { name: "About rate_limited" }).getAttribute("href")).toBe(
      "/docs/errors/rate-limited",
    );
    // The last calls of the flood may have taken what came back within the named wait: the page then names another wait.
    await expect
      .poll(
        async () => {
          const answered = page.waitForResponse((response) => response.url().includes("/api/v1/market/klines"));
          await page.getByRole("button", { name: "Send again" }).click();
          return (await answered).status();
        },
        { timeout: STEP_MAX_MS, interval: 1 },
      )
      .toBe(200);
    await answer(page).getByText("200 OK").waitFor();
    await context.close();
  });

  test("shows that the browser is offline, for calls and for streams", async () => {
    const context = await reader();
    const page = await open(context);
    await choose(page, "Quote stream");
    await page.getByRole("button", { name: "Connect", exact: true }).waitFor();
    await context.setOffline(true);
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await expectWords(page, "You're offline.");
    await choose(page, "Instruments");
    await send(page);
    await expectWords(page, "Connect to a network, then try again.");
    await context.setOffline(false);
    await page.getByRole("button", { name: "Try again" }).click();
    await answer(page).getByText("200 OK").waitFor();
    await context.close();
  });

  test("a response of a proxy is shown as one that is not the service's", async () => {
    const page = await open(await reader(), "/playground?op=instruments");
    await page.route("**/api/v1/**", (route) =>
      route.fulfill({ status: 502, contentType: "text/html", body: "<h1>Bad Gateway</h1>" }),
    );
    await send(page);
    await expectWords(page, "This response (status 502) did not come from the service.");
    await page.context().close();
  });
});

describe("a developer who is signed in", () => {
  const EMAIL = "ada@example.test";
  let ada: Visitor;
  let context: BrowserContext;
  let page: Page;
  let made = 0;

  beforeAll(async () => {
    ada = createVisitor(product.baseUrl, "203.0.113.9");
    await ada.call("POST", "sign-up", { email: EMAIL, password: PASSWORD });
    const link = await mailbox.nextLink(EMAIL, "/verify");
    await ada.call("POST", "verify", { token: tokenIn(link) });
    expect(await ada.signIn(EMAIL, PASSWORD)).toBeNull();
  });

  async function makeKey(): Promise<{ id: string; name: string }> {
    made += 1;
    const name = `Own ${made}`;
    const settings = { name, venue: "sandbox", scopes: ["market:read", "market:stream"], origins: [], expires_at: null };
    const { id } = (await ada.call("POST", "keys", settings)).data.key as { id: string };
    return { id, name };
  }

  async function visit(path: string): Promise<void> {
    context = await reader();
    await context.addCookies([...ada.cookies].map(([key, value]) => ({ name: key, value, url: product.baseUrl })));
    page = await open(context, path);
  }

  /** A fresh key of hers, selected on a fresh page. */
  async function withOwnKey(path: string): Promise<{ id: string; name: string }> {
    const key = await makeKey();
    await visit(path);
    await select().selectOption({ label: await labelOf(key.name) });
    return key;
  }

  const select = () => page.getByLabel("Key", { exact: true });

  const labelOf = async (name: string) =>
    (await select().locator("option").allTextContents()).find((text) => text.startsWith(name)) ?? "";

  test("is led by the first steps to a call and a stream with their own key, which tick them off", async () => {
    const { id } = await makeKey();
    await visit("/dashboard");
    const steps = page.getByRole("region", { name: "First steps" }).getByRole("listitem");
    const follow = async (step: string) => {
      const [opened] = await Promise.all([
        context.waitForEvent("page"),
        steps.filter({ hasText: step }).getByRole("link", { name: "playground" }).click(),
      ]);
      await opened.getByLabel("Key", { exact: true }).waitFor();
      expect(await opened.getByLabel("Key", { exact: true }).inputValue()).toBe(id);
      return opened;
    };
    const call = await follow("Make a request");
    await send(call);
    await answer(call).getByText("200 OK").waitFor();
    await steps.filter({ hasText: "Make a request" }).getByText("Done").waitFor();
    const stream = await follow("Open a stream");
    await stream.getByRole("button", { name: "Connect", exact: true }).click();
    await stream.getByRole("row", { name: /EURUSD/ }).waitFor();
    await steps.filter({ hasText: "Open a stream" }).getByText("Done").waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  test("begins with their newest sandbox key, unless they chose another on this device, or the link names one", async () => {
    const older = await makeKey();
    const newer = await makeKey();
    const lastUsed = async (id: string) =>
      ((await ada.call("GET", "keys")).data.items as readonly { id: string; last_used_at: string | null }[]).find(
        (key) => key.id === id,
      )?.last_used_at;
    await visit("/playground?op=instruments");
    const expectChosen = (id: string) => expect.poll(() => select().inputValue()).toBe(id);
    await expectChosen(newer.id);
    await send(page);
    await answer(page).getByText("200 OK").waitFor();
    await expect.poll(() => lastUsed(newer.id), { timeout: STEP_MAX_MS }).not.toBeNull();
    expect(await lastUsed(older.id)).toBeNull();

    await select().selectOption("demo");
    await expectWords(page, "Demo key: not counted for your account. Sandbox prices.");
    await page.reload();
    await expectChosen("demo");
    await page.goto(`${product.baseUrl}/playground?op=instruments&key=${older.id}`);
    await expectChosen(older.id);
    await page.goto(`${product.baseUrl}/playground`);
    await expectChosen("demo");

    await select().selectOption(older.id);
    await page.goto(`${product.baseUrl}/playground?op=instruments`);
    await expectChosen(older.id);
    await page.goto(`${product.baseUrl}/playground?op=instruments&key=demo`);
    await expectChosen("demo");
    await page.goto(`${product.baseUrl}/playground?op=instruments`);
    await expectChosen(older.id);
    expect((await ada.call("POST", `keys/${older.id}/revoke`, { confirm: older.name })).status).toBe(200);
    await page.reload();
    await expectChosen(newer.id);
    expect(problems).toEqual([]);
    await context.close();
  });

  test("calls and streams with their own key, which appears in neither code, address nor storage", async () => {
    await withOwnKey("/playground?op=klines&ticker=EURUSD&timeframe=M1&limit=10");
    await send(page);
    await answer(page).getByText("Streaming", { exact: true }).waitFor();
    expect(await page.content()).not.toMatch(/sw_page_/);
    expect(await page.getByRole("region", { name: "Code" }).textContent()).toContain("$SPOTWIRE_KEY");
    await choose(page, "Quote stream");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByRole("row", { name: /EURUSD/ }).waitFor();
    expect(await kept(page)).not.toMatch(KEY);
    expect(problems).toEqual([]);
    await context.close();
  });

  test("sees when the selected key is revoked, and how its open stream ended", { tags: ["slow"] }, async () => {
    const { id, name } = await withOwnKey("/playground?op=quoteStream&tickers=EURUSD");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByRole("row", { name: /EURUSD/ }).waitFor();
    expect((await ada.call("POST", `keys/${id}/revoke`, { confirm: name })).status).toBe(200);
    await expectWords(page, "The key was revoked or expired, or its grace period ended. Use another key.");
    await expectWords(page, "4401");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await expectWords(page, `The key “${name}” was revoked or has expired.`);
    await choose(page, "Instruments");
    await send(page);
    await expectWords(page, "Choose another key above, or create a new one.");
    await context.close();
  });

  test("does not notice that a token has expired: a new one is created", { tags: ["slow"] }, async () => {
    await withOwnKey("/playground?op=instruments");
    let minted = 0;
    await page.route("**/api/portal/tokens", async (route) => {
      minted += 1;
      if (minted > 1) return route.continue();
      const data = { token: "sw_page_ended.ended", expires_at: new Date(Date.now() + 600_000).toISOString() };
      return route.fulfill({ json: { code: 0, message: "success", data } });
    });
    await send(page);
    await answer(page).getByText("200 OK").waitFor();
    expect(minted).toBe(2);
    await context.close();
  });

  test("has to sign in again when the session has ended", { tags: ["slow"] }, async () => {
    await withOwnKey("/playground?op=instruments");
    await ada.signOut();
    await send(page);
    await expectWords(page, "Your session has expired, so your key can't be used here.");
    expect(await alert(page).getByRole("link", { name: "Sign in" }).getAttribute("href")).toBe("/signin?next=%2Fplayground");
    await select().selectOption("demo");
    await send(page);
    await answer(page).getByText("200 OK").waitFor();
    await context.close();
  });
});

test.each(["klines", "ticks"])(
  "the list of files of %s has code for each, for the program that was chosen",
  { tags: ["slow"] },
  async (type) => {
    const page = await open(await reader(), `/playground?op=files&ticker=EURUSD&type=${type}`);
    await send(page);
    const files = answer(page).getByRole("table", { name: "Files" });
    await files.getByRole("row").nth(3).waitFor();
    for (const [program, code] of [
      ["pandas", `${type} = pd.read_parquet(`],
      ["Polars", `${type} = pl.read_parquet(`],
      ["DuckDB", `FROM '${type}.parquet'`],
    ] as const) {
      await answer(page).getByText(program, { exact: true }).first().click();
      await files.getByRole("button", { name: "Copy code" }).first().click();
      await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain(code);
    }
    expect(problems).toEqual([]);
  },
);

describe("the page", { tags: ["slow"] }, () => {
  test.each([1440, 390])("fits %i pixels in both schemes", async (width) => {
    const page = await open(await reader({ width }));
    const expectNoOverhang = async (name: string) => {
      for (const scheme of SCHEMES) {
        await show(page, width, scheme);
        await expect.poll(() => overhangOf(page), { message: `${name} in ${scheme}` }).toBeLessThanOrEqual(0);
        await picture(page, `${name}-${width}-${scheme}`);
      }
    };
    await expectNoOverhang("playground-empty");
    await send(page);
    await answer(page).getByText("Streaming", { exact: true }).waitFor();
    await expectNoOverhang("playground");
    if (width > 1000) await choose(page, "Quote stream");
    else await page.getByLabel("Operation", { exact: true }).selectOption("Quote stream");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByRole("row", { name: /EURUSD/ }).waitFor();
    await expectNoOverhang("playground-stream");
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test("loads no more script than its budget before the first action, and the chart only with its answer", async () => {
    const context = await reader();
    const counted: Promise<number>[] = [];
    const total = async () => (await Promise.all(counted)).reduce((sum, size) => sum + size, 0);
    context.on("response", (response) => {
      if (response.request().resourceType() !== "script") return;
      // What arrives while the page closes has no body any more.
      const size = response.body().then(
        (body) => gzipSync(body).length,
        () => 0,
      );
      counted.push(size);
    });
    const page = await open(context);
    const first = await total();
    expect(first).toBeLessThan(FIRST_LOAD_MAX_BYTES);
    await send(page);
    await answer(page).locator("canvas").first().waitFor();
    expect(await total()).toBeGreaterThan(first + 30_000);
    await context.close();
  });
});

describe("a service that goes away", { tags: ["slow"] }, () => {
  test("ends the stream with the reason, then fails a call, and never shows a blank page or a stack", async () => {
    const page = await open(await reader(), "/playground?op=quoteStream&tickers=EURUSD");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByRole("row", { name: /EURUSD/ }).waitFor();
    await product.stop();
    await expectWords(page, "The server is shutting down or restarting. Reconnect with jitter and resume.");
    await expectWords(page, /Here, press Connect/);
    await choose(page, "Instruments");
    await send(page);
    await expectWords(page, "Can't reach the service.");
    await page.getByRole("button", { name: "Try again" }).waitFor();
    await page.context().close();
  });
});
