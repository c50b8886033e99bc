import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page, Request } from "playwright";
import { expect } from "vitest";
import { collectProblems } from "./browser";

const HEIGHT_PX = 900;
export const WIDTHS_PX = [1440, 390, 360] as const;
export const SCHEMES = ["light", "dark"] as const;
/** The stream's URL, as a page opens it. */
export const STREAM = /\/api\/v1\/market\/stream$/;

/** An open page, and the problems it reported. */
interface Reading {
  readonly page: Page;
  /** Errors and warnings in its console, and uncaught exceptions. */
  readonly problems: string[];
  /** Layout shift so far. */
  shift(): Promise<number>;
  /** Milliseconds to the largest paint so far. */
  largestPaint(): Promise<number>;
  /** Bytes of script it has received so far, as transferred. */
  scriptBytes(): Promise<number>;
  /** How far it can be scrolled sideways, in CSS pixels. */
  overhang(): Promise<number>;
}

const OBSERVE = `
  window.shift = 0; window.shifted = []; window.paint = 0; window.slowest = 0;
  const watch = (type, look, more) => new PerformanceObserver((list) => list.getEntries().forEach(look)).observe({ type, buffered: true, ...more });
  const place = ({ node, previousRect: before, currentRect: after }) =>
    (node?.outerHTML ?? node?.nodeValue ?? "gone").slice(0, 160) + " from " + [before.y, before.height] + " to " + [after.y, after.height];
  watch("layout-shift", (entry) => {
    if (entry.hadRecentInput) return;
    window.shift += entry.value;
    window.shifted.push(entry.value + ": " + entry.sources.map(place).join("; "));
  });
  watch("largest-contentful-paint", (entry) => { window.paint = entry.startTime; });
  watch("event", (entry) => { if (entry.interactionId) window.slowest = Math.max(window.slowest, entry.duration); }, { durationThreshold: 16 });
`;

/** Opens an empty tab; `prepare` may block its connections before the first page is opened. */
async function openReading(browser: Browser, options: BrowserContextOptions & { width?: number } = {}): Promise<Reading> {
  const { width = 1440, ...context } = options;
  const page = await browser.newPage({ viewport: { width, height: HEIGHT_PX }, ...context });
  const problems: string[] = [];
  const scripts: Request[] = [];
  await page.addInitScript(OBSERVE);
  collectProblems(page, problems);
  page.on("requestfinished", (request) => {
    if (request.resourceType() === "script") scripts.push(request);
  });
  return {
    page,
    problems,
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
  return page.locator(`[data-feed="${by}"]`).first().waitFor({ timeout: 20_000 });
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

/** Asserts that an open page has one h1, one main element and no horizontal scroll in every width and colour scheme. */
export async function expectToFit(page: Page, name: string): Promise<void> {
  for (const width of WIDTHS_PX)
    for (const colorScheme of SCHEMES) {
      await show(page, width, colorScheme);
      const look = `${name} at ${width} px, ${colorScheme}`;
      expect(await page.getByRole("heading", { level: 1 }).count(), look).toBe(1);
      expect(await page.getByRole("main").count(), look).toBe(1);
      // A chart follows the width with a delay.
      await expect.poll(() => overhangOf(page), { message: look }).toBeLessThanOrEqual(0);
      await picture(page, `${name}-${width}-${colorScheme}`);
    }
  await show(page, 1440, "light");
}
