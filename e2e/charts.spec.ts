import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChartingLibrary, isOpen, type LibraryDatafeed, openLibrary } from "#lib/testing/charting-library";
import { DAY_S, HOUR_S, MINUTE_S } from "#lib/units";
import { BROWSER_TIMEOUT_MS, borrowBrowser, returnBrowser, STEP_MAX_MS } from "./browser";
import { makeKey } from "./commands";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

const ROOT = path.join(import.meta.dirname, "..");
const GUIDE = path.join(ROOT, "lib", "docs", "guides", "charts.mdx");

interface ClientModule {
  createClient(options: { baseUrl: string; key: string }): unknown;
}
interface DatafeedModule {
  createDatafeed(client: unknown): LibraryDatafeed & { close(): void };
}

let product: Product;
let browser: Browser;
/** A third-party site on its own origin, with one page. */
let site: Server;
let siteUrl: string;
let siteKey: string;
let html = "";
/** A project of a user who installed the package from the service. */
let folder: string;
let datafeed: ReturnType<DatafeedModule["createDatafeed"]>;
let library: ChartingLibrary;

/** Installs the package that the service serves, and the packages it goes with. */
async function install(): Promise<void> {
  folder = mkdtempSync(path.join(tmpdir(), "spotwire-charts-"));
  const home = path.join(folder, "node_modules", "spotwire-client");
  mkdirSync(home, { recursive: true });
  const tarball = path.join(folder, "spotwire-client.tgz");
  const response = await fetch(`${product.baseUrl}/spotwire-client.tgz`);
  writeFileSync(tarball, new Uint8Array(await response.arrayBuffer()));
  execFileSync("tar", ["-xzf", tarball, "-C", home, "--strip-components=1"]);
  for (const name of ["ws", "lightweight-charts"])
    symlinkSync(path.join(ROOT, "node_modules", name), path.join(folder, "node_modules", name));
}

const load = async <Module>(file: string): Promise<Module> =>
  import(/* @vite-ignore */ pathToFileURL(path.join(folder, "node_modules", "spotwire-client", file)).href);

