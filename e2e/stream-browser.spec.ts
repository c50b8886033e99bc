import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BROWSER_TIMEOUT_MS, borrowBrowser, returnBrowser } from "./browser";
import { type MadeKey, makeKey } from "./commands";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

/** The client library as its package ships it for browsers. */
const LIBRARY = join(dirname(createRequire(import.meta.url).resolve("socket.io-client/package.json")), "dist/socket.io.min.js");

let product: Product;
let browser: Browser;
/** A third-party site on its own origin. */
let site: Server;
let siteUrl: string;
let key: MadeKey;

beforeAll(async () => {
  const library = await readFile(LIBRARY);
  site = createServer((request, response) => {
    const script = request.url === "/socket.io.js";
    response.setHeader("content-type", script ? "text/javascript" : "text/html; charset=utf-8");
    response.end(script ? library : "<!doctype html><title>A site</title>");
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  [product, browser] = await Promise.all([startProduct(), borrowBrowser()]);
  key = await makeKey(product, { venue: "sandbox", scopes: "market:stream", origins: siteUrl });
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await returnBrowser(browser);
  site?.close();
  await product?.dispose();
}, SERVER_TIMEOUT_MS);

async function visit(url: string): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(url);
  return page;
}

/** How a page streams with a native WebSocket: a ticket, then the two subprotocols. Resolves to what it received. */
const NATIVE = `async ({ baseUrl, key }) => {
  const answer = await fetch(baseUrl + "/api/v1/market/stream/tickets", { method: "POST", headers: { authorization: "Bearer " + key } });
  const { code, message, data } = await answer.json();
  if (code !== 0) return { refused: message };
  const socket = new WebSocket(baseUrl.replace("http", "ws") + "/api/v1/market/stream", ["market.v1", "ticket." + data.ticket]);
  const types = [];
  return new Promise((resolve) => {
    socket.onopen = () => socket.send(JSON.stringify({ id: 1, method: "subscribe", params: { stream: "quote", tickers: ["EURUSD"] } }));
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      types.push(message.type + (message.event ? ":" + message.event : ""));
      if (message.event !== "update") return;
      socket.close();
      resolve({ protocol: socket.protocol, types, ticket: message.data.ticker });
    };
    socket.onclose = ({ code }) => resolve({ closed: code, types });
  });
}`;

const SOCKET_IO = `async ({ baseUrl, key }) => {
  const socket = io(baseUrl + "/market", { auth: { key }, reconnection: false });
  return new Promise((resolve) => {
    socket.on("connect_error", ({ message, data }) => resolve({ refused: message, code: data?.code }));
    socket.on("connect", async () => {
      const ack = await socket.emitWithAck("subscribe", { stream: "quote", tickers: ["EURUSD"] });
      socket.on("quote", (message) => {
        if (message.event !== "update") return;
        socket.disconnect();
        resolve({ accepted: ack.data.accepted, ticker: message.data.ticker, transport: socket.io.engine?.transport?.name });
      });
    });
  });
}`;

/** Runs one of the two in a page. */
function run(page: Page, code: string, text: string): Promise<unknown> {
  return page.evaluate(`(${code})(${JSON.stringify({ baseUrl: product.baseUrl, key: text })})`);
}

describe("a page in a browser", () => {
  test("a page streams with a native WebSocket and a ticket, from an origin that its key allows", async () => {
    const page = await visit(siteUrl);
    expect(await run(page, NATIVE, key.text)).toEqual({
      protocol: "market.v1",
      types: expect.arrayContaining(["welcome", "ack", "quote:snapshot", "quote:update"]),
      ticket: "EURUSD",
    });
    await page.close();
  });

  test("the product's own pages stream with the demo key, and with a key for other origins", async () => {
    const page = await visit(product.baseUrl);
    for (const text of [product.demoKey ?? "", key.text])
      expect(await run(page, NATIVE, text)).toMatchObject({ protocol: "market.v1" });
    await page.close();
  });

  test("a page on an origin that its key does not allow is refused a ticket", async () => {
    const page = await visit(siteUrl.replace("127.0.0.1", "localhost"));
    // The refusal is hidden from a page that the key does not allow.
    await expect(run(page, NATIVE, key.text)).rejects.toThrow("Failed to fetch");
    await page.close();
  });

  test("a page streams over Socket.IO with its key in auth", async () => {
    const page = await visit(siteUrl);
    await page.addScriptTag({ url: `${siteUrl}/socket.io.js` });
    expect(await run(page, SOCKET_IO, key.text)).toMatchObject({ accepted: ["EURUSD"], ticker: "EURUSD" });
    await page.close();
  });

  test("a page receives the reason of a refusal over Socket.IO", async () => {
    const page = await visit(`${siteUrl.replace("127.0.0.1", "localhost")}`);
    await page.addScriptTag({ url: "/socket.io.js" });
    expect(await run(page, SOCKET_IO, key.text)).toEqual({ refused: "origin_not_allowed", code: 40302 });
    await page.close();
  });
});
