import { request } from "node:http";
import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Kline } from "#lib/contract/kline";
import type { Timeframe } from "#lib/contract/primitives";
import { HOUR_S } from "#lib/units";
import { ANSWERED, BROWSER_TIMEOUT_MS, borrowBrowser, openPage, returnBrowser, STEP_MAX_MS } from "./browser";
import { keyHolder, makeLiveKey, runCommand } from "./commands";
import { createFeeder } from "./feeder";
import { type Mailbox, openMailbox, tokenIn } from "./mailbox";
import { blockStream, createVisits, feedBy, LAYOUT_SHIFT_MAX, picture, SCHEMES, STREAM, show, WIDTHS_PX } from "./reading";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { createVisitor } from "./visitor";

const UPDATES_PER_SECOND_COUNT = 50;
const API = "**/api/v1/**";
/** Room of a chart's price axis, of the gap that may follow the newest kline, and of the kline itself. */
const EDGE_MAX_PX = 160;

let product: Product;
let browser: Browser;
let mailbox: Mailbox;

beforeAll(async () => {
  mailbox = await openMailbox();
  [product, browser] = await Promise.all([
    // Each tab gets an address of its own, and with it calls of its own on the demo key.
    startProduct({ TRUSTED_PROXIES: "127.0.0.1", LIVE_FEED: "push", SMTP_URL: mailbox.url }),
    borrowBrowser(),
  ]);
  // The first request of a fresh process pays for all.
  await fetch(product.baseUrl);
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await returnBrowser(browser);
  await product?.dispose();
  await mailbox?.close();
}, SERVER_TIMEOUT_MS);

const visit = createVisits(() => browser);

const prices = (page: Page) => page.locator("[data-price]").allTextContents();

/** The newest kline, as the API has it. */
async function newestKline(ticker: string, timeframe: Timeframe): Promise<Kline> {
  const query = new URLSearchParams({ ticker, timeframe, limit: "1" });
  const headers = { authorization: `Bearer ${product.demoKey}` };
  const response = await fetch(`${product.baseUrl}/api/v1/market/klines?${query}`, { headers });
  const { data } = (await response.json()) as { data: { items: [Kline] } };
  return data.items[0];
}

/** Keeps in `window.drawn` what charts write into their canvas from now on. */
const keepWriting = (page: Page) =>
  page.addInitScript(() => {
    const drawn = new Set<string>();
    Object.assign(window, { drawn });
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
      drawn.add(text);
      return fillText.call(this, text, ...place);
    };
  });

/** The time of a kline as the chart's crosshair has it. */
function crosshairText({ time }: Kline, timeframe: Timeframe): string {
  if (timeframe === "M1") return new Date(time * 1_000).toUTCString().slice(5, 22);
  // It opens at 21:00 or 22:00 UTC of the evening before.
  return new Date((time + 12 * HOUR_S) * 1_000).toUTCString().slice(timeframe === "MN1" ? 8 : 5, 16);
}

/** Resolves once some price is another than now. */
async function nextPrice(page: Page): Promise<void> {
  const before = await prices(page);
  await page.waitForFunction(
    (texts) => [...document.querySelectorAll("[data-price]")].some((cell, index) => cell.textContent !== texts[index]),
    before,
    { timeout: STEP_MAX_MS },
  );
}

test.each(WIDTHS_PX)(
  "the first page streams prices at %i pixels in both schemes, without errors in the console",
  async (width) => {
    const { page, problems, overhang, shift } = await visit({ width });
    await page.goto(product.baseUrl);
    await feedBy(page, "stream");
    for (const scheme of SCHEMES) {
      await show(page, width, scheme);
      await nextPrice(page);
      expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
      expect(await page.getByRole("region", { name: "Prices now" }).getByRole("row").count()).toBe(9);
      expect(await page.getByRole("row", { name: /^EURUSD [\d.]+ .*Open$/ }).count()).toBe(1);
      expect(await overhang()).toBeLessThanOrEqual(0);
      await picture(page, `landing-${width}-${scheme}`);
    }
    expect(await shift()).toBeLessThan(LAYOUT_SHIFT_MAX);
    expect(problems).toEqual([]);
    await page.close();
  },
);

