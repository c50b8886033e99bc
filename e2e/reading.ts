import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { AxeResults } from "axe-core";
import type { Browser, BrowserContextOptions, CDPSession, Page, Request } from "playwright";
import { expect } from "vitest";
import { collectProblems, openPage } from "./browser";

const HEIGHT_PX = 900;
export const WIDTHS_PX = [1440, 390, 320] as const;
export const SCHEMES = ["light", "dark"] as const;
/** The stream's URL, as a page opens it. */
export const STREAM = /\/api\/v1\/market\/stream$/;

/** An open page, and the problems it reported. */
export interface Reading {
  readonly page: Page;
  /** Errors and warnings in its console, and uncaught exceptions, since it was opened. */
  readonly problems: string[];
  /**
   * Opens an address in this tab as another visitor: with these cookies alone, from this address, and nothing cached or stored.
   * Asserts that it leads nowhere else.
   */
  open(url: string, visitor: NextVisitor): Promise<void>;
  /** Layout shift so far. */
  shift(): Promise<number>;
  /** Milliseconds to the largest paint so far. */
  largestPaint(): Promise<number>;
  /** Bytes of script it has received so far, as transferred. */
  scriptBytes(): Promise<number>;
  /** How far it can be scrolled sideways, in CSS pixels. */
  overhang(): Promise<number>;
}

interface NextVisitor {
  readonly width: number;
  /** By name. */
  readonly cookies: ReadonlyMap<string, string>;
  readonly address: string;
}

const OBSERVE = `
  window.shift = 0; window.shifted = []; window.paint = 0; window.slowest = 0;
  const watch = (type, look, more) => new PerformanceObserver((list) => list.getEntries().forEach(look)).observe({ type, buffered: true, ...more });
  const rectangle = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(",");
  const place = ({ node, previousRect: before, currentRect: after }) =>
    (node?.outerHTML ?? node?.nodeValue ?? "gone").slice(0, 160) + " from " + rectangle(before) + " to " + rectangle(after);
  watch("layout-shift", (entry) => {
    if (entry.hadRecentInput) return;
    window.shift += entry.value;
    window.shifted.push(entry.value + ": " + entry.sources.map(place).join("; "));
  });
  watch("largest-contentful-paint", (entry) => { window.paint = entry.startTime; });
  watch("event", (entry) => { if (entry.interactionId) window.slowest = Math.max(window.slowest, entry.duration); }, { durationThreshold: 16 });
`;

/** Turns off all caches of a tab, that in memory too, for as long as the session is open. */
async function uncached(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  return session;
}

/** Opens an empty tab; `prepare` may block its connections before the first page is opened. */
async function openReading(browser: Browser, options: BrowserContextOptions & { width?: number } = {}): Promise<Reading> {
  const { width = 1440, ...context } = options;
  const page = await browser.newPage({ viewport: { width, height: HEIGHT_PX }, ...context });
  const problems: string[] = [];
  const scripts: Request[] = [];
  let session: CDPSession | undefined;
  await page.addInitScript(OBSERVE);
  collectProblems(page, problems);
  page.on("requestfinished", (request) => {
    if (request.resourceType() === "script") scripts.push(request);
  });
  return {
    page,
    problems,
    async open(url, { width, cookies, address }) {
      const { origin } = new URL(url);
      session ??= await uncached(page);
      // Leaves the last page first: without its cookies it would go to the sign-in page by itself. Going through another site,
      // such as about:blank, would start two browser processes.
      await page.goto(`${origin}/robots.txt`);
      await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
      await page.context().clearCookies();
      await page.context().addCookies([...cookies].map(([name, value]) => ({ name, value, url: origin })));
      await page.setExtraHTTPHeaders({ "x-forwarded-for": address });
      await show(page, width, "light");
      problems.length = 0;
      scripts.length = 0;
      await openPage(page, url);
      expect(page.url()).toBe(url);
    },
    async shift() {
      const { shift, shifted } = await page.evaluate<{ shift: number; shifted: string[] }>("({ shift, shifted })");
      for (const line of shifted) process.stdout.write(`  layout shift ${line}\n`);
      return shift;
    },
    largestPaint: () => page.evaluate("window.paint"),
    async scriptBytes() {
      // Read only when needed: a page that closes in the meantime no longer answers.
      const sizes = await Promise.all(scripts.map((request) => request.sizes()));
      return sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
    },
    overhang: () => overhangOf(page),
  };
}

