import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page, Request } from "playwright";
import { gatherComplaints } from "./browser";

const HEIGHT_PX = 900;
/** The stream's address, as a page opens it. */
export const STREAM = /\/api\/v1\/market\/stream$/;

/** A page that is being read, and what it complains of. */
interface Reading {
  readonly page: Page;
  /** Errors and warnings of its console, and what it threw. */
  readonly complaints: string[];
  /** Layout shift so far. */
  shift(): Promise<number>;
  /** Milliseconds to the largest paint so far. */
  largestPaint(): Promise<number>;
  /** Bytes of script that were sent to it so far, as they went over the wire. */
  scriptBytes(): Promise<number>;
  /** How far it can be scrolled sideways, in CSS pixels. */
  overhang(): Promise<number>;
}

const OBSERVE = `
  window.shift = 0; window.paint = 0; window.slowest = 0;
  const watch = (type, look, more) => new PerformanceObserver((list) => list.getEntries().forEach(look)).observe({ type, buffered: true, ...more });
  watch("layout-shift", (entry) => { if (!entry.hadRecentInput) window.shift += entry.value; });
  watch("largest-contentful-paint", (entry) => { window.paint = entry.startTime; });
  watch("event", (entry) => { if (entry.interactionId) window.slowest = Math.max(window.slowest, entry.duration); }, { durationThreshold: 16 });
`;

/** Opens an empty tab; `prepare` may cut its wires before the first address is opened. */
async function openReading(browser: Browser, options: BrowserContextOptions & { width?: number } = {}): Promise<Reading> {
  const { width = 1440, ...context } = options;
  const page = await browser.newPage({ viewport: { width, height: HEIGHT_PX }, ...context });
  const complaints: string[] = [];
  const scripts: Request[] = [];
  await page.addInitScript(OBSERVE);
  gatherComplaints(page, complaints);
  page.on("requestfinished", (request) => {
    if (request.resourceType() === "script") scripts.push(request);
  });
  return {
    page,
    complaints,
    shift: () => page.evaluate("window.shift"),
    largestPaint: () => page.evaluate("window.paint"),
    async scriptBytes() {
      // Asked for when they are wanted: a page that closes meanwhile answers no more.
      const sizes = await Promise.all(scripts.map((request) => request.sizes()));
      return sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
    },
    overhang: () => page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
  };
}

/** Opens tabs of people who were never here: each has an address of its own, and with it calls of its own on the demo key. */
export function createVisits(browser: () => Browser): (options?: Parameters<typeof openReading>[1]) => Promise<Reading> {
  let visitors = 0;
  return (options = {}) => {
    visitors += 1;
    return openReading(browser(), { ...options, extraHTTPHeaders: { "x-forwarded-for": `198.51.100.${visitors}` } });
  };
}

/** Waits until the page says so of where its prices come from. */
export function feedBy(page: Page, by: "page" | "stream" | "polling" | "none"): Promise<void> {
  return page.locator(`[data-feed="${by}"]`).first().waitFor({ timeout: 20_000 });
}

/** Keeps every stream of a page from opening. */
export function blockStream(page: Page): Promise<void> {
  return page.routeWebSocket(STREAM, (socket) => socket.close());
}

/** Takes a picture of the whole page. */
export async function picture(page: Page, folder: string, name: string): Promise<void> {
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