describe("the first page", () => {
  test("has prices and states before any script runs", async () => {
    const { page } = await visit({ javaScriptEnabled: false });
    await page.goto(product.baseUrl);
    for (const text of await prices(page)) expect(text).toMatch(/^[\d,]+\.\d+$/);
    expect(await page.getByRole("row", { name: /Open$/ }).count()).toBe(8);
    await page.close();
  });

  test("follows the system between light and dark", async () => {
    const { page } = await visit({ colorScheme: "light" });
    await page.goto(product.baseUrl);
    const ground = () => page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
    const light = await ground();
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await ground()).not.toBe(light);
    await page.close();
  });

  test("shows a curl line that gets an answer when its address and key are used", async () => {
    const { page } = await visit();
    await page.goto(product.baseUrl);
    const line = (await page.locator("pre code", { hasText: "curl" }).textContent()) ?? "";
    const [, key, url] = /^curl -H "Authorization: Bearer (\S+)" "(\S+)"$/.exec(line) ?? [];
    const answer = await fetch(url ?? "", { headers: { authorization: `Bearer ${key}` } });
    expect(answer.status).toBe(200);
    expect(((await answer.json()) as { code: number }).code).toBe(0);
    await page.close();
  });

  test("links to the playground and the sign-up", async () => {
    const { page } = await visit();
    await page.goto(product.baseUrl);
    const main = page.getByRole("main");
    expect(await main.getByRole("link", { name: "Open the playground" }).getAttribute("href")).toBe(
      "/playground?op=latestQuotes&tickers=EURUSD,XAUUSD",
    );
    expect(await main.getByRole("link", { name: "Create an account" }).getAttribute("href")).toBe("/signup");
    await page.close();
  });

  test("has two doors: the command that runs the service, and what it takes to use this one", async () => {
    const { page } = await visit();
    await page.goto(product.baseUrl);
    const own = page.getByRole("region", { name: "Run it yourself" });
    expect(await own.locator("pre code").textContent()).toBe("npm ci --omit=dev && npm start");
    const used = page.getByRole("region", { name: "Use this service" });
    expect(await used.locator("pre code").textContent()).toMatch(/^curl /);
    expect(await page.getByRole("table").last().getByRole("row").count()).toBe(8);
    await page.close();
  });

  test("proves that a stream resumes: its connection is really closed, and no record is lost", async () => {
    const { page } = await visit();
    const closed: string[] = [];
    page.on("websocket", (socket) => socket.on("close", () => closed.push(socket.url())));
    await openPage(page, product.baseUrl);
    await page.getByRole("button", { name: "Start a stream of 8 tickers" }).click();
    await page.getByText("Streaming. Now pull the plug").waitFor();
    await page.getByRole("button", { name: "Pull the plug" }).click();
    await page.getByText("No connection. The market goes on without you.").waitFor();
    await expect.poll(() => closed.length).toBe(1);
    // The board has a connection of its own, which shows that there is something to miss.
    await nextPrice(page);
    await nextPrice(page);
    await page.getByRole("button", { name: "Plug it back in" }).click();
    await page.getByText(/^Resumed after [\d.]+ s, 0 of [1-9]\d* records? lost\.$/).waitFor({ timeout: 60_000 });
    expect(closed).toHaveLength(1);
    await page.close();
  });

  test("links only to addresses that answer", async () => {
    const { page } = await visit();
    await page.goto(product.baseUrl);
    const links: string[] = await page.evaluate("[...document.links].map((link) => link.href)");
    const own = [...new Set(links)].filter((link) => link.startsWith(product.baseUrl));
    expect(own.length).toBeGreaterThan(6);
    for (const link of own) expect((await fetch(link)).status, link).toBe(200);
    await page.close();
  });

  test("can be used with the keyboard alone, with visible focus", async () => {
    const { page } = await visit();
    await page.goto(product.baseUrl);
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to content");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
    await page.close();
  });

  test("does not repeat a Host header that is not a host", async () => {
    const body = await new Promise<string>((resolve, reject) => {
      request(product.baseUrl, { headers: { host: "x.example$(touch /tmp/x)" } }, (response) => {
        let text = "";
        response.on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () => resolve(text));
      })
        .on("error", reject)
        .end();
    });
    expect(body).not.toContain("touch /tmp");
  });
});

describe("a price that changed", () => {
  const RECORD = `
    window.tints = [];
    const { animate } = Element.prototype;
    Element.prototype.animate = function (frames, duration) {
      window.tints.push(duration);
      return animate.call(this, frames, duration);
    };`;

  test("tints for 400 ms", async () => {
    const { page } = await visit();
    await page.addInitScript(RECORD);
    await page.goto(product.baseUrl);
    await nextPrice(page);
    await nextPrice(page);
    const tints: number[] = await page.evaluate("window.tints");
    expect(tints.length).toBeGreaterThan(0);
    expect(new Set(tints)).toEqual(new Set([400]));
    await page.close();
  });

  test("does not tint with reduced motion", async () => {
    const { page } = await visit({ reducedMotion: "reduce" });
    await page.addInitScript(RECORD);
    await page.goto(product.baseUrl);
    await nextPrice(page);
    await nextPrice(page);
    expect(await page.evaluate("window.tints")).toEqual([]);
    await page.close();
  });
});