/** Opens tabs of new visitors: each has its own address, and therefore its own limit on the demo key. */
export function createVisits(browser: () => Browser): (options?: Parameters<typeof openReading>[1]) => Promise<Reading> {
  let visitors = 0;
  return (options = {}) => {
    visitors += 1;
    return openReading(browser(), { ...options, extraHTTPHeaders: { "x-forwarded-for": `198.51.100.${visitors}` } });
  };
}

/** Waits until the page reports this source of its prices. */
export function feedBy(page: Page, by: "page" | "stream" | "polling" | "none"): Promise<void> {
  return page.locator(`[data-feed="${by}"]`).first().waitFor({ timeout: 60_000 });
}

/** Prevents a page from opening streams. */
export function blockStream(page: Page): Promise<void> {
  return page.routeWebSocket(STREAM, (socket) => socket.close());
}

/** Takes a screenshot of the whole page when SCREENSHOT_DIR is set; no test depends on it. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOT_DIR;
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

/** Resolves when the layout has followed the last change of size or scheme, and no colour is in transition. */
const SETTLED = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(() =>
  Promise.all(
    document
      .getAnimations()
      .filter((animation) => animation instanceof CSSTransition)
      .map(({ finished }) => finished.catch(() => undefined)),
  ).then(() => undefined))`;

/** Changes the width and colour scheme of an open page, and resolves when it has settled. */
export async function show(page: Page, width: number, colorScheme: (typeof SCHEMES)[number]): Promise<void> {
  await page.setViewportSize({ width, height: HEIGHT_PX });
  await page.emulateMedia({ colorScheme });
  await page.evaluate(SETTLED);
}

/** How far a page can be scrolled sideways, in CSS pixels. */
export function overhangOf(page: Page): Promise<number> {
  return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** The rules of WCAG 2.2 at level AA. */
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
/** Looks in which axe judges a page: between them, both layouts and both palettes. */
const JUDGED: readonly Look[] = [
  [1440, "light"],
  [390, "dark"],
];
type Look = readonly [width: (typeof WIDTHS_PX)[number], scheme: (typeof SCHEMES)[number]];

/** All violations of WCAG that axe finds on the page it was loaded into, as texts. */
async function violationsOn(page: Page): Promise<string[]> {
  const run = `axe.run(document, { runOnly: ${JSON.stringify(TAGS)}, resultTypes: ["violations"] })`;
  const { violations } = (await page.evaluate(run)) as AxeResults;
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${impact} ${id}: ${target.join(" ")}\n${failureSummary}`),
  );
}

/** All that may move while a page comes in, by the browser's own measure. */
export const LAYOUT_SHIFT_MAX = 0.05;

/** Asserts that little of an open page moved while it came in. Times are printed only: they depend on the machine. */
export async function expectToStay(reading: Reading, name: string): Promise<void> {
  const [shift, paintMs] = [await reading.shift(), await reading.largestPaint()];
  process.stdout.write(`  ${name}: shift ${shift.toFixed(4)}, largest paint ${Math.round(paintMs)} ms\n`);
  expect(paintMs, name).toBeGreaterThan(0);
  expect(shift, name).toBeLessThan(LAYOUT_SHIFT_MAX);
}

/** The number of headings of level 1 and of main elements that can be seen. */
const LANDMARKS = `["h1", "main"].map((name) =>
  [...document.querySelectorAll(name)].filter((element) => element.checkVisibility()).length)`;

/**
 * Asserts that an open page has one h1, one main element and no horizontal scroll in every width and colour scheme, and that
 * axe finds nothing against WCAG 2.2 AA, wide and light, and narrow and dark.
 */
export async function expectToFit(page: Page, name: string): Promise<void> {
  // The page's own policy does not apply to what its debugger evaluates.
  await page.evaluate(AXE);
  for (const width of WIDTHS_PX)
    for (const colorScheme of SCHEMES) {
      const look = `${name} at ${width} px, ${colorScheme}`;
      await show(page, width, colorScheme);
      expect(await page.evaluate(LANDMARKS), look).toEqual([1, 1]);
      // A chart follows the width with a delay.
      await expect.poll(() => overhangOf(page), { message: look }).toBeLessThanOrEqual(0);
      if (JUDGED.some(([wide, scheme]) => wide === width && scheme === colorScheme))
        expect(await violationsOn(page), look).toEqual([]);
      await picture(page, `${name}-${width}-${colorScheme}`);
    }
  await show(page, 1440, "light");
}
