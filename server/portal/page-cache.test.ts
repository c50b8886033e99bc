import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, createServer, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type ManualClock, manualClock } from "#lib/clock";
import { Fault } from "#lib/fault";
import { createLog } from "#lib/log";
import { type ClientQueue, createClientQueue } from "#server/processes/client-queue";
import { createSend } from "#server/processes/send";
import { createPageCache, type PageCache } from "./page-cache";

const PAGE = "<!doctype html><script>begin()</script><script src='/_next/a.js'></script><p>a page</p>";
/** The cache holds so many pages of this size, with their compressed copies. */
const PAGE_BYTES = 3_000_000;
const CACHE_PAGES_COUNT = 14;
const FONT = "</_next/static/media/a.woff2>; rel=preload; as=font";
/** The SHA-256 of `begin()`, by openssl. */
const HASH = "'sha256-15S4FGE7rP6kq/PzA1uIhN3+8zfaO6/TnJp4fMWo7lE='";

let folder: string;
let portal: Server;
let front: Server;
let cache: PageCache;
let queue: ClientQueue;
let clock: ManualClock;
let agent: Agent;
/** The requests that reached the portal. */
let asked: IncomingMessage[];
/** The targets that were forwarded. */
let forwarded: string[];
let forwardedHeaders: IncomingMessage["headers"][];
/** What the portal answers. */
let page: string;
let status: number;
/** How each request was counted, and how many may pass. */
let counted: string[];
let limitCount: number;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "spotwire-cache-"));
  const socketPath = path.join(folder, "portal.sock");
  asked = [];
  forwarded = [];
  forwardedHeaders = [];
  page = PAGE;
  status = 200;
  counted = [];
  limitCount = Number.POSITIVE_INFINITY;
  clock = manualClock(1_000_000);
  agent = new Agent({ keepAlive: true });
  portal = createServer((incoming, response) => {
    asked.push(incoming);
    const headers = { "content-type": "text/html", link: FONT, "set-cookie": "own=1" };
    response.writeHead(incoming.url === "/no-such-page" ? 404 : status, headers).end(page);
  });
  await once(portal.listen(socketPath), "listening");
  queue = createClientQueue({ runningMaxCount: 2, waitingMaxCount: 8, clientWaitingMaxCount: 8 });
  queue.open(true);
  const target = () => ({ socketPath, agent });
  const metrics = { refused: () => undefined };
  const send = createSend({ queue, target, onLost: () => undefined, clock, log: createLog("silent"), metrics });
  cache = createPageCache({
    env: { PUBLIC_URL: undefined },
    send,
    isRoute: (asking) => !asking.startsWith("/nope"),
    limit: async (_, from) => {
      counted.push(from);
      return counted.length > limitCount ? new Fault("rate_limited", { retry_after: 3 }) : undefined;
    },
    forward(incoming, response) {
      forwarded.push(incoming.url ?? "");
      forwardedHeaders.push(incoming.headers);
      response.end();
    },
    clock,
  });
  front = createServer(cache.handle);
  await once(front.listen(0, "127.0.0.1"), "listening");
});
afterEach(async () => {
  front.closeAllConnections();
  agent.destroy();
  portal.closeAllConnections();
  await Promise.all([front, portal].map((server) => new Promise((resolve) => server.close(resolve))));
  await rm(folder, { recursive: true });
});