describe("the board, with a problem in between,", () => {
  test("polls when no stream opens, shows that, and does not shift the layout", async () => {
    const { page, shift } = await visit();
    await blockStream(page);
    await page.goto(product.baseUrl);
    await feedBy(page, "polling");
    expect(await page.getByText("Can't open a stream. Refreshing every 5 s.").count()).toBe(1);
    await nextPrice(page);
    await picture(page, "landing-polling");
    expect(await shift()).toBeLessThan(LAYOUT_SHIFT_MAX);
    await page.close();
  });

  test("shows that the browser is offline, and continues by itself", async () => {
    const { page } = await visit();
    // Taking a browser offline leaves its open sockets alone: the stream has to be cut as well.
    let cut: (() => void) | undefined;
    await page.routeWebSocket(STREAM, (socket) => {
      if (cut === undefined) {
        const server = socket.connectToServer();
        cut = () => void Promise.all([server.close(), socket.close()]);
      } else socket.connectToServer();
    });
    await page.goto(product.baseUrl);
    await feedBy(page, "stream");
    await page.context().setOffline(true);
    cut?.();
    await page.getByText("You're offline.").waitFor({ timeout: 60_000 });
    await picture(page, "landing-offline");
    await page.context().setOffline(false);
    await page.getByText("You're offline.").waitFor({ state: "detached", timeout: 60_000 });
    await nextPrice(page);
    await page.close();
  });

  test("shows that the service does not answer, and keeps its prices", async () => {
    const { page } = await visit();
    await blockStream(page);
    await page.route(API, (route) => route.abort());
    await page.goto(product.baseUrl);
    await page.getByText("Can't reach the service.").waitFor({ timeout: 60_000 });
    for (const text of await prices(page)) expect(text).toMatch(/^[\d,]+\.\d+$/);
    await picture(page, "landing-unanswered");
    await page.unroute(API);
    await feedBy(page, "polling");
    await page.close();
  });

  test("shows that pages have no calls left, and when it tries again", async () => {
    const { page } = await visit();
    await blockStream(page);
    const data = { detail: "No more.", request_id: "r", docs_url: "/", retry_after: 42 };
    await page.route(API, (route) =>
      route.fulfill({ status: 429, headers: { "retry-after": "42" }, json: { code: 42901, message: "rate_limited", data } }),
    );
    await page.goto(product.baseUrl);
    await page
      .getByText("The pages at your IP address have reached the rate limit. Retrying in 42 s.")
      .waitFor({ timeout: 60_000 });
    await page.close();
  });

  test("draws the chart that came with it where it gets no token", async () => {
    const { page } = await visit();
    await page.route("**/api/portal/page-tokens", (route) => route.abort());
    await page.goto(product.baseUrl);
    await page.getByText("Can't reach the service.").waitFor({ timeout: 60_000 });
    await page.getByRole("img", { name: /^XAUUSD H1: 72 klines of bid prices\./ }).waitFor();
    await page.close();
  });

  test("closes its connection while the tab is hidden", async () => {
    const { page } = await visit();
    const closed = new Promise<void>((resolve) => page.on("websocket", (socket) => socket.on("close", () => resolve())));
    await page.goto(product.baseUrl);
    await feedBy(page, "stream");
    await page.evaluate(
      "Object.defineProperty(document, 'hidden', { value: true, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))",
    );
    await closed;
    await page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))");
    await nextPrice(page);
    await page.close();
  });

  test(
    "stands still, with what it knew, where the demo key is off",
    async () => {
      const other = await startProduct({ DEMO_KEY: "off" });
      const { page, problems } = await visit();
      const called: string[] = [];
      page.on("request", (request) => called.push(request.url()));
      await openPage(page, other.baseUrl);
      await feedBy(page, "page");
      expect(await page.locator("pre code", { hasText: "curl" }).textContent()).toContain("$SPOTWIRE_KEY");
      expect(called.filter((url) => url.includes("/api/v1/"))).toEqual([]);
      expect(problems).toEqual([]);
      await page.close();
      await other.dispose();
    },
    SERVER_TIMEOUT_MS,
  );
});

describe("several tabs in the same browser", () => {
  test("share one stream, and the next tab connects when the one that holds it is closed", async () => {
    const context = await browser.newContext({ extraHTTPHeaders: { "x-forwarded-for": "203.0.113.1" } });
    const streams = new Map<Page, number>();
    const open = () => [...streams.values()];
    const visitIn = async (path: string) => {
      const page = await context.newPage();
      streams.set(page, 0);
      const count = (by: number) => streams.has(page) && streams.set(page, (streams.get(page) ?? 0) + by);
      page.on("websocket", (socket) => {
        if (!STREAM.test(socket.url())) return;
        count(1);
        socket.on("close", () => count(-1));
      });
      await page.goto(`${product.baseUrl}${path}`);
      await feedBy(page, "stream");
      return page;
    };
    const first = await visitIn("/");
    const second = await visitIn("/markets/XAUUSD");
    const third = await visitIn("/");
    await Promise.all([first, second, third].map(nextPrice));
    expect(open()).toEqual([1, 0, 0]);
    await first.close();
    streams.delete(first);
    await expect.poll(open, { timeout: 60_000 }).toEqual([1, 0]);
    await Promise.all([second, third].map(nextPrice));
    await second.locator("figure").getByText("Streaming", { exact: true }).waitFor();
    expect(open()).toEqual([1, 0]);
    await context.close();
  });
});

