import { gzipSync } from "node:zlib";
import type { Browser } from "playwright";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { BROWSER_TIMEOUT_MS, openBrowser } from "./browser";
import { type Mailbox, openMailbox } from "./mailbox";
import { createVisits } from "./reading";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { createVisitor, type Visitor } from "./visitor";

/** What a page of Next alone weighs, after gzip. */
const BARE_NEXT_BYTES = 135_000;
/** What pages may add. */
const ADDED_MAX_BYTES: Readonly<Record<string, number>> = {
  "/": 45_000,
  "/status": 45_000,
  "/markets": 90_000,
  "/markets/XAUUSD": 90_000,
  "/docs": 90_000,
  "/docs/quickstart": 90_000,
  "/docs/operations/klines": 90_000,
  "/playground": 110_000,
  "/playground?op=quoteStream": 110_000,
};
const OWN_PAGE_ADDED_MAX_BYTES = 110_000;
const OWN_PAGES = ["/dashboard", "/dashboard/keys", "/dashboard/usage", "/dashboard/logs", "/dashboard/account"];
/** All that moves while a page comes in, by the browser's own measure. */
const LAYOUT_SHIFT_MAX = 0.05;
const WIDTHS_PX = [1440, 390];
const CALLS = 12;
/** Usage is written every two seconds. */
const COUNTED = { timeout: 20_000, interval: 250 };

/** Scripts of an HTML page that a modern browser loads with it; what is loaded later, when it is shown, is not among them. */
const SCRIPT = /<script\b(?![^>]*\bnomodule\b)[^>]*\bsrc="([^"]+)"/gi;
let product: Product;
let browser: Browser;
let mailbox: Mailbox;
const visit = createVisits(() => browser);
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

/** Opens a page as a new visitor with an empty cache, and returns what the browser measured. */
async function measure(path: string, width: number, visitor?: Visitor): Promise<{ shift: number; scripts: number }> {
  const reading = await visit({ width });
  const { page } = reading;
  if (visitor !== undefined) await page.context().addCookies(cookiesOf(visitor));
  await page.goto(product.baseUrl + path, { waitUntil: "networkidle" });
  expect(page.url()).toBe(product.baseUrl + path);
  const [shift, paintMs, scripts] = [await reading.shift(), await reading.largestPaint(), await reading.scriptBytes()];
  await page.close();
  // Times are printed but not checked: they depend on the machine as much as on the page.
  process.stdout.write(`  ${path} at ${width}: shift ${shift.toFixed(4)}, largest paint ${Math.round(paintMs)} ms\n`);
  expect(paintMs).toBeGreaterThan(0);
  return { shift, scripts };
}

function tellScripts(path: string, bytes: number): void {
  process.stdout.write(`  ${path}: ${(bytes / 1_000).toFixed(1)} kB of JavaScript\n`);
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

describe.each(Object.keys(ADDED_MAX_BYTES))("%s", (path) => {
  test.each(WIDTHS_PX)(
    "keeps to its budgets of script, all that comes without a click, and of layout shift, at %i pixels",
    async (width) => {
      const { shift, scripts } = await measure(path, width);
      tellScripts(path, scripts);
      expect(scripts).toBeGreaterThan(BARE_NEXT_BYTES / 2);
      expect(scripts).toBeLessThanOrEqual(BARE_NEXT_BYTES + (ADDED_MAX_BYTES[path] ?? 0));
      expect(shift).toBeLessThan(LAYOUT_SHIFT_MAX);
    },
  );
});

describe.each(OWN_PAGES)("%s", (path) => {
  test("loads no more script at first than its budget; charts come when they are shown", async () => {
    const cookie = cookiesOf(readers.busy as Visitor)
      .map(({ name, value }) => `${name}=${value}`)
      .join("; ");
    const html = await (await fetch(product.baseUrl + path, { headers: { cookie } })).text();
    const scripts = new Set([...html.matchAll(SCRIPT)].map(([, src = ""]) => src));
    expect(scripts.size).toBeGreaterThan(3);
    const sizes = await Promise.all([...scripts].map(gzipBytes));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    tellScripts(path, bytes);
    expect(bytes).toBeLessThanOrEqual(BARE_NEXT_BYTES + OWN_PAGE_ADDED_MAX_BYTES);
  });

  test.each(WIDTHS_PX.flatMap((width) => (["new", "busy"] as const).map((reader) => ({ width, reader }))))(
    "stays where it is while it comes in, at $width pixels for a $reader account",
    async ({ width, reader }) => {
      expect((await measure(path, width, readers[reader])).shift).toBeLessThan(LAYOUT_SHIFT_MAX);
    },
  );
});
