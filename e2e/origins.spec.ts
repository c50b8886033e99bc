import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { build } from "esbuild";
import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operations } from "#lib/operations/declarations";
import { BROWSER_TIMEOUT_MS, borrowBrowser, returnBrowser } from "./browser";
import { type MadeKey, makeKey } from "./commands";
import type * as script from "./pages-of-others";
import { API_ONLY, type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

/** What the page has of its script. */
declare const site: typeof script;

let product: Product;
let browser: Browser;
let server: Server;
let page: Page;
let key: MadeKey;

beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: ["e2e/pages-of-others.ts"],
    globalName: "site",
    format: "iife",
    platform: "browser",
    bundle: true,
    write: false,
  });
  const html = `<!doctype html><title>A page</title><script>${outputFiles[0]?.text.replaceAll("</script", "<\\/script")}</script>`;
  server = createServer((_, response) => response.setHeader("content-type", "text/html").end(html));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  [product, browser] = await Promise.all([startProduct(API_ONLY), borrowBrowser()]);
  key = await makeKey(product, { venue: "sandbox", scopes: "market:read,market:stream", origins: origin });
  page = await browser.newPage();
  await page.goto(origin);
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);
afterAll(async () => {
  server?.close();
  await returnBrowser(browser);
  await product?.dispose();
}, SERVER_TIMEOUT_MS);

describe("a page of another site, whose tracing library adds headers to each request", () => {
  test.each([
    ["GET", `${operations.latestQuotes.path}?tickers=EURUSD`],
    ["POST", operations.createStreamTicket.path],
    ["GET", "/socket.io/?EIO=4&transport=polling"],
  ])("gets an answer to %s %s", async (method, path) => {
    const args = [product.baseUrl + path, key.text, method] as const;
    expect(await page.evaluate((given) => site.ask(...given), args)).toBe(200);
  });

  test.each([
    ["auto", "2026-07-28"],
    ["legacy", "2025-11-25"],
  ] as const)("calls tools over MCP: %s, %s", async (mode, revision) => {
    const answer = await page.evaluate((given) => site.callTool(...given), [product.baseUrl, key.text, mode] as const);
    expect(answer).toEqual({ revision, hasTools: true, isError: false });
  });
});