/** Puts a stream between page and service that repeats records with other prices, so many a second. */
async function hurry(page: Page): Promise<() => number> {
  let sent = 0;
  await page.routeWebSocket(STREAM, (socket) => {
    const server = socket.connectToServer();
    const latest = new Map<string, { seq: number; data: { bid: number; ask: number } }>();
    server.onMessage((text) => {
      const message = JSON.parse(String(text));
      if (message.type !== "snapshot") socket.send(text);
      else if (!latest.has(message.ticker)) {
        latest.set(message.ticker, message);
        socket.send(text);
      }
    });
    const timer = setInterval(() => {
      const messages = [...latest.values()];
      const message = messages[sent % messages.length];
      if (message === undefined) return;
      sent += 1;
      message.seq += 1;
      message.data = { ...message.data, bid: message.data.bid * (sent % 2 ? 1.001 : 0.999), ask: message.data.ask * 1.0001 };
      socket.send(JSON.stringify({ ...message, event: "update" }));
    }, 1_000 / UPDATES_PER_SECOND_COUNT);
    socket.onClose(() => clearInterval(timer));
  });
  return () => sent;
}

describe("a busy market", () => {
  test("keeps the first page responsive while fifty prices a second arrive", async () => {
    const { page } = await visit();
    const sent = await hurry(page);
    await page.goto(product.baseUrl);
    await feedBy(page, "stream");
    const dark = page
      .getByRole("radio", { name: /dark/i })
      .or(page.getByRole("button", { name: /dark/i }))
      .first();
    const copy = page.getByRole("button", { name: /Copy|Copied|Select/ }).first();
    const before = sent();
    for (let round = 0; round < 10; round += 1) await copy.click();
    await dark.click();
    expect(sent() - before).toBeGreaterThan(10);
    const slowest = () => page.evaluate<number>("window.slowest");
    // The browser reports it shortly after the interaction.
    await expect.poll(slowest, { timeout: 60_000 }).toBeGreaterThan(0);
    process.stdout.write(`  slowest interaction beside ${UPDATES_PER_SECOND_COUNT} prices a second: ${await slowest()} ms\n`);
    await page.close();
  });
});

describe("an address that does not exist", () => {
  test.each(WIDTHS_PX)("shows an error page with a way back at %i pixels", async (width) => {
    const { page, overhang } = await visit({ width });
    await page.goto(`${product.baseUrl}/no/such/page`);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Page not found");
    expect(await overhang()).toBeLessThanOrEqual(0);
    await page.getByRole("button", { name: "Search docs, markets and pages" }).click();
    const query = page.getByRole("combobox");
    expect(await query.inputValue()).toBe("page");
    await query.fill("cable");
    await page.getByRole("option", { name: "British Pound / US Dollar GBPUSD", selected: true }).waitFor();
    // Faster than the search.
    await query.fill("gold");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/markets/XAUUSD");
    await page.goBack();
    await page.getByRole("link", { name: "back to the home page" }).click();
    await page.waitForURL(`${product.baseUrl}/`);
    await page.close();
  });
});

describe("the header", () => {
  test("is one row on a phone, whose menu the keyboard opens, walks and closes", async () => {
    const { page } = await visit({ width: 390 });
    await openPage(page, `${product.baseUrl}/status`);
    expect((await page.getByRole("banner").boundingBox())?.height).toBeLessThan(64);
    await page.getByRole("button", { name: "Menu" }).focus();
    await page.keyboard.press("Enter");
    const menu = page.getByRole("dialog", { name: "Menu" });
    expect(await menu.getByRole("link", { name: "Status" }).getAttribute("aria-current")).toBe("page");
    await page.keyboard.press("Escape");
    await menu.waitFor({ state: "hidden" });
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Menu");
    await page.keyboard.press("Enter");
    await menu.getByRole("link", { name: "Docs" }).click();
    await page.waitForURL("**/docs");
    await menu.waitFor({ state: "hidden" });
    await page.evaluate("window.scrollTo(0, 600)");
    expect((await page.getByRole("banner").boundingBox())?.y).toBe(0);
    await page.close();
  });
});