interface Got {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** Not fetch: it decodes bodies, and decides about encodings itself. */
async function get(target: string, headers: Record<string, string> = {}, method = "GET"): Promise<Got> {
  const call = request({ port: (front.address() as AddressInfo).port, path: target, headers, method });
  call.end();
  const [answer] = (await once(call, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) };
}

test("a page of the docs is rendered once for all readers, whatever their query", async () => {
  await Promise.all([get("/docs/quickstart"), get("/docs/quickstart"), get("/docs/quickstart?a=b")]);
  await clock.advance(86_400_000);
  expect((await get("/docs/quickstart")).body.toString()).toBe(PAGE);
  expect(asked.map(({ url }) => url)).toEqual(["/docs/quickstart"]);
});

test("a page of the markets that asks for the live venue is one page more for strangers, whatever else the query has", async () => {
  for (const query of ["?venue=live", "?a=1&venue=live", "?venue=live&a=2", "?venue=other", ""])
    await get(`/markets/XAUUSD${query}`);
  expect(asked.map(({ url }) => url)).toEqual(["/markets/XAUUSD?venue=live", "/markets/XAUUSD"]);
});

test("the status is rendered at most once a second, and readers do not wait for it while it is a few seconds old", async () => {
  await get("/status");
  await clock.advance(900);
  await get("/status");
  expect(asked).toHaveLength(1);
  await clock.advance(200);
  await Promise.all([get("/status"), get("/status")]);
  expect(asked).toHaveLength(2);
  await clock.advance(7_000);
  await get("/status");
  expect(asked).toHaveLength(3);
});

test("a reader's theme and languages get pages of their own, and other cookies do not", async () => {
  await get("/docs", { cookie: "theme=dark; code_languages=Python; other=1" });
  await get("/docs", { cookie: "theme=dark; code_languages=Python; other=2" });
  await get("/docs", { cookie: "theme=light" });
  expect(asked.map(({ headers }) => headers.cookie)).toEqual(["theme=dark; code_languages=Python", "theme=light"]);
});

test.each(["host", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-port"])(
  "a page names the service as its reader reached it: one for each %s",
  async (name) => {
    for (const value of ["8443", "8080", "8443"]) await get("/docs", { [name]: value });
    expect(asked.map(({ headers }) => headers[name])).toEqual(["8443", "8080"]);
  },
);

test("a reader cannot say that a page is for everybody", async () => {
  await get("/signin", { "x-spotwire-shared": "1" });
  expect(forwardedHeaders).toHaveLength(1);
  expect(forwardedHeaders[0]).not.toHaveProperty("x-spotwire-shared");
});

test("a theme that nobody can choose is that of the system, which needs no page of its own", async () => {
  for (const theme of ["system", "pink", "42"]) await get("/docs", { cookie: `theme=${theme}` });
  expect(asked.map(({ headers }) => headers.cookie)).toEqual([undefined]);
});

test("the memory of pages has a bound: the one that nobody asked for longest is rendered again", async () => {
  page = "a".repeat(PAGE_BYTES);
  const docs = Array.from({ length: CACHE_PAGES_COUNT }, (_, n) => `/docs/page-${n}`);
  for (const target of docs) await get(target);
  await get("/docs/page-0");
  await get("/docs/one-more");
  expect(asked).toHaveLength(CACHE_PAGES_COUNT + 1);
  await get("/docs/page-0");
  expect(asked).toHaveLength(CACHE_PAGES_COUNT + 1);
  await get("/docs/page-1");
  expect(asked).toHaveLength(CACHE_PAGES_COUNT + 2);
});

test("a page without a body is kept like any other", async () => {
  page = "";
  for (let n = 0; n < 2; n += 1) expect((await get("/docs")).status).toBe(200);
  expect(asked).toHaveLength(1);
});

test("a page that is too large is not shown", async () => {
  page = "a".repeat(4_194_304);
  expect((await get("/docs")).status).toBe(200);
  page += "a";
  expect((await get("/docs/larger")).status).toBe(503);
});

test("a navigation inside the portal, another method and a page of its own are forwarded", async () => {
  await get("/docs", { rsc: "1" });
  await get("/docs", {}, "POST");
  await get("/signin?next=a");
  expect(forwarded).toEqual(["/docs", "/docs", "/signin?next=a"]);
});

test("all paths without a page share one answer", async () => {
  for (const target of ["/nope", "/nope/too", "/nope?a=b"]) expect((await get(target)).status).toBe(404);
  for (const [headers, method] of [
    [{ rsc: "1" }, "GET"],
    [{}, "POST"],
  ] as const)
    expect((await get("/nope/three", headers, method)).status).toBe(404);
  expect(asked.map(({ url }) => url)).toEqual(["/no-such-page"]);
  expect(forwarded).toEqual([]);
});

test("paths without a page reach the portal once for each theme, by whatever host and with whatever choices they are asked for", async () => {
  for (let n = 0; n < 20; n += 1) {
    const names = { host: `a${n}.example`, "x-forwarded-host": `b${n}.example`, "x-forwarded-proto": n % 2 ? "http" : "https" };
    const cookie = `theme=${["dark", "light", "system", `t${n}`][n % 4]}; code_languages=${n}; other=${n}`;
    expect((await get(`/nope/${n}`, { ...names, "x-forwarded-port": String(8000 + n), cookie })).status).toBe(404);
  }
  expect(asked.map(({ headers }) => headers.cookie).toSorted()).toEqual(["theme=dark", "theme=light", undefined]);
  for (const { headers } of asked) {
    expect(headers.host).toBe("localhost");
    expect(headers).not.toHaveProperty("x-forwarded-host");
  }
});

test("a request counts as one from memory or as one that has to be rendered, and one too many is refused", async () => {
  for (const target of ["/docs", "/docs", "/signin", "/nope", "/nope/too"]) await get(target);
  expect(counted).toEqual(["portal", "memory", "portal", "portal", "memory"]);
  limitCount = 0;
  const refused = await get("/docs");
  expect(refused).toMatchObject({ status: 429, headers: { "retry-after": "3", "content-type": "text/html; charset=utf-8" } });
  expect(refused.body.toString()).toContain("Too many requests");
});

test("the policy allows the inline scripts of the page by their hashes and no others, and the portal sets no nonce", async () => {
  const { headers } = await get("/docs");
  const policy = String(headers["content-security-policy"]).split("; ");
  expect(policy).toContain(`script-src 'self' ${HASH}`);
  expect(policy).toContain("style-src 'self'");
  expect(asked[0]?.headers["x-spotwire-shared"]).toBe("1");
});

test("a page is sent in the encoding that its reader accepts, and not at all when the reader has it", async () => {
  const br = await get("/docs", { "accept-encoding": "gzip, br" });
  expect(brotliDecompressSync(br.body).toString()).toBe(PAGE);
  const gzip = await get("/docs", { "accept-encoding": "gzip, br;q=0" });
  expect(gunzipSync(gzip.body).toString()).toBe(PAGE);
  const again = await get("/docs", { "accept-encoding": "br", "if-none-match": String(br.headers.etag) });
  expect(again).toMatchObject({ status: 304, headers: { etag: br.headers.etag } });
  expect(again.body).toHaveLength(0);
  expect((await get("/docs", {}, "HEAD")).headers["content-length"]).toBe(String(PAGE.length));
});

test("a page keeps its headers, such as fonts to load ahead, but nobody's cookies", async () => {
  const { headers } = await get("/docs");
  expect(headers.link).toBe(FONT);
  expect(headers).not.toHaveProperty("set-cookie");
});

test("an error is shown to who waits for it, and not kept", async () => {
  status = 500;
  expect((await get("/docs")).status).toBe(500);
  status = 200;
  expect((await get("/docs")).status).toBe(200);
});

test("the service itself reads shared pages for a reader's host, and no others", async () => {
  const reader = { host: "a.example", address: "192.0.2.1" };
  expect(await cache.read("/docs.md", reader)).toBe(PAGE);
  expect(await cache.read("/docs.md", reader)).toBe(PAGE);
  expect(asked.map(({ url, headers }) => [url, headers.host])).toEqual([["/docs.md", "a.example"]]);
  for (const path of ["/signin", "/nope"]) expect(await cache.read(path, reader)).toBeUndefined();
  status = 404;
  expect(await cache.read("/docs/other.md", reader)).toBeUndefined();
  portal.removeAllListeners("request");
  portal.on("request", (incoming: IncomingMessage) => incoming.socket.destroy());
  await expect(cache.read("/docs/klines.md", reader)).rejects.toMatchObject({ id: "service_unavailable" });
});

test("after a restart of the portal every page is rendered again, and an old one is shown where that fails, with its age", async () => {
  await get("/docs");
  cache.renew();
  await get("/docs");
  expect(asked).toHaveLength(2);
  cache.renew();
  await clock.advance(86_400_000);
  portal.removeAllListeners("request");
  portal.on("request", (incoming: IncomingMessage) => incoming.socket.destroy());
  expect(await get("/docs")).toMatchObject({ status: 200, headers: { age: "86400" } });
  expect(await get("/docs/klines")).toMatchObject({ status: 503 });
});

test("a page that is not rendered in time is shown as it was, however old", async () => {
  await get("/status");
  await clock.advance(3_600_000);
  portal.removeAllListeners("request");
  const waits = once(portal, "request");
  const answer = get("/status");
  await waits;
  await clock.advance(1_000);
  expect(await answer).toMatchObject({ status: 200, headers: { age: "3601" } });
});

test("who waits for a page that another asked for asks itself when the other loses its place in the queue", async () => {
  queue.open(false);
  const join = (network: string) => queue.join({ network, client: "a" }, { run: (end) => end(), displaced: () => undefined });
  const other = get("/docs/other");
  await vi.waitFor(() => expect(counted).toHaveLength(1));
  const first = get("/docs");
  await vi.waitFor(() => expect(counted).toHaveLength(2));
  const second = get("/docs");
  await vi.waitFor(() => expect(counted).toHaveLength(3));
  // Six more fill the queue, and one from a smaller network takes the place of the newest of the readers.
  for (const network of ["1", "2", "3", "4", "5", "6", "7"]) expect(join(network)).toBeDefined();
  queue.open(true);
  expect((await other).status).toBe(200);
  expect((await first).status).toBe(503);
  expect((await second).status).toBe(200);
});

test("a page that cannot be rendered is answered with 503 and Retry-After", async () => {
  portal.removeAllListeners("request");
  portal.on("request", (incoming: IncomingMessage) => incoming.socket.destroy());
  expect(await get("/docs")).toMatchObject({ status: 503, headers: { "retry-after": "2" } });
});
