import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type ManualClock, manualClock } from "#lib/clock";
import { BODY_MAX_BYTES } from "#lib/http/input";
import { createLog } from "#lib/log";
import { type ClientQueue, createClientQueue } from "./client-queue";
import { createForwarder } from "./forward";
import { createSend, WAIT_MAX_MS } from "./send";

const BOUNDS = { runningMaxCount: 1, waitingMaxCount: 2, clientWaitingMaxCount: 2 };

let folder: string;
let portal: Server;
let front: Server;
let queue: ClientQueue;
let clock: ManualClock;
let refused: string[];
/** Answers of the portal that a test gives itself. */
let asked: [IncomingMessage, ServerResponse][];
let agent: Agent;
/** Where the portal is looked for. */
let socketPath: string;
/** How often it was found not to answer; nothing begins after that until a test opens the queue again. */
let lost: number;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "spotwire-forward-"));
  socketPath = path.join(folder, "portal.sock");
  lost = 0;
  asked = [];
  refused = [];
  clock = manualClock(0);
  agent = new Agent({ keepAlive: true });
  portal = createServer((incoming, response) => {
    asked.push([incoming, response]);
    portal.emit("asked");
  });
  await once(portal.listen(socketPath), "listening");
  queue = createClientQueue(BOUNDS);
  queue.open(true);
  const metrics = { refused: (where: string, reason: string) => refused.push(`${where} ${reason}`) };
  const target = () => ({ socketPath, agent });
  const onLost = () => {
    lost += 1;
    queue.open(false);
  };
  const forward = createForwarder(createSend({ queue, target, onLost, clock, log: createLog("silent"), metrics }));
  front = createServer((incoming, response) => {
    response.setHeader("x-content-type-options", "nosniff");
    forward(incoming, response);
  });
  await once(front.listen(0, "127.0.0.1"), "listening");
});
afterEach(async () => {
  front.closeAllConnections();
  agent.destroy();
  portal.closeAllConnections();
  await Promise.all([front, portal].map((server) => new Promise((resolve) => server.close(resolve))));
  await rm(folder, { recursive: true });
});

const port = () => (front.address() as AddressInfo).port;
const get = (target = "/page", init: RequestInit = {}) => fetch(`http://127.0.0.1:${port()}${target}`, init);

/** Resolves once the portal has been asked this many times. */
async function askedTimes(count: number): Promise<void> {
  while (asked.length < count) await once(portal, "asked");
}

test("a request reaches the portal with its body and its own headers, and the answer comes back with every Set-Cookie", async () => {
  const answer = get("/api/portal/keys?a=b", { method: "POST", body: "text", headers: { "x-own": "1" } });
  await askedTimes(1);
  const [[incoming, response] = []] = asked;
  expect(incoming).toMatchObject({
    method: "POST",
    url: "/api/portal/keys?a=b",
    headers: { "x-own": "1", "content-length": "4" },
  });
  incoming?.resume();
  response?.writeHead(201, ["set-cookie", "a=1", "set-cookie", "b=2"]).end("done");
  const { status, headers } = await answer;
  expect({ status, cookies: headers.getSetCookie() }).toEqual({ status: 201, cookies: ["a=1", "b=2"] });
});

test("a request past the bound of the queue gets 503 with Retry-After: a page, or the envelope under /api", async () => {
  const waiting = [get(), get(), get()];
  await askedTimes(1);
  while (refused.length === 0) {
    const page = await get();
    expect(page.status).toBe(503);
    expect(page.headers.get("retry-after")).toBe("2");
    expect(page.headers.get("content-type")).toContain("text/html");
  }
  const api = await get("/api/portal/keys");
  expect(await api.json()).toMatchObject({ message: "service_unavailable", data: { retry_after: 2 } });
  expect(new Set(refused)).toEqual(new Set(["pages too_many_waiting"]));
  for (const count of [1, 2, 3]) {
    await askedTimes(count);
    asked[count - 1]?.[1].end("a page");
  }
  for (const { status } of await Promise.all(waiting)) expect(status).toBe(200);
});