test("every page of the sitemap answers, with a title and a description that no other page has and a picture that loads", async () => {
  expect(await (await fetch(`${product.baseUrl}/robots.txt`)).text()).toContain(`Sitemap: ${product.baseUrl}/sitemap.xml`);
  const xml = await (await fetch(`${product.baseUrl}/sitemap.xml`)).text();
  const pages = Array.from(xml.matchAll(/<loc>([^<]+)<\/loc>/g), ([, url = ""]) => url);
  expect(pages).toEqual(
    expect.arrayContaining(["/docs/quickstart", "/markets/XAUUSD", "/data/XAUUSD"].map((path) => product.baseUrl + path)),
  );
  const seen = new Map<string, string>();
  const pictures = new Set<string>();
  // The pages of instruments are alike: one stands for all.
  for (const url of pages.filter((one) => !/\/(markets|data)\//.test(one) || one.endsWith("/XAUUSD"))) {
    const response = await fetch(url);
    expect(response.status, url).toBe(200);
    const html = await response.text();
    for (const pattern of [/<title>([^<]+)<\/title>/, /<meta name="description" content="([^"]+)"/]) {
      const text = pattern.exec(html)?.[1] ?? "";
      expect(text, url).not.toBe("");
      expect(seen.get(text), `${url} has the same text: ${text}`).toBeUndefined();
      seen.set(text, url);
    }
    pictures.add(/<meta property="og:image" content="([^"]+)"/.exec(html)?.[1] ?? url);
  }
  for (const path of ["/favicon.ico", "/apple-icon.png", ...pictures]) {
    const answer = await fetch(new URL(path, product.baseUrl));
    expect(answer.headers.get("content-type"), path).toMatch(/^image\//);
  }
});