beforeAll(async () => {
  [product, browser] = await Promise.all([startProduct(), borrowBrowser()]);
  await install();
  site = createServer((_, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8").end(html);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const scopes = "market:read,market:stream";
  siteKey = (await makeKey(product, { venue: "sandbox", scopes, origins: siteUrl })).text;
  const key = (await makeKey(product, { venue: "sandbox", scopes })).text;
  const { createClient } = await load<ClientModule>("index.js");
  const { createDatafeed } = await load<DatafeedModule>("tradingview.js");
  datafeed = createDatafeed(createClient({ baseUrl: product.baseUrl, key }));
  library = openLibrary(datafeed);
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  datafeed?.close();
  await returnBrowser(browser);
  site?.close();
  await product?.dispose();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}, SERVER_TIMEOUT_MS);

const now = () => Math.floor(Date.now() / 1000);
const at = (iso: string) => Date.parse(iso) / 1000;

describe("the datafeed, called as the Charting Library does", () => {
  test("it is ready, finds symbols by nickname, and tells the service's time", async () => {
    expect((await library.ready()).supported_resolutions).toContain("240");
    expect((await library.search("gold")).map(({ symbol }) => symbol)).toContain("XAUUSD");
    expect(Math.abs((await library.serverTime()) - now())).toBeLessThan(STEP_MAX_MS / 1000);
    await expect(library.resolve("EUR/USD")).rejects.toThrow("Did you mean EURUSD?");
  });

  test.each(["1", "5", "15", "30", "60", "240", "1D", "1W", "1M"])(
    "resolution %s: pages of history join without a gap or a bar twice",
    async (resolution) => {
      const symbol = await library.resolve("XAUUSD");
      const [from, to] = [now() - DAY_S, now() + DAY_S];
      const first = await library.load(symbol, resolution, { from, to, countBack: 60, firstDataRequest: true });
      expect(first.bars.length).toBeGreaterThanOrEqual(60);
      const start = (first.bars[0]?.time ?? 0) / 1000;
      const older = await library.load(symbol, resolution, {
        from: start - DAY_S,
        to: start,
        countBack: 20,
        firstDataRequest: false,
      });
      const both = await library.load(symbol, resolution, {
        from: (older.bars[0]?.time ?? 0) / 1000,
        to: start + 1,
        countBack: 10,
        firstDataRequest: false,
      });
      expect(older.bars.length).toBeGreaterThanOrEqual(20);
      expect(both.bars.map(({ time }) => time)).toEqual([...older.bars.map(({ time }) => time), start * 1000]);
    },
  );

  test("more than 5,000 bars come in one answer", async () => {
    const symbol = await library.resolve("EURUSD");
    const { bars } = await library.load(symbol, "1", {
      from: now() - HOUR_S,
      to: now(),
      countBack: 11_000,
      firstDataRequest: true,
    });
    expect(bars.length).toBeGreaterThanOrEqual(11_000);
  });

  test.each([
    ["TESTFX", "the clock change", "2026-03-04T00:00:00Z", "2026-03-12T00:00:00Z", 240],
    ["TESTFX", "Christmas and New Year", "2025-12-19T00:00:00Z", "2026-01-06T00:00:00Z", 100],
    ["TESTMETAL", "Thanksgiving, with early closes", "2025-11-24T00:00:00Z", "2025-12-02T00:00:00Z", 80],
    ["TESTMETAL", "Christmas and New Year", "2025-12-19T00:00:00Z", "2026-01-06T00:00:00Z", 100],
  ])("%s over %s: every bar is in a session of its symbol, and every session has bars", async (ticker, _, from, to, count) => {
    const symbol = await library.resolve(ticker);
    const { bars } = await library.load(symbol, "15", {
      from: at(from),
      to: at(to),
      countBack: count,
      firstDataRequest: false,
    });
    const inRange = bars.filter(({ time }) => time >= at(from) * 1000).map(({ time }) => time);
    const expected: number[] = [];
    for (let time = at(from); time < at(to); time += 15 * MINUTE_S) if (isOpen(symbol, time * 1000)) expected.push(time * 1000);
    expect(expected.length).toBeGreaterThan(count);
    expect(inRange).toEqual(expected);
  });

  test("a weekend is filled with older bars, and names the newest one when the library does not count", async () => {
    const symbol = await library.resolve("TESTFX");
    const [from, to] = [at("2026-06-13T10:00:00Z"), at("2026-06-13T20:00:00Z")];
    const filled = await library.load(symbol, "60", { from, to, countBack: 30, firstDataRequest: false });
    expect(new Date(filled.bars.at(-1)?.time ?? 0).toISOString()).toBe("2026-06-12T20:00:00.000Z");
    const { meta } = await library.load(symbol, "60", { from, to, countBack: 0, firstDataRequest: false });
    expect(meta).toEqual({ noData: true, nextTime: at("2026-06-12T20:00:00Z") });
  });

  test("before the history begins there is no data", async () => {
    const symbol = await library.resolve("EURUSD");
    const period = { from: at("1999-01-01T00:00:00Z"), to: at("1999-02-01T00:00:00Z"), countBack: 10, firstDataRequest: false };
    expect((await library.load(symbol, "1D", period)).meta).toEqual({ noData: true });
  });

  test("live bars continue the history, of several charts at once", async () => {
    const charts = await Promise.all(
      (["EURUSD", "XAUUSD"] as const).map(async (ticker) => {
        const symbol = await library.resolve(ticker);
        const { bars } = await library.load(symbol, "1", {
          from: now() - HOUR_S,
          to: now() + DAY_S,
          countBack: 60,
          firstDataRequest: true,
        });
        return { symbol, resolution: "1", id: ticker, last: bars.at(-1) };
      }),
    );
    await Promise.all(
      charts.map(
        (chart) =>
          new Promise<void>((resolve) => {
            const followed = library.subscribe(chart, () => {
              if (followed.ticks.length === 3) resolve();
            });
          }),
      ),
    );
    for (const { id } of charts) library.unsubscribe(id);
  });
});

/** A sample of the guide by its title, with the address of the service and a key of this site. */
function sampleOf(title: string): string {
  const [, code] =
    new RegExp(`^\`\`\`\\w+(?: norun)? title="${title}"\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(readFileSync(GUIDE, "utf8")) ?? [];
  if (code === undefined) throw new Error(`The guide has no sample ${title}.`);
  return code.replaceAll("http://localhost:3000", product.baseUrl).replaceAll(/sw_test_DEMO\w+/g, siteKey);
}

/** The widget of the library: it draws nothing, and loads and follows its symbol as the library does. */
const WIDGET = `
import { openLibrary } from ${JSON.stringify(path.join(ROOT, "lib", "testing", "charting-library.ts"))};
export class widget {
  constructor({ container, symbol: name, interval, datafeed }) {
    const library = openLibrary(datafeed);
    const open = async () => {
      await library.ready();
      const symbol = await library.resolve(name);
      const now = await library.serverTime();
      const { bars } = await library.load(symbol, interval, { from: now - 3600, to: now + 3600, countBack: 300, firstDataRequest: true });
      const shown = document.getElementById(container);
      const { ticks } = library.subscribe({ symbol, resolution: interval, id: "1", last: bars.at(-1) }, () => {
        shown.textContent = symbol.name + " " + bars.length + " bars, " + ticks.length + " ticks";
      });
    };
    open().catch((error) => { document.getElementById(container).textContent = String(error); });
  }
  activeChart() { return { resetData() {} }; }
}
`;

/** Opens the page of the guide on a third-party site, where it runs a sample, bundled as a user would. */
async function openSample(title: string): Promise<{ page: Page; sockets: readonly string[] }> {
  writeFileSync(path.join(folder, "charting_library.ts"), WIDGET);
  writeFileSync(path.join(folder, title), sampleOf(title));
  const { outputFiles } = await build({
    entryPoints: [path.join(folder, title)],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    alias: { "#lib/units": path.join(ROOT, "lib", "units.ts") },
  });
  const script = outputFiles[0]?.text.replaceAll("</script", "<\\/script");
  html = sampleOf("index.html").replace(/<script.*<\/script>/, () => `<script type="module">${script}</script>`);
  const page = await browser.newPage();
  const sockets: string[] = [];
  page.on("websocket", (socket) => sockets.push(socket.url()));
  await page.goto(siteUrl);
  return { page, sockets };
}

describe("the samples of the guide, in a browser", () => {
  test(
    "the chart of lightweight-charts is drawn and live",
    async () => {
      const { page } = await openSample("chart.ts");
      // The messages so far: it may be live before its page counts as loaded.
      const messages = async () => (await page.consoleMessages()).map((message) => message.text());
      await expect.poll(messages).toContainEqual(expect.stringMatching(/^live/));
      await page.locator("canvas").first().waitFor();
      // Pixels of the colors of rising or falling klines.
      const isDrawn = `[...document.querySelectorAll("canvas")].some((canvas) => {
      const pixels = canvas.width * canvas.height === 0 ? [] : canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      for (let index = 0; index < pixels.length; index += 4) if (pixels[index] === 38 && pixels[index + 1] === 166 && pixels[index + 2] === 154) return true;
      return false;
    })`;
      await page.waitForFunction(isDrawn);
      expect((await page.locator("#chart table").first().boundingBox())?.height).toBe(400);
      await page.close();
    },
    BROWSER_TIMEOUT_MS,
  );

  test(
    "the datafeed loads and follows a symbol in a page",
    async () => {
      const { page } = await openSample("tradingview.ts");
      await expect.poll(() => page.locator("#chart").textContent()).toMatch(/^EURUSD \d{3} bars, [1-9]\d* ticks$/);
      await page.close();
    },
    BROWSER_TIMEOUT_MS,
  );

  test(
    "two charts and a table share one stream",
    async () => {
      const { page, sockets } = await openSample("page.ts");
      await expect.poll(() => page.locator("pre").textContent()).toMatch(/^(EURUSD|XAUUSD) \d/);
      expect(await page.locator("table").count()).toBe(2);
      expect(sockets).toHaveLength(1);
      await page.close();
    },
    BROWSER_TIMEOUT_MS,
  );

  test(
    "the guide has a live chart of its own",
    async () => {
      const page = await browser.newPage();
      await page.goto(`${product.baseUrl}/docs/charts`);
      await page.getByText("This chart reads the sandbox").locator("xpath=following-sibling::*[1]").scrollIntoViewIfNeeded();
      const chart = page.getByRole("group", { name: /^XAUUSD M1: \d+ klines of bid prices/ });
      await chart.waitFor();
      await page.locator("figure", { has: chart }).getByText("Streaming", { exact: true }).waitFor();
      await page.close();
    },
    BROWSER_TIMEOUT_MS,
  );
});
