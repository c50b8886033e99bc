import { request } from "node:http";
import { io } from "socket.io-client";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { AUTH_FAILURES_PER_MINUTE_COUNT, KEYLESS_CLIENT_PER_MINUTE_COUNT, KEYLESS_WORK_UNITS } from "#lib/contract/limits";
import { SOCKET_IO_NAMESPACE, STREAM_PATH, STREAM_PROTOCOL } from "#lib/contract/stream";
import { TICKET_PROTOCOL_PREFIX } from "#lib/contract/stream-ticket";
import { keyHolder, type MadeKey, makeLiveKey, runCommand } from "./commands";
import { createFeeder, type Feeder } from "./feeder";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";
import { openSocket, type Received, Refused, type StreamClient } from "./socket";

const MARKET = "/api/v1/market";
const QUOTES = `${MARKET}/quotes/latest?tickers=EURUSD`;
const SCOPES = "market:read,market:stream";
const SOON = { timeout: 60_000, interval: 50 };
/** A worker counts as hung after half a minute, because a busy one may miss several pings. */
const REPLACED = { timeout: 60_000, interval: 100 };
const REPLACED_TEST_MAX_MS = 120_000;
/** What one worker holds for the next requests of a client is refused to the other one; it is a small part. */
const LENT_MIN_PART = 0.75;
const POINTS = [
  [108_540, 108_548],
  [108_555, 108_562],
  [108_531, 108_541],
] as const;

