import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { BROWSER_TIMEOUT_MS, openBrowser } from "./browser";
import { type Mailbox, openMailbox } from "./mailbox";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { createVisitor, type Visitor } from "./visitor";

/** JavaScript of a page's first load after gzip: what a page of Next alone weighs, and what a dashboard page may add. */
const BARE_NEXT_BYTES = 135_000;
const ADDED_MAX_BYTES = 110_000;
/** All that moves while a page comes in, by the browser's own measure. */
const LAYOUT_SHIFT_MAX = 0.05;
const PAGES = ["/dashboard", "/dashboard/keys", "/dashboard/usage", "/dashboard/logs", "/dashboard/account"];
const WIDTHS_PX = [1440, 390];
const CALLS = 12;
/** Usage is written every two seconds. */
const COUNTED = { timeout: 20_000, interval: 250 };

/** Scripts of an HTML page that a modern browser loads with it; what is loaded later, when it is shown, is not among them. */
const SCRIPT = /<script\b(?![^>]*\bnomodule\b)[^>]*\bsrc="([^"]+)"/gi;
/** Runs before the page's own scripts and gathers what the browser measures. */
const WATCH = `
  globalThis.measured = { shift: 0, paintMs: 0 };
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) measured.shift += value;
  }).observe({ type: "layout-shift", buffered: true });
  new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntries()) measured.paintMs = startTime;
  }).observe({ type: "largest-contentful-paint", buffered: true });`;

interface Measured {
  /** Sum of all layout shifts. */
  readonly shift: number;
  /** When the largest piece was painted, in ms after the navigation began. */
  readonly paintMs: number;
}

let product: Product;
let browser: Browser;
let mailbox: Mailbox;
/** One who has just signed up, and one with keys, calls and a log. */
const readers: Record<"new" | "busy", Visitor | undefined> = { new: undefined, busy: undefined };

async function signUp(email: string, address: string): Promise<Visitor> {
  const visitor = createVisitor(product.baseUrl, address);
  const password = "correct horse battery";
  await visitor.call("POST", "sign-up", { email, password });
  await visitor.call("POST", "verify", { token: new URL(await mailbox.nextLink(email, "/verify")).searchParams.get("token") });
  expect(await visitor.signIn(email, password)).toBeNull();
  return visitor;
}

async function fillAccount(visitor: Visitor): Promise<void> {
  const settings = { venue: "sandbox", scopes: ["market:read"], origins: ["https://app.example.test"], expires_at: null };
  const texts: string[] = [];
  for (const name of ["Backtests", "Backtests", "Web shop"])
    texts.push(String((await visitor.call("POST", "keys", { ...settings, name })).data.text));
  for (let call = 0; call < CALLS; call++) {
    const authorization = `Bearer ${texts[call % texts.length]}`;
    const ticker = call % 4 === 0 ? "NOPE" : "EURUSD";
    await fetch(`${product.baseUrl}/api/v1/market/quotes/latest?tickers=${ticker}`, { headers: { authorization } });
  }
  await vi.waitFor(async () => expect((await visitor.call("GET", "logs")).data.items).toHaveLength(CALLS), COUNTED);
}

function cookiesOf({ cookies }: Visitor) {
  return [...cookies].map(([name, value]) => ({ name, value, url: product.baseUrl }));
}

/** Opens a page as somebody who was never here before, with nothing in the cache. */
async function openCold(visitor: Visitor, path: string, width: number): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height: 900 } });
  await context.addCookies(cookiesOf(visitor));
  await context.addInitScript(WATCH);
  const page = await context.newPage();
  await page.goto(product.baseUrl + path, { waitUntil: "networkidle" });
  return page;
}

async function gzipBytes(path: string): Promise<number> {
  return gzipSync(Buffer.from(await (await fetch(product.baseUrl + path)).arrayBuffer())).length;
}

beforeAll(async () => {
  mailbox = await openMailbox();
  [product, browser] = await Promise.all([startProduct({ SMTP_URL: mailbox.url, TRUSTED_PROXIES: "127.0.0.1" }), openBrowser()]);
  readers.new = await signUp("new@example.test", "203.0.113.1");
  readers.busy = await signUp("busy@example.test", "203.0.113.2");
  await fillAccount(readers.busy);
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await browser?.close();
  await product?.dispose();
  await mailbox?.close();
}, SERVER_TIMEOUT_MS);

describe.each(PAGES)("%s", (path) => {
  it("loads no more JavaScript at first than its budget", async () => {
    const cookie = cookiesOf(readers.busy as Visitor)
      .map(({ name, value }) => `${name}=${value}`)
      .join("; ");
    const html = await (await fetch(product.baseUrl + path, { headers: { cookie } })).text();
    const scripts = new Set([...html.matchAll(SCRIPT)].map(([, src = ""]) => src));
    expect(scripts.size).toBeGreaterThan(3);
    const sizes = await Promise.all([...scripts].map(gzipBytes));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    process.stdout.write(`  ${path}: ${(bytes / 1_000).toFixed(1)} kB of JavaScript in ${scripts.size} files\n`);
    expect(bytes).toBeLessThanOrEqual(BARE_NEXT_BYTES + ADDED_MAX_BYTES);
  });

  it.each(WIDTHS_PX.flatMap((width) => (["new", "busy"] as const).map((reader) => ({ width, reader }))))(
    "stays where it is while it comes in, at $width pixels for a $reader account",
    async ({ width, reader }) => {
      const page = await openCold(readers[reader] as Visitor, path, width);
      expect(new URL(page.url()).pathname).toBe(path);
      const { shift, paintMs } = await page.evaluate<Measured>("measured");
      await page.context().close();
      process.stdout.write(`  ${path} ${width} ${reader}: shift ${shift.toFixed(4)}, largest paint ${Math.round(paintMs)} ms\n`);
      expect(paintMs).toBeGreaterThan(0);
      expect(shift).toBeLessThan(LAYOUT_SHIFT_MAX);
    },
  );
});