test("a request that gets no turn in time is refused", async () => {
  const first = get();
  await askedTimes(1);
  const second = get();
  await once(front, "request");
  await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(WAIT_MAX_MS);
  expect((await second).status).toBe(503);
  expect(refused).toEqual(["pages waited_too_long"]);
  asked[0]?.[1].end();
  expect((await first).status).toBe(200);
});

test("a client that leaves gives its turn to the next", async () => {
  const leaving = new AbortController();
  const left = get("/page", { signal: leaving.signal }).catch(() => "left");
  await askedTimes(1);
  const next = get();
  leaving.abort();
  expect(await left).toBe("left");
  await askedTimes(2);
  asked[1]?.[1].end("a page");
  expect((await next).status).toBe(200);
});

test("a body sent slowly holds no turn, and one that is too large is refused", async () => {
  const slow = connect(port(), "127.0.0.1");
  slow.write("POST /api/portal/keys HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf");
  const page = get();
  await askedTimes(1);
  asked[0]?.[1].end("a page");
  expect((await page).status).toBe(200);
  slow.destroy();
  const large = await get("/api/portal/keys", { method: "POST", body: "x".repeat(BODY_MAX_BYTES + 1) });
  expect(await large.json()).toMatchObject({ message: "payload_too_large", data: { max: BODY_MAX_BYTES } });
  const pieces = Array.from({ length: 20 }, () => new Uint8Array(BODY_MAX_BYTES));
  const body = Readable.toWeb(Readable.from(pieces)) as ReadableStream;
  const unannounced = await get("/api/portal/keys", { method: "POST", body, duplex: "half" } as RequestInit);
  expect(await unannounced.json()).toMatchObject({ message: "payload_too_large", data: { max: BODY_MAX_BYTES } });
  expect(asked).toHaveLength(1);
});

/** Resolves once the portal was found not to answer this many times. */
const lostTimes = (count: number) => vi.waitFor(() => expect(lost).toBe(count));

test("a request that changes nothing waits for the next portal when one ends before its answer, and is sent twice at most", async () => {
  const [saved, dropped] = [get("/saved"), get("/dropped")];
  for (const count of [1, 2]) {
    await askedTimes(count);
    asked[count - 1]?.[0].socket.destroy();
    await lostTimes(count);
    queue.open(true);
  }
  await askedTimes(3);
  asked[2]?.[1].end("a page");
  expect(await (await saved).text()).toBe("a page");
  await askedTimes(4);
  asked[3]?.[0].socket.destroy();
  expect((await dropped).status).toBe(503);
  expect(asked.map(([{ url }]) => url)).toEqual(["/saved", "/dropped", "/saved", "/dropped"]);
});

test("a change is sent again only when the portal did not receive it", async () => {
  const post = () => get("/api/portal/keys", { method: "POST", body: "text" });
  const broken = post();
  await askedTimes(1);
  asked[0]?.[0].socket.destroy();
  expect(await (await broken).json()).toMatchObject({ message: "service_unavailable" });
  const found = socketPath;
  socketPath = `${found}.not-yet`;
  queue.open(true);
  const waiting = post();
  await lostTimes(2);
  socketPath = found;
  queue.open(true);
  await askedTimes(2);
  asked[1]?.[0].resume();
  asked[1]?.[1].end();
  expect((await waiting).status).toBe(200);
});

test("a reader that does not read holds no turn", async () => {
  const call = request({ port: port(), path: "/large" });
  call.on("response", (answer) => answer.pause());
  call.end();
  await askedTimes(1);
  asked[0]?.[1].end(Buffer.alloc(900_000));
  const next = get();
  await askedTimes(2);
  asked[1]?.[1].end("a page");
  expect((await next).status).toBe(200);
  call.destroy();
});
