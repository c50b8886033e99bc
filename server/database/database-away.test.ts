import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import pg from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { mintKey } from "#lib/access/key-format";
import { systemClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { operations } from "#lib/operations/declarations";
import { proxyTo } from "#lib/testing/breakable-proxy";
import { putAccount } from "#server/store/access/accounts";
import { createKey } from "#server/store/access/keys";
import { openDatabase } from "#server/store/database/db";
import { stranger } from "../../e2e/client";
import { createFeeder } from "../../e2e/feeder";
import { SERVER_TIMEOUT_MS, startProduct } from "../../e2e/server";
import { openSocket } from "../../e2e/socket";
import { startEmbeddedPostgres } from "./embedded/embedded-postgres";

const TICKER = "EURUSD";
const KLINES = `${operations.klines.path}?ticker=${TICKER}&timeframe=M1`;
/** Functions that need the database and report when it is unavailable. */
const UNAVAILABLE = { status: 503, message: "service_unavailable", code: 50302 };
/** A look-up waits 2 seconds. Without that, it would wait for minutes; this is in between, on a busy machine, too. */
const ANSWER_MAX_MS = 20_000;
/** Longest time until full recovery, or until the outage is detected. */
const NOTICED = { interval: 100 };
/** A silent connection is closed after ten seconds. */
const SILENT = { interval: 100 };
const log = createLog("silent");

/** The request of the portal for a password reset. */
const portalPost = (origin: string) => ({
  method: "POST",
  key: null,
  headers: { origin, "content-type": "application/json" },
  body: JSON.stringify({ email: "ada@example.com" }),
});

/** Creates a key of the live venue with all scopes, and returns its text. */
async function makeKey(url: string): Promise<string> {
  const db = await openDatabase({ url, poolSize: 2, waitS: 0, clock: systemClock, log });
  const context = { db, clock: systemClock };
  const account = await putAccount(context, "reader", { plan: "pro" });
  const scopes = ["market:read", "market:stream", "market:ingest"];
  const settings = { accountId: account.id, name: "k", venue: "live", scopes, origins: [], expiresAt: null };
  const { text } = await createKey(context, settings);
  await db.close();
  return text;
}

/** The service on a separate PostgreSQL that can be stopped and started; everything ends with the test. */
async function openScene() {
  const folder = await mkdtemp(path.join(tmpdir(), "spotwire away "));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  const start = () => startEmbeddedPostgres({ dataDir: path.join(folder, "postgres"), log });
  let postgres = await start();
  onTestFinished(() => postgres.stop());
  const door = await proxyTo(postgres.url);
  await door.open();
  const secret = "a secret that is known to this test alone";
  const product = await startProduct({ DATABASE_URL: door.url, NEXTAUTH_SECRET: secret, LIVE_FEED: "push" });
  onTestFinished(() => product.dispose());
  const key = await makeKey(postgres.url);
  const caller = stranger(product.baseUrl, "198.51.100.250", key);
  const feeder = createFeeder(caller);
  const slowest = { path: "", ms: 0 };
  let bid = 108_000;
  let quotesAsked = 0;

  async function call(target: string, options?: Parameters<typeof caller.call>[1]) {
    const begun = performance.now();
    const answer = await caller.call(target, options);
    const ms = performance.now() - begun;
    if (ms > slowest.ms) Object.assign(slowest, { path: target, ms });
    return answer;
  }
  return {
    product,
    key,
    door,
    slowest,
    call,
    stopDatabase: () => postgres.stop(),
    async startDatabase() {
      postgres = await start();
      door.leadTo(postgres.url);
    },
    /** The current rows of a statement. */
    async query(statement: string): Promise<unknown[]> {
      const client = new pg.Client({ connectionString: postgres.url });
      await client.connect();
      const { rows } = await client.query(statement);
      await client.end();
      return rows;
    },
    /** Pushes a tick and returns its bid, which is higher than the one before. */
    async push(): Promise<number> {
      bid += 1;
      await feeder.push(feeder.ticks(TICKER, [[bid, bid + 8]]));
      return bid / 1e5;
    },
    async quote(): Promise<number | undefined> {
      quotesAsked += 1;
      const { data } = await call(`${operations.latestQuotes.path}?tickers=${TICKER}`);
      return (data.items as { bid: number }[])[0]?.bid;
    },
    quotesAsked: () => quotesAsked,
    /** The close of the newest of `count` klines. */
    async close(limit: number): Promise<number | undefined> {
      return ((await call(`${KLINES}&limit=${limit}`)).data.items as { close: number }[]).at(-1)?.close;
    },
    async ready() {
      const response = await fetch(`${product.baseUrl}/api/ready`);
      const { checks } = (await response.json()) as { checks: Record<string, string> };
      return { status: response.status, store: checks.store };
    },
    async openStream() {
      const stream = await openSocket(product.baseUrl, { key });
      expect(await stream.ask("subscribe", { stream: "quote", tickers: [TICKER] })).toMatchObject({ type: "ack" });
      return stream;
    },
  };
}

type Scene = Awaited<ReturnType<typeof openScene>>;
type Stream = Awaited<ReturnType<Scene["openStream"]>>;

/** Expects a tick to appear in every interface with quotes. */
async function expectLive({ push, quote }: Scene, stream: Stream): Promise<void> {
  const pushed = await push();
  expect(await quote()).toBe(pushed);
  await stream.next("quote", ({ data }) => data.bid === pushed);
}

/** Expects functions without the database to work, and the others to report that it is unavailable. */
async function expectServed({ call, close, quote, product }: Scene): Promise<void> {
  for (const target of [
    `${operations.latestSnapshots.path}?tickers=${TICKER}`,
    `${operations.marketStatus.path}?tickers=${TICKER}`,
    operations.instruments.path,
  ])
    expect((await call(target)).status, target).toBe(200);
  for (const page of ["/", "/status", "/status.json", "/docs", "/signin", "/api/health", "/metrics"])
    expect((await fetch(product.baseUrl + page)).status, page).toBe(200);
  expect(await close(1)).toBe(await quote());
  const unread = await call(`${KLINES}&limit=400`);
  expect(unread).toMatchObject(UNAVAILABLE);
  expect(unread.headers.get("retry-after")).toBe("1");
  expect(await call(operations.instruments.path, { key: mintKey("live") })).toMatchObject(UNAVAILABLE);
  expect(await call("/api/portal/forgot", portalPost(product.baseUrl))).toMatchObject(UNAVAILABLE);
}

/** Expects full recovery without loss of data from the outage. */
async function expectWhole({ ready, call, close, query, quotesAsked }: Scene, newest: number, bound = NOTICED): Promise<void> {
  await vi.waitFor(async () => expect(await ready()).toEqual({ status: 200, store: "ok" }), NOTICED);
  const stranger = { key: mintKey("live") };
  await vi.waitFor(async () => expect((await call(operations.instruments.path, stranger)).status).toBe(401), NOTICED);
  expect(await close(400)).toBe(newest);
  await vi.waitFor(async () => {
    expect(await query("SELECT close FROM kline_tail ORDER BY time DESC LIMIT 1")).toEqual([{ close: newest }]);
    const counted = "SELECT sum(calls)::int AS calls FROM usage_bucket WHERE grain = 'day' AND operation = 'latestQuotes'";
    expect(await query(counted)).toEqual([{ calls: quotesAsked() }]);
  }, bound);
}

test(
  "the service runs without PostgreSQL, stopped or silent, reports what it cannot do, and recovers when PostgreSQL is back",
  async () => {
    const scene = await openScene();
    const { push, quote, ready, slowest, door, product } = scene;
    await push();
    const stream = await scene.openStream();
    await expectLive(scene, stream);

    await scene.stopDatabase();
    const away = { status: 200, store: "the database does not answer" };
    await vi.waitFor(async () => expect(await ready()).toEqual(away), NOTICED);
    slowest.ms = 0;
    await expectLive(scene, stream);
    await expectServed(scene);
    await expectLive(scene, await scene.openStream());
    expect(slowest.ms, slowest.path).toBeLessThan(ANSWER_MAX_MS);

    const last = await push();
    await scene.startDatabase();
    await expectWhole(scene, last);
    await expectLive(scene, stream);

    // Now the network stalls: connections are neither refused nor answered. All connections are open again by then.
    // It may be lost and back twice while the database starts; the last word counts.
    const channelSays = () =>
      product
        .output()
        .match(/control channel (lost|is back)/g)
        ?.at(-1);
    await vi.waitFor(() => expect(channelSays()).toBe("control channel is back"), NOTICED);
    const before = product.output().length;
    door.silence();
    await vi.waitFor(() => expect(product.output().slice(before)).toContain("control channel lost"), NOTICED);
    slowest.ms = 0;
    for (let round = 0; round < 3; round += 1) await expectLive(scene, stream);
    expect(slowest.ms, slowest.path).toBeLessThan(ANSWER_MAX_MS);
    await vi.waitFor(async () => expect(await ready()).toEqual({ status: 200, store: "ok" }), SILENT);
    // Writes in progress fail after the query timeout, and are repeated.
    await expectWhole(scene, (await quote()) ?? 0, SILENT);
    expect(stream.messages.filter(({ type }) => type === "error")).toEqual([]);
  },
  3 * SERVER_TIMEOUT_MS,
);