/** The answer to a call over a connection of its own: connections take turns at the workers. */
function callAnew(
  url: string,
  key: string | undefined,
  { method = "GET", address = "127.0.0.1" } = {},
): Promise<{ status: number; text: string }> {
  const headers = { "x-forwarded-for": address, ...(key !== undefined && { authorization: `Bearer ${key}` }) };
  return new Promise((resolve, reject) => {
    const call = request(url, { method, headers, agent: false }, (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    call.on("error", reject).end();
  });
}

/** A series of /metrics by worker. */
async function byWorker({ baseUrl }: Product, series: string): Promise<number[]> {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  return ["1", "2"].map((worker) => {
    const line = text.split("\n").find((one) => one.startsWith(series) && one.includes(`worker="${worker}"`));
    return Number(line?.split(" ").at(-1) ?? 0);
  });
}

/** The process of each worker that serves clients, by the newest line of the log. */
function pidsOf(product: Product): Map<number, number> {
  const found = new Map<number, number>();
  for (const line of product.output().split("\n")) {
    const { msg, worker, pid } = line.startsWith("{") ? (JSON.parse(line) as Record<string, unknown>) : {};
    if (msg === "an edge worker serves clients") found.set(worker as number, pid as number);
  }
  return found;
}

/** The checks of /api/ready. */
async function checksOf({ baseUrl }: Product): Promise<Record<string, string>> {
  return ((await (await fetch(`${baseUrl}/api/ready`)).json()) as { checks: Record<string, string> }).checks;
}

const place = ({ epoch, seq }: Received<"quote">) => `${epoch} ${seq}`;
const quotesOf = ({ messages }: StreamClient) => messages.filter((one): one is Received<"quote"> => one.type === "quote");

describe("a product with two edge workers", () => {
  let product: Product;
  let key: MadeKey;
  let feeder: Feeder;

  /** A key with limits of its own, which no other test uses up. */
  async function keyWith(account: string, ...limits: string[]): Promise<MadeKey> {
    const made = await makeLiveKey(product, SCOPES, account);
    if (limits.length > 0) expect((await runCommand(product, "keys", ["edit", made.id, ...limits])).exitCode).toBe(0);
    return made;
  }
  async function subscribed(of: MadeKey): Promise<StreamClient> {
    const client = await openSocket(product.baseUrl, { key: of.text });
    expect(await client.ask("subscribe", { stream: "quote", tickers: ["EURUSD"] })).toMatchObject({ type: "ack" });
    return client;
  }
  /** Four streams, of which each worker has some: opened one after the other, they take turns. */
  async function four(of: MadeKey): Promise<StreamClient[]> {
    const clients = [await subscribed(of), await subscribed(of), await subscribed(of), await subscribed(of)];
    for (const count of await byWorker(product, "spotwire_stream_connections")) expect(count).toBeGreaterThan(0);
    return clients;
  }
  const push = () => feeder.push(feeder.ticks("EURUSD", POINTS));

  beforeAll(async () => {
    product = await startProduct({ WORKERS: "2", LIVE_FEED: "push", TRUSTED_PROXIES: "127.0.0.1" });
    key = await makeLiveKey(product, SCOPES);
    feeder = createFeeder(keyHolder(product, await makeLiveKey(product, "market:ingest")));
    await push();
  }, SERVER_TIMEOUT_MS);
  afterAll(() => product?.dispose(), SERVER_TIMEOUT_MS);

  test("shares its connections evenly among them, and each answers REST, pages and operators", async () => {
    const series = 'spotwire_http_requests_total{operation="latestQuotes",code="0"';
    const before = await byWorker(product, series);
    const answers: Awaited<ReturnType<typeof callAnew>>[] = [];
    // One at a time: a worker that is busy with a connection misses its turn.
    while (answers.length < 10) answers.push(await callAnew(product.baseUrl + QUOTES, key.text));
    expect(new Set(answers.map(({ text }) => text.replace(/"request_id":"[^"]*"/, ""))).size).toBe(1);
    expect(answers[0]?.text).toContain('"bid":1.08531');
    const after = await byWorker(product, series);
    const shares = after.map((count, index) => count - (before[index] ?? 0));
    expect(shares.reduce((sum, share) => sum + share)).toBe(10);
    for (const share of shares) expect(share).toBeGreaterThanOrEqual(3);
    for (const path of ["/", "/status.json", "/api/ready", "/api/health"]) {
      const twice = await Promise.all([1, 2].map(() => callAnew(product.baseUrl + path, key.text)));
      expect(twice.map(({ status }) => status)).toEqual([200, 200]);
    }
  });

  test("sends the same records with the same sequence from each of them", async () => {
    const clients = await four(key);
    await push();
    await vi.waitFor(() => {
      for (const client of clients) expect(quotesOf(client).filter(({ event }) => event === "update")).toHaveLength(3);
    }, SOON);
    const [first, ...others] = clients.map((client) => quotesOf(client).map(({ text }) => text));
    for (const texts of others) expect(texts).toEqual(first);
    for (const client of clients) client.close();
  });

  test("counts the calls of a key once, whichever worker gets them", async () => {
    const narrow = await keyWith("limited", "--rest-per-minute", "30", "--rest-burst", "16");
    const startedMs = Date.now();
    const answers: number[] = [];
    for (let index = 0; index < 40; index += 1) answers.push((await callAnew(product.baseUrl + QUOTES, narrow.text)).status);
    const passed = answers.filter((status) => status === 200).length;
    const refilled = ((Date.now() - startedMs) / 60_000) * 30;
    expect(passed).toBeLessThanOrEqual(16 + Math.ceil(refilled));
    // What a worker holds for the next requests of the key is a small part of its burst.
    expect(passed).toBeGreaterThanOrEqual(12);
    expect(answers.filter((status) => status === 429)).toHaveLength(40 - passed);
  });

  test.each([
    {
      what: "calls without a key",
      path: "/openapi.json",
      key: undefined,
      address: "198.51.100.7",
      burst: KEYLESS_CLIENT_PER_MINUTE_COUNT / 6 / KEYLESS_WORK_UNITS,
      perMinute: KEYLESS_CLIENT_PER_MINUTE_COUNT / KEYLESS_WORK_UNITS,
      answered: 200,
    },
    {
      what: "wrong keys",
      path: QUOTES,
      key: "sw_test_wrong",
      address: "198.51.100.8",
      burst: AUTH_FAILURES_PER_MINUTE_COUNT,
      perMinute: AUTH_FAILURES_PER_MINUTE_COUNT,
      answered: 401,
    },
  ])("limits $what once for both of them", async ({ path, key: shown, address, burst, perMinute, answered }) => {
    const startedMs = Date.now();
    // As many as the two together would let pass, if each of them counted for itself.
    const statuses: number[] = [];
    while (statuses.length < 2 * burst) statuses.push((await callAnew(product.baseUrl + path, shown, { address })).status);
    const passed = statuses.filter((status) => status === answered).length;
    const refilled = ((Date.now() - startedMs) / 60_000) * perMinute;
    expect(passed).toBeLessThanOrEqual(burst + Math.ceil(refilled));
    expect(passed).toBeGreaterThanOrEqual(burst * LENT_MIN_PART);
    expect(statuses.filter((status) => status === 429)).toHaveLength(statuses.length - passed);
    expect((await callAnew(product.baseUrl + QUOTES, key.text, { address })).status).toBe(200);
    expect((await callAnew(product.baseUrl + path, shown, { address: "203.0.113.1" })).status).toBe(answered);
  });

  test("counts the connections of a key once, and accepts a ticket once, whichever worker gets it", async () => {
    const narrow = await keyWith("connected", "--stream-connections", "3");
    const opened = await Promise.all(
      Array.from({ length: 8 }, () => openSocket(product.baseUrl, { key: narrow.text }).catch((error: unknown) => error)),
    );
    const refused = opened.filter((one) => one instanceof Refused);
    expect(refused.map(({ body }) => body.message)).toEqual(Array(5).fill("too_many_connections"));
    // A ticket is asked for over connections of their own, so by both workers.
    const asked = Array.from({ length: 4 }, () =>
      callAnew(`${product.baseUrl}${MARKET}/stream/tickets`, narrow.text, { method: "POST" }),
    );
    for (const answer of await Promise.all(asked))
      expect([answer.status, JSON.parse(answer.text).message]).toEqual([429, "too_many_connections"]);
    for (const one of opened) if (!(one instanceof Refused)) (one as StreamClient).close();

    const { text } = await callAnew(`${product.baseUrl}${MARKET}/stream/tickets`, key.text, { method: "POST" });
    const { ticket } = (JSON.parse(text) as { data: { ticket: string } }).data;
    const protocols = [STREAM_PROTOCOL, TICKET_PROTOCOL_PREFIX + ticket];
    const tries = await Promise.all(
      Array.from({ length: 6 }, () => openSocket(product.baseUrl, { protocols }).catch((error: unknown) => error)),
    );
    expect(tries.filter((one) => one instanceof Refused && one.body.message === "unauthorized")).toHaveLength(5);
    for (const one of tries) if (!(one instanceof Refused)) (one as StreamClient).close();
  });

  test("keeps the sessions of Socket.IO together: long polling and the switch to WebSocket work over new connections", async () => {
    const names = ["polling", "websocket"];
    for (const transports of [["polling"], names, names, names]) {
      const client = io(`${product.baseUrl}${SOCKET_IO_NAMESPACE}`, { auth: { key: key.text }, transports, forceNew: true });
      const seen: unknown[] = [];
      client.on("quote", (message: { event: string }) => message.event === "update" && seen.push(message));
      const ack = await client.timeout(20_000).emitWithAck("subscribe", { stream: "quote", tickers: ["EURUSD"] });
      expect(ack).toMatchObject({ type: "ack", code: 0 });
      await vi.waitFor(() => expect(client.io.engine.transport.name).toBe(transports.at(-1)), SOON);
      await push();
      await vi.waitFor(() => expect(seen).toHaveLength(3), SOON);
      client.close();
    }
    const unknown = await callAnew(`${product.baseUrl}/socket.io/?EIO=4&transport=polling&sid=7.gone`, key.text);
    expect(unknown).toEqual({ status: 400, text: '{"code":1,"message":"Session ID unknown"}' });
  });

  test("takes pushes from either worker, over REST and over a stream", async () => {
    const ingest = await makeLiveKey(product, "market:ingest,market:stream");
    const reader = await subscribed(key);
    const sources = await Promise.all([1, 2].map(() => openSocket(product.baseUrl, { key: ingest.text })));
    for (const [index, source] of sources.entries()) {
      const ticks = feeder.ticks("EURUSD", [[108_600 + index, 108_610]]);
      expect(await source.ask("ingest", { seq: 1, ticks })).toMatchObject({ type: "ack", data: { accepted: 1 } });
      await reader.next("quote", ({ data }) => data.bid === ticks[0]?.bid);
    }
    for (const client of [reader, ...sources]) client.close();
  });

  test("ends everything a revoked key has at each of them", async () => {
    const gone = await keyWith("revoked");
    const clients = await four(gone);
    expect((await runCommand(product, "keys", ["revoke", gone.id])).exitCode).toBe(0);
    for (const client of clients) expect((await client.closed()).code).toBe(4401);
    const answers = await Promise.all([1, 2, 3, 4].map(() => callAnew(product.baseUrl + QUOTES, gone.text)));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
  });

  test.each([
    ["ends", "SIGKILL"],
    ["hangs", "SIGSTOP"],
  ] as const)(
    "loses only the connections of a worker that %s; their clients resume elsewhere without a gap, and it comes back",
    async (how, signal) => {
      const narrow = await keyWith(how, "--stream-connections", "4");
      const clients = await four(narrow);
      await push();
      await vi.waitFor(() => {
        for (const client of clients) expect(quotesOf(client).length).toBeGreaterThanOrEqual(4);
      }, SOON);
      const [worker, pid] = [...pidsOf(product)][0] as [number, number];
      const has = (await byWorker(product, "spotwire_stream_connections"))[worker - 1];
      process.kill(pid, signal);
      const calls = Array.from({ length: 4 }, () =>
        callAnew(product.baseUrl + QUOTES, key.text).then(
          ({ status }) => status === 200,
          () => false,
        ),
      );
      const lost = await vi.waitFor(async () => {
        const ended = await Promise.all(clients.map((client) => Promise.race([client.closed(), Promise.resolve(undefined)])));
        const found = clients.filter((_, index) => ended[index] !== undefined);
        expect(found).toHaveLength(has ?? 0);
        return found;
      }, REPLACED);
      const kept = clients.filter((client) => !lost.includes(client));
      // A new connection that was on its way to it is lost with it; the others go to its neighbour at once.
      expect((await Promise.all(calls)).filter((answered) => !answered).length).toBeLessThanOrEqual(1);
      await push();

      for (const client of lost) {
        const { epoch, seq } = quotesOf(client).at(-1) as Received<"quote">;
        // Its place is free again.
        const again = await openSocket(product.baseUrl, { key: narrow.text });
        const ack = await again.ask("subscribe", { stream: "quote", tickers: ["EURUSD"], resume: { epoch, seq } });
        expect(ack).toMatchObject({ data: { resumed: ["EURUSD"] } });
        await vi.waitFor(() => expect(quotesOf(again)).toHaveLength(3), SOON);
        expect(quotesOf(again).map(place)).toEqual([1, 2, 3].map((step) => `${epoch} ${seq + step}`));
        again.close();
      }
      for (const client of kept) {
        const seqs = quotesOf(client).map(({ seq }) => seq);
        expect(seqs).toEqual(seqs.map((_, index) => (seqs[0] as number) + index));
        client.close();
      }
      await vi.waitFor(() => expect(pidsOf(product).get(worker)).not.toBe(pid), SOON);
      expect((await checksOf(product)).workers).toBe("ok");
    },
    REPLACED_TEST_MAX_MS,
  );

  test("a restarted worker resumes the clients of the one before it without a gap", async () => {
    const client = await subscribed(key);
    await push();
    await vi.waitFor(() => expect(quotesOf(client).length).toBeGreaterThanOrEqual(4), SOON);
    const before = quotesOf(client).at(-3) as Received<"quote">;
    client.close();
    for (const [worker, pid] of pidsOf(product)) {
      process.kill(pid, "SIGKILL");
      await vi.waitFor(() => expect(pidsOf(product).get(worker)).not.toBe(pid), SOON);
    }
    const again = await openSocket(product.baseUrl, { key: key.text });
    const resume = { epoch: before.epoch, seq: before.seq };
    const ack = await again.ask("subscribe", { stream: "quote", tickers: ["EURUSD"], resume });
    expect(ack).toMatchObject({ data: { resumed: ["EURUSD"] } });
    await vi.waitFor(() => expect(quotesOf(again).map(({ seq }) => seq)).toEqual([before.seq + 1, before.seq + 2]), SOON);
    again.close();
  });

  test("tells the clients of all workers when it stops, and ends with all of its processes", async () => {
    const clients = await four(key);
    const pids = [...pidsOf(product).values()];
    expect(await product.stop()).toBe(0);
    for (const client of clients) {
      expect(client.messages.some(({ type }) => type === "server_shutdown")).toBe(true);
      expect((await client.closed()).code).toBe(1001);
    }
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    await expect(fetch(product.baseUrl + STREAM_PATH)).rejects.toThrow();
  });
});