describe("the markets", () => {
  test.each([1440, 390])(
    "at %i pixels a reader finds gold by its name, and reads its live chart in another timeframe",
    async (width) => {
      const { page, problems, overhang } = await visit({ width });
      await page.goto(`${product.baseUrl}/markets`);
      await feedBy(page, "stream");
      await nextPrice(page);
      expect(await overhang()).toBeLessThanOrEqual(0);
      await picture(page, `markets-${width}`);
      await page.getByRole("searchbox").fill("gold");
      expect(await page.getByRole("row").count()).toBe(3);
      await page.getByRole("link", { name: /XAUUSD/ }).click();
      await page.waitForURL("**/markets/XAUUSD");
      await page.getByRole("heading", { level: 1, name: "XAUUSD" }).waitFor();
      await page.locator("figure").getByText("Streaming", { exact: true }).waitFor();
      await page.getByRole("button", { name: "M5", exact: true }).click();
      await page.getByRole("group", { name: /^XAUUSD M5: \d{3,} klines/ }).waitFor();
      await nextPrice(page);
      expect(await overhang()).toBeLessThanOrEqual(0);
      await picture(page, `market-${width}`);
      expect(problems).toEqual([]);
      await page.close();
    },
  );

  test("have prices before any script runs, and an unknown one is not found", async () => {
    const { page } = await visit({ javaScriptEnabled: false });
    await page.goto(`${product.baseUrl}/markets`);
    expect(await page.getByRole("row", { name: /EURUSD Euro \/ US Dollar [\d.]+ [\d.]+/ }).count()).toBe(1);
    await page.goto(`${product.baseUrl}/markets/XAUUSD`);
    for (const text of (await prices(page)).slice(0, 2)) expect(text).toMatch(/^[\d,]+\.\d+$/);
    expect((await fetch(`${product.baseUrl}/markets/NOPE`)).status).toBe(404);
    await page.close();
  });

  test("mark the last price on the chart's axis also when its bar is out of view, and lead back to now", async () => {
    const { page, problems } = await visit({ width: 390 });
    await keepWriting(page);
    await openPage(page, `${product.baseUrl}/markets/XAUUSD`);
    const plot = page.getByRole("group", { name: /^XAUUSD H1: \d{3,} klines/ });
    const now = page.getByRole("button", { name: "Back to now" });
    await plot.press("Home");
    await now.waitFor();
    await page.waitForFunction(
      () => {
        const { drawn } = window as unknown as { drawn: Set<string> };
        const headline = document.querySelector("[data-price]")?.textContent ?? "";
        return headline.includes(",") && drawn.has(headline);
      },
      undefined,
      { timeout: STEP_MAX_MS },
    );
    await now.click();
    await now.waitFor({ state: "detached" });
    expect(await plot.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(problems).toEqual([]);
    await page.close();
  });

  test("date klines of days, weeks and months by their trading day", async () => {
    const { page } = await visit({ width: 1440 });
    await openPage(page, `${product.baseUrl}/markets/EURUSD`);
    for (const timeframe of ["D1", "W1", "MN1"] as const) {
      await page.getByRole("button", { name: timeframe, exact: true }).click();
      const plot = page.getByRole("group", { name: new RegExp(`^EURUSD ${timeframe}: \\d{2,} klines`) });
      await plot.waitFor();
      const date = crosshairText(await newestKline("EURUSD", timeframe), timeframe);
      await page.locator("figure dl").getByText(date, { exact: true }).waitFor();
      expect(await plot.getAttribute("aria-label")).toContain(`to ${date}.`);
    }
    await page.close();
  });

  test.each([
    ["TESTGAP", "M1", 1440],
    ["TESTGAP", "M1", 390],
    ["EURUSD", "D1", 1440],
    ["EURUSD", "W1", 1440],
    ["EURUSD", "MN1", 390],
  ] as const)(
    "open %s %s at %i pixels with the newest kline at the right edge of the chart",
    async (ticker, timeframe, width) => {
      const { page } = await visit({ width });
      await keepWriting(page);
      await openPage(page, `${product.baseUrl}/markets/${ticker}`);
      await page.getByRole("button", { name: timeframe, exact: true }).click();
      const plot = page.getByRole("group", { name: new RegExp(`^${ticker} ${timeframe}: \\d{2,} klines`) });
      await plot.scrollIntoViewIfNeeded();
      await page.locator("figure").getByText("Streaming", { exact: true }).waitFor();
      await expect
        .poll(
          async () => {
            await plot.hover({ position: { x: 10, y: 40 } });
            await page.evaluate("window.drawn.clear()");
            const { width: across } = await plot.evaluate((element) => element.getBoundingClientRect());
            // Over the axis, the room behind the newest kline, and the gap that may follow it.
            for (let x = across - 2; x > across - EDGE_MAX_PX; x -= 3) await plot.hover({ position: { x, y: 40 } });
            const drawn = await page.evaluate<string[]>("[...window.drawn]");
            return drawn.includes(crosshairText(await newestKline(ticker, timeframe), timeframe));
          },
          { timeout: STEP_MAX_MS },
        )
        .toBe(true);
      expect(await page.getByRole("button", { name: "Back to now" }).count()).toBe(0);
      await picture(page, `chart-${ticker}-${timeframe}-${width}`);
      await page.close();
    },
  );

  test("keep the chosen timeframe in the URL, beside what else it says", async () => {
    const { page, problems } = await visit({ width: 1440 });
    await openPage(page, `${product.baseUrl}/markets/EURUSD?timeframe=H4&compare=none`);
    const chosen = page.getByRole("group", { name: "Timeframe" }).locator("[aria-pressed=true]");
    await expect.poll(() => chosen.textContent()).toBe("H4");
    await page.getByRole("button", { name: "M5", exact: true }).click();
    expect(new URL(page.url()).search).toBe("?timeframe=M5&compare=none");
    await openPage(page, page.url());
    await expect.poll(() => chosen.textContent()).toBe("M5");
    await openPage(page, `${product.baseUrl}/markets/EURUSD?timeframe=M7`);
    await expect.poll(() => chosen.textContent()).toBe("H1");
    expect(problems).toEqual([]);
    await page.close();
  });

  test("show the range of the day, week and month as their klines have it", async () => {
    const { page } = await visit({ width: 390 });
    await openPage(page, `${product.baseUrl}/markets/XAUUSD`);
    const text = (price: number) => price.toLocaleString("en-GB", { minimumFractionDigits: 3 });
    for (const [label, timeframe] of Object.entries({ "Day range": "D1", "Week range": "W1", "Month range": "MN1" } as const)) {
      const shown = page.locator("dt", { hasText: label }).locator("xpath=following-sibling::dd");
      await expect
        .poll(
          async () => {
            const { low, high } = await newestKline("XAUUSD", timeframe);
            return (await shown.textContent()) === `Low ${text(low)}High ${text(high)}`;
          },
          { timeout: STEP_MAX_MS },
        )
        .toBe(true);
    }
    for (const [label, of] of [
      ["Day range", /^Day range \d\d \w{3} \d{4}$/],
      ["Week range", /^Week range since \d\d \w{3} \d{4}$/],
      ["Month range", /^Month range \w{3} \d{4}$/],
    ] as const)
      expect(await page.locator("dt", { hasText: label }).textContent()).toMatch(of);
    await page.close();
  });

  test.each([1440, 390])("at %i pixels compare two instruments in percent, and the URL keeps it", async (width) => {
    const { page, problems, overhang, shift } = await visit({ width });
    await openPage(page, `${product.baseUrl}/markets/EURUSD`);
    await page.getByLabel("Compare with").selectOption("GBPUSD");
    const said = page.getByLabel("Comparison");
    const percents = /^EURUSD [+−]?\d+\.\d\d%GBPUSD [+−]?\d+\.\d\d%since \d\d \w{3} \d{4} \d\d:\d\d$/;
    await expect.poll(() => said.textContent()).toMatch(percents);
    expect(new URL(page.url()).search).toBe("?compare=GBPUSD");
    await picture(page, `compare-${width}`);
    await openPage(page, page.url());
    await expect.poll(() => said.textContent()).toMatch(percents);
    expect(await page.getByLabel("Compare with").inputValue()).toBe("GBPUSD");
    await page.getByLabel("Compare with").selectOption("");
    await said.waitFor({ state: "detached" });
    expect(new URL(page.url()).search).toBe("");
    expect(await overhang()).toBeLessThanOrEqual(0);
    expect(await shift()).toBeLessThan(LAYOUT_SHIFT_MAX);
    expect(problems).toEqual([]);
    await page.close();
  });

  test("keep bid, ask and the line of the day on a phone, and fit the narrowest one", async () => {
    const phone = await visit({ width: 390 });
    await openPage(phone.page, `${product.baseUrl}/markets`);
    const row = phone.page.getByRole("row", { name: /XAUUSD [\d,.]+ [\d,.]+ [+−]?\d+\.\d\d%/ });
    await row.scrollIntoViewIfNeeded();
    expect(await row.locator("svg path").last().isVisible()).toBe(true);
    // Every text has its room: nothing is cut, and nothing runs into its neighbour.
    for (const cell of await row.getByRole("cell").all())
      expect(await cell.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBeLessThanOrEqual(0);
    // The longest ticker is whole, and a market that is not open says so although its column has no room.
    await phone.page.getByRole("link", { name: "TESTCLOSED Closed" }).waitFor();
    const name = phone.page
      .getByRole("link", { name: /TESTMISSING/ })
      .locator("span", { hasText: /^TESTMISSING$/ })
      .last();
    expect(await name.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBeLessThanOrEqual(0);
    await phone.page.close();
    const narrow = await visit({ width: 320 });
    for (const path of ["/markets", "/markets/XAUUSD", "/markets/BTCUSD"]) {
      await openPage(narrow.page, product.baseUrl + path);
      expect(await narrow.overhang(), path).toBeLessThanOrEqual(0);
    }
    await narrow.page.close();
  });

  test("date a last tick of another day, and say in a sentence that a market stays closed", async () => {
    const { page } = await visit();
    await openPage(page, `${product.baseUrl}/markets/TESTCLOSED`);
    await page.getByText(/^last tick \d\d \w{3,4} 20\d\d, \d\d:\d\d$/).waitFor();
    await page.getByText("Closed on all of the coming 14 days.").waitFor();
    expect(await page.getByText("Weekend").count()).toBe(0);
    await page.close();
  });

  test("scroll on a phone although the finger is on a chart", async () => {
    const { page } = await visit({ width: 390, hasTouch: true });
    await page.goto(`${product.baseUrl}/markets/EURUSD`);
    const chart = page.locator("canvas").first();
    await chart.waitFor();
    const box = await chart.boundingBox();
    if (box === null) throw new Error("the chart has no place");
    const client = await page.context().newCDPSession(page);
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const finger = (type: "touchStart" | "touchMove" | "touchEnd", up: number) =>
      client.send("Input.dispatchTouchEvent", { type, touchPoints: type === "touchEnd" ? [] : [{ x, y: y - up }] });
    const scrolled = () => page.evaluate("scrollY");
    const before = Number(await scrolled());
    await finger("touchStart", 0);
    for (let up = 20; up <= 160; up += 20) await finger("touchMove", up);
    await finger("touchEnd", 160);
    await expect.poll(scrolled, { timeout: 60_000 }).toBeGreaterThan(before + 40);
    await page.close();
  });

  test.each(["BTCUSD", "NOPE", "A1B2C3D4"])("say of %s that it is not carried, and what is near", async (ticker) => {
    const { page } = await visit({ width: 390 });
    const answer = await page.goto(`${product.baseUrl}/markets/${ticker}`);
    expect(answer?.status()).toBe(404);
    await page.getByRole("heading", { level: 1, name: `${ticker} is not carried` }).waitFor();
    await page.getByRole("link", { name: /XAUUSD/ }).click();
    await page.waitForURL("**/markets/XAUUSD");
    await page.close();
  });

  test.each(["btcusd", "NO", "BTC-USD"])("know no page of %s, which is no ticker", async (text) => {
    const answer = await fetch(`${product.baseUrl}/markets/${text}`);
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain("Page not found");
  });

  test.each([
    ["/data/BTCUSD", "XAUUSD", "/data/XAUUSD"],
    ["/markets/eur-usdd", "EURUSD", "/markets/EURUSD"],
    ["/docs/webhook-retries", "Webhooks", "/docs/webhooks"],
  ])("suggest at %s, which has no page, %s", async (address, name, href) => {
    const { page } = await visit({ width: 1440 });
    await page.goto(product.baseUrl + address);
    const near = page.getByRole("main").getByRole("listitem").getByRole("link", { name }).first();
    expect(await near.getAttribute("href")).toMatch(new RegExp(`^${href}(?:#|$)`));
    await page.close();
  });

  test.each([
    ["/markets/eurusd", "/markets/EURUSD"],
    ["/markets/XAU/USD?venue=sandbox", "/markets/XAUUSD?venue=sandbox"],
    ["/data/xau-usd", "/data/XAUUSD"],
  ])("lead from %s to the page of the ticker", async (written, page) => {
    const answer = await fetch(product.baseUrl + written, { redirect: "manual" });
    expect(answer.status).toBe(308);
    expect(answer.headers.get("location")).toBe(page);
  });

  test("show the live venue to a reader with a live key until the key is revoked, and to nobody else", async () => {
    const password = "correct horse battery";
    const ada = createVisitor(product.baseUrl, "203.0.113.7");
    await ada.call("POST", "sign-up", { email: "ada@example.test", password });
    const link = await mailbox.nextLink("ada@example.test", "/verify");
    await ada.call("POST", "verify", { token: tokenIn(link) });
    expect(await ada.signIn("ada@example.test", password)).toBeNull();
    const feeder = createFeeder(keyHolder(product, await makeLiveKey(product, "market:ingest")));
    const push = (bid: number) => feeder.push(feeder.ticks("EURUSD", [[bid, bid + 10]]));
    await push(112_345);

    const { page, problems, overhang } = await visit({ width: 390 });
    const venues = page.getByRole("navigation", { name: "Venue" });
    const reason = page.getByRole("status").filter({ hasText: "This is the sandbox." });
    await page.goto(`${product.baseUrl}/markets/EURUSD?venue=live`);
    expect(await reason.getByRole("link", { name: "Sign in" }).getAttribute("href")).toBe(
      `/signin?next=${encodeURIComponent("/markets/EURUSD?venue=live")}`,
    );
    await page.getByText("Sandbox venue: synthetic prices").waitFor();
    await page.context().addCookies([...ada.cookies].map(([name, value]) => ({ name, value, url: product.baseUrl })));
    await page.goto(`${product.baseUrl}/markets?venue=live`);
    await reason.getByText("Live prices need access that the operator grants.").waitFor();
    expect(await venues.count()).toBe(0);

    expect((await runCommand(product, "admin", ["grant-live", "ada@example.test"])).exitCode).toBe(0);
    const settings = { name: "Desk", venue: "live", scopes: ["market:read", "market:stream"], origins: [], expires_at: null };
    const { id } = (await ada.call("POST", "keys", settings)).data.key as { id: string };
    let cut: (() => void) | undefined;
    await page.routeWebSocket(STREAM, (socket) => {
      socket.connectToServer();
      cut = () => void socket.close({ code: 4401, reason: "unauthorized" });
    });
    await page.goto(`${product.baseUrl}/markets`);
    await feedBy(page, "stream");
    await venues.getByRole("link", { name: "Live" }).click();
    await page.waitForURL("**/markets?venue=live");
    await page.getByRole("row", { name: /EURUSD.* 1\.12345/ }).waitFor();
    await feedBy(page, "stream");
    await push(112_350);
    await page.getByRole("row", { name: /EURUSD.* 1\.12350/ }).waitFor();
    expect(await page.getByRole("main").textContent()).not.toMatch(/synthetic/i);
    expect(await overhang()).toBeLessThanOrEqual(0);
    await picture(page, "markets-live-390");

    await page.getByRole("link", { name: /EURUSD/ }).click();
    await page.waitForURL("**/markets/EURUSD?venue=live");
    await page.getByText("Shows what your key “Desk” may read").waitFor();
    await page.locator("figure").getByText("Streaming", { exact: true }).waitFor();
    // As after ten minutes, when the token of the stream ends.
    cut?.();
    await feedBy(page, "page");
    await feedBy(page, "stream");
    await push(112_360);
    await page.getByText("1.12360").first().waitFor();
    expect(await page.getByRole("main").textContent()).not.toMatch(/synthetic/i);
    expect(await overhang()).toBeLessThanOrEqual(0);
    await picture(page, "market-live-390");

    await ada.call("POST", `keys/${id}/revoke`, { confirm: "Desk" });
    await page.getByRole("status").getByText("No active key of yours has this id.").waitFor({ timeout: 60_000 });
    await page.reload();
    await reason.getByText("you need an active live key").waitFor();
    expect(problems.filter((text) => !ANSWERED.test(text))).toEqual([]);
    await page.close();
  });
});
