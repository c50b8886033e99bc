import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Clock, systemClock } from "#lib/clock";
import type { UpstreamReport } from "#lib/contract/portal-feeds";
import type { Venue } from "#lib/contract/primitives";
import { type Quote, quoteExample } from "#lib/contract/quote";
import type { Listing } from "#lib/domain/instrument";
import { createAlignment } from "#lib/domain/timeframe";
import { createLog } from "#lib/log";
import type { KlineStore } from "#lib/market/ports";
import { createMetrics } from "#lib/metrics";
import { memoryFiles } from "#lib/testing/memory-files";
import { findRedis, type RedisServer, startRedis } from "#lib/testing/redis-server";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { MINUTE_MS } from "#lib/units";
import { createAppender } from "#server/event-log/redis-appender";
import { createRedisLog } from "#server/event-log/redis-log";
import type { MarketEvent } from "#server/events/event";
import type { MarketFeed } from "#server/feed/feed";
import { makeBlocksHere } from "#server/feed/sandbox/block-maker";
import { createBlockStore } from "#server/feed/sandbox/block-store";
import { sandboxFeed } from "#server/feed/sandbox/feed";
import { createSandboxKlines } from "#server/feed/sandbox/klines";
import { createSandboxPrices } from "#server/feed/sandbox/prices";
import { severalFeed } from "#server/feed/several";
import type { Provider } from "#server/feed/upstream/provider";
import { type RunningMarket, startMarket } from "#server/market/market";
import { openRedis, type Redis } from "#server/store/database/redis";
import { createKlineStore } from "#server/store/klines/kline-store";
import { createMinuteMender } from "#server/store/klines/mended-minutes";
import { createCatalogue } from "#server/store/market/catalogue";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { eventOf } from "#server/testing/events";
import { leaderOf } from "#server/testing/log-scene";
import { testKline } from "#server/testing/market";
import { leadWithLease, NEVER_LEAD_NODES } from "./leased";

const program = findRedis();
const WAIT = { interval: 10 };
const log = createLog("silent");

interface Node {
  readonly market: RunningMarket;
  readonly redis: Redis;
  readonly events: MarketEvent[];
  tick(ticker: string, bid: number): Promise<void>;
  close(): Promise<void>;
}

describe.skipIf(program === undefined)("a venue that several nodes share", () => {
  let server: RedisServer;
  let db: TestDatabase;
  const open: Node[] = [];
  let prefix = 0;
  /** How far the clock of the nodes is ahead of the machine's. */
  let aheadMs = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + aheadMs };

  beforeAll(async () => {
    server = await startRedis(program ?? "");
  });
  afterAll(async () => {
    await server?.stop();
  });

  type Source = { venue: Venue; feed: MarketFeed; store: KlineStore };
  async function start(produces: boolean, name: string, source?: Source): Promise<Node> {
    const venue = source?.venue ?? "live";
    const redis = openRedis({ url: server.url, prefix: `test${prefix}`, log });
    const table = createKlineStore(db);
    const address = `http://${name}`;
    const inCluster = { venue, redis, pool: db.pool, address, clock, log };
    const market = await startMarket({
      venue,
      catalogue: await createCatalogue(db, venue),
      events: createRedisLog(inCluster),
      leadership: produces ? leadWithLease(inCluster) : NEVER_LEAD_NODES,
      ...(source ?? {
        store: table,
        writer: table,
        mender: createMinuteMender({ db, clock, record: async () => undefined }),
      }),
      announceHistoryChange: () => undefined,
      files: memoryFiles(),
      leaderAt: (_venue, at) => ({
        pushMaxTicks: 1,
        push: () => Promise.reject(new Error(`ticks to ${at()}`)),
        takeTicks: () => Promise.reject(new Error(`to ${at()}`)),
        takeKlines: () => Promise.reject(new Error(`klines to ${at()}`)),
      }),
      address,
      acceptsPush: true,
      provider: "push",
      namesProviders: true,
      clock,
      log,
      metrics: createMetrics(),
      sourceOf: () => name,
    });
    const events: MarketEvent[] = [];
    market.follow((batch) => events.push(...batch));
    const node: Node = {
      market,
      redis,
      events,
      async tick(ticker, bid) {
        const judged = await market.leader.push([{ ticker, time_msc: clock.now(), bid, ask: bid + 0.0001 }]);
        expect(judged).toEqual([null]);
      },
      async close() {
        await market.stop();
        redis.close();
      },
    };
    open.push(node);
    return node;
  }

  async function scene(work: () => Promise<void>): Promise<void> {
    prefix += 1;
    aheadMs = 0;
    db = await testDatabase();
    try {
      await work();
    } finally {
      for (const node of open.splice(0)) await node.close();
      await db.close();
    }
  }
  const quoteOf = (node: Node, ticker = "EURUSD") => node.market.view.quote(ticker)?.bid;
  const until = (condition: () => boolean) => vi.waitUntil(condition, WAIT);
  const sequences = (events: readonly MarketEvent[], topic: string) =>
    events.filter((e) => e.topic === topic).map(({ seq }) => seq);

  test("of several providers one speaks, at the lease holder alone, and every node says which", () =>
    scene(async () => {
      const running: string[] = [];
      const catalogue = await createCatalogue(db, "live");
      const bySymbol = new Map([["EURUSD", catalogue.find("EURUSD") as Listing]]);
      const providerAt = (node: string, name: string, bid: number): Provider => ({
        name,
        hasHistory: false,
        lost: () => undefined,
        offers: () => true,
        report: () => ({}) as UpstreamReport,
        open: ({ follower }) => ({
          repair: undefined,
          async *feed(signal) {
            running.push(`${node} ${name}`);
            follower?.live({ bySymbol });
            try {
              while (!signal.aborted) {
                await clock.wait(20, signal);
                yield [{ ticker: "EURUSD", time_msc: clock.now(), bid, ask: bid + 0.0001 }];
              }
            } finally {
              running.splice(running.indexOf(`${node} ${name}`), 1);
            }
          },
        }),
      });
      async function startNode(node: string): Promise<Node> {
        const members = [providerAt(node, "oanda", 1.1), providerAt(node, "tiingo", 1.2)];
        const record = async () => undefined;
        const feed = severalFeed({ members, catalogue, clock, log, metrics: createMetrics(), record, pin: async () => null });
        return start(true, node, { venue: "live", feed, store: createKlineStore(db) });
      }
      const [first, second] = [await startNode("first"), await startNode("second")];
      await until(() => quoteOf(first) === 1.1 && quoteOf(second) === 1.1);
      await until(() => [first, second].every(({ market }) => market.providerOf?.("EURUSD") === "oanda"));
      expect(running).toEqual(["first oanda", "first tiingo"]);
      expect(second.market.providerOf("GBPUSD")).toBeNull();
      await first.market.handOver();
      await until(() => running.join() === "second oanda,second tiingo");
      await until(() => [first, second].every(({ market }) => market.providerOf?.("EURUSD") === "oanda"));
      const bids = new Set(second.events.flatMap((event) => (event.type === "quote" ? [event.record.bid] : [])));
      expect([...bids]).toEqual([1.1]);
    }));

  test("a paused holder that mends minutes stores nothing once another node has taken the lease", () =>
    scene(async () => {
      const paused = await start(true, "paused");
      await until(() => paused.market.leading() !== null);
      const leading = paused.market.leading();
      const minute = testKline("EURUSD", "M1", Math.floor(clock.now() / MINUTE_MS) * 60 - 600);
      const push = { replace: "gaps", tickers: [], keyId: "key", label: "sw_live_a…b" } as const;
      const bodyOf = ({ type: _type, timeframe: _timeframe, ...kline }: typeof minute) =>
        new Blob([`${JSON.stringify(kline)}\n`]).stream();
      expect(await leading?.takeKlines(bodyOf(minute), push)).toMatchObject({ accepted: 1, rejected: 0 });
      // What another node does while this one is paused.
      await db.pool.query("UPDATE venue_lease SET token = token + 1, beat = beat + 1, holder = 'http://other'");
      const later = { ...minute, time: minute.time + 60 };
      await expect(leading?.takeKlines(bodyOf(later), push)).rejects.toMatchObject({ id: "service_unavailable" });
      const { rows } = await db.pool.query("SELECT first::float8 AS first, rows FROM history_visible");
      expect(rows).toEqual([{ first: minute.time, rows: 1 }]);
      expect(paused.market.leading()).not.toBe(leading);
    }));

  test("a shared venue delivers each event to every node once, in order, and a node that starts later has the same state", () =>
    scene(async () => {
      const edge = await start(false, "edge");
      expect(edge.market.feedProblem()).toContain("no events from an ingest node");
      const ingest = await start(true, "ingest");
      await until(() => ingest.market.leading() !== null);
      for (let index = 1; index <= 50; index += 1) await ingest.tick("EURUSD", 1.1 + index / 10_000);
      await until(() => quoteOf(edge) === 1.105);
      expect(edge.market.feedProblem()).toBeNull();
      expect(edge.market.leading()).toBeNull();
      await expect(edge.market.leader.takeTicks(null, [])).rejects.toThrow("to http://ingest");
      const push = { replace: "gaps", tickers: [], keyId: "", label: "" } as const;
      await expect(edge.market.leader.takeKlines(null, push)).rejects.toThrow("klines to http://ingest");
      const topic = "quote:EURUSD";
      expect(sequences(edge.events, topic)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
      expect(edge.events.filter((event) => event.topic === topic)).toEqual(
        ingest.events.filter((event) => event.topic === topic),
      );

      const late = await start(false, "late");
      for (const ticker of ["EURUSD"]) {
        expect(late.market.view.quote(ticker)).toEqual(edge.market.view.quote(ticker));
        expect(late.market.view.snapshot(ticker)).toEqual(edge.market.view.snapshot(ticker));
        for (const timeframe of ["M1", "H1", "D1", "MN1"] as const)
          expect(late.market.view.recentKlines(ticker, timeframe).at(-1)).toEqual(
            edge.market.view.recentKlines(ticker, timeframe).at(-1),
          );
      }
      expect(late.market.epoch).toBe(edge.market.epoch);
      expect(late.market.recent.since(topic, edge.market.epoch, 45)?.map(({ seq }) => seq)).toEqual([46, 47, 48, 49, 50]);
    }));

  test("a shared venue continues under another holder within a second of a release, from the last tick, in a new epoch", () =>
    scene(async () => {
      const first = await start(true, "first");
      await until(() => first.market.leading() !== null);
      const second = await start(true, "second");
      const edge = await start(false, "edge");
      await first.tick("EURUSD", 1.2);
      await until(() => quoteOf(edge) === 1.2 && quoteOf(second) === 1.2);
      const { epoch } = edge.market;
      expect(second.market.leading()).toBeNull();
      const volume = edge.market.view.recentKlines("EURUSD", "D1").at(-1)?.tick_volume ?? 0;

      const leftMs = performance.now();
      await first.market.handOver();
      await until(() => second.market.leading() !== null);
      process.stdout.write(`taken over after a clean stop in ${Math.round(performance.now() - leftMs)} ms\n`);
      await second.tick("EURUSD", 1.3);
      await until(() => quoteOf(edge) === 1.3);
      expect(edge.market.epoch).not.toBe(epoch);
      expect(edge.market.view.recentKlines("EURUSD", "D1").at(-1)?.tick_volume).toBe(volume + 1);
      const begun = edge.events.filter((event) => event.epoch === edge.market.epoch && event.topic === "quote:EURUSD");
      expect(begun.map(({ seq, restored }) => [seq, restored ?? false])).toEqual([
        [1, true],
        [2, false],
      ]);
    }));

  test("only the node that holds the lease keeps ticks, each once", () =>
    scene(async () => {
      const first = await start(true, "keeper-1");
      await until(() => first.market.leading() !== null);
      const second = await start(true, "keeper-2");
      await start(false, "keeper-3");
      await first.tick("EURUSD", 1.2);
      await first.market.handOver();
      await until(() => second.market.leading() !== null);
      await second.tick("XAUUSD", 4_000);
      await second.market.handOver();
      const { rows } = await db.pool.query("SELECT ticker, source, length(ticks) AS bytes FROM tick_tail ORDER BY id");
      expect(rows).toEqual([
        { ticker: "EURUSD", source: "keeper-1", bytes: 40 },
        { ticker: "XAUUSD", source: "keeper-2", bytes: 40 },
      ]);
    }));

  test("a feed with history fills the time between two holders: no tick is missing or duplicated", () =>
    scene(async () => {
      const catalogue = createSandboxCatalogue();
      const prices = createSandboxPrices({ catalogue, seed: 1 });
      const startMs = Math.floor(systemClock.now() / MINUTE_MS) * MINUTE_MS;
      const feed: MarketFeed = {
        name: "sandbox",
        keepsTime: true,
        startMs: startMs - 1,
        open: ({ fromMs = startMs, skipped }) => sandboxFeed({ prices, clock: systemClock, startMs: fromMs, onSkip: skipped }),
      };
      const store = createSandboxKlines({
        prices,
        clock: systemClock,
        alignment: createAlignment(),
        blocks: createBlockStore(makeBlocksHere()),
      });
      const first = await start(true, "first", { venue: "sandbox", feed, store });
      const edge = await start(false, "edge", { venue: "sandbox", feed, store });
      await until(() => edge.events.length > 0);
      const second = await start(true, "second", { venue: "sandbox", feed, store });
      const { epoch } = edge.market;
      const fromMs = Math.max(...edge.events.map(({ record }) => ("time_msc" in record ? record.time_msc : 0))) + 1;
      // Cut off in the middle: nothing is given back, and the next holder has to find out.
      await first.market.stop();
      await db.pool.query("UPDATE venue_lease SET holder = 'first' WHERE venue = 'sandbox' AND holder IS NULL");
      await until(() => edge.market.epoch !== epoch);
      const takenOverMs = systemClock.now();
      const newestMs = () => Math.max(...edge.events.map(({ record }) => ("time_msc" in record ? record.time_msc : 0)));
      await until(() => newestMs() > takenOverMs + 1_000);
      const toMs = takenOverMs + 500;
      const seen = edge.events.filter(({ type, restored }) => type === "quote" && !restored).map(({ record }) => record as Quote);
      let compared = 0;
      for (const ticker of ["EURUSD", "XAUUSD", "GBPJPY"]) {
        const minutes = [startMs, startMs + MINUTE_MS].map((ms) => ms / MINUTE_MS);
        const given = minutes.flatMap((minute) => prices.series(ticker)?.ticks(minute) ?? []).map(({ time_msc }) => time_msc);
        const within = (times: readonly number[]) => times.filter((time) => time >= fromMs && time < toMs);
        const times = within(seen.filter((quote) => quote.ticker === ticker).map(({ time_msc }) => time_msc));
        expect(times).toEqual(within(given));
        compared += times.length;
      }
      expect(compared).toBeGreaterThan(0);
      expect(second.market.feedProblem()).toBeNull();
    }));

  test("a kline that was due to close while nobody held the lease is closed by the next holder", () =>
    scene(async () => {
      // Half past a minute, by a clock that is behind.
      aheadMs = -((systemClock.now() + 30_000) % 60_000);
      const edge = await start(false, "edge");
      const first = await start(true, "first");
      await until(() => first.market.leading() !== null);
      await first.tick("EURUSD", 1.2);
      await until(() => quoteOf(edge) === 1.2);
      const [open] = edge.market.view.recentKlines("EURUSD", "M1").slice(-1);
      await first.market.stop();
      const { epoch } = edge.market;
      aheadMs += 45_000;
      await start(true, "second");
      const closed = () =>
        edge.events.filter(({ topic, ...event }) => topic === "kline:EURUSD:M1" && "closed" in event && event.closed);
      await until(() => closed().length > 0);
      expect(edge.market.epoch).not.toBe(epoch);
      expect(closed()).toMatchObject([{ record: open, epoch: edge.market.epoch, seq: 2 }]);
    }));

  test("a former holder that was paused for long writes neither to the store nor to the other nodes", () =>
    scene(async () => {
      const first = await start(true, "first");
      await until(() => first.market.leading() !== null);
      const second = await start(true, "second");
      await first.tick("EURUSD", 1.2);
      // As after a pause: another has taken the lease, and this one does not know yet.
      await db.pool.query("UPDATE venue_lease SET token = token + 1, beat = beat + 1, holder = NULL");
      await until(() => second.market.leading() !== null);
      await second.tick("EURUSD", 1.4);
      await until(() => first.market.leading() === null);
      await until(() => quoteOf(first) === 1.4);
      const table = createKlineStore(db);
      expect(await table.beginWriter(1, 0)).toBeNull();
      const fenced = new Promise<void>((resolve) => {
        const leading = leaderOf({ token: 1, epoch: "late", onFenced: resolve });
        const late = createAppender({ redis: first.redis, venue: "live", leading, clock: systemClock, log });
        late.append([{ ...eventOf({ ...quoteExample, bid: 9 }), epoch: "late" }], 0);
        late.begin();
      });
      await fenced;
      expect(quoteOf(second)).toBe(1.4);
      expect(second.events.some(({ epoch }) => epoch === "late")).toBe(false);
    }));

  test("a lease holder on a database restored to an earlier state still reaches the other nodes", () =>
    scene(async () => {
      const first = await start(true, "first");
      await until(() => first.market.leading() !== null);
      await first.tick("EURUSD", 1.2);
      await first.market.stop();
      await db.pool.query("UPDATE venue_lease SET token = 0");
      const edge = await start(false, "edge");
      const second = await start(true, "second");
      await until(() => second.market.leading() !== null && second.market.epoch !== first.market.epoch);
      await second.tick("EURUSD", 1.3);
      await until(() => quoteOf(edge) === 1.3);
    }));

  test("after Redis comes back empty it is filled again, and nodes continue without gaps or duplicates", () =>
    scene(async () => {
      const ingest = await start(true, "ingest");
      const edge = await start(false, "edge");
      await until(() => ingest.market.leading() !== null);
      await ingest.tick("EURUSD", 1.2);
      await until(() => quoteOf(edge) === 1.2);
      await server.kill();
      await until(() => (edge.market.feedProblem() ?? "").includes("cannot be read from Redis"));
      for (let index = 1; index <= 20; index += 1) await ingest.tick("EURUSD", 1.2 + index / 1_000);
      expect(quoteOf(edge)).toBe(1.2);
      await server.start();
      await until(() => quoteOf(edge) === 1.22);
      expect(sequences(edge.events, "quote:EURUSD")).toEqual(Array.from({ length: 21 }, (_, index) => index + 1));
      await until(() => edge.market.feedProblem() === null);
      const late = await start(false, "late");
      expect(quoteOf(late)).toBe(1.22);
    }));

  test("while Redis is away a holder accepts no tick that the next holder would not know", () =>
    scene(async () => {
      const first = await start(true, "first");
      await until(() => first.market.leading() !== null);
      await server.kill();
      await until(() => !first.redis.connected());
      try {
        await first.tick("EURUSD", 1.2);
        const stored = await db.pool.query("SELECT close FROM kline_tail WHERE ticker = 'EURUSD'");
        expect(stored.rows).toEqual([{ close: 1.2 }]);
        // Another node takes the lease, and this one does not know it yet.
        await db.pool.query("UPDATE venue_lease SET token = token + 1, beat = beat + 1, holder = 'http://second'");
        await expect(first.tick("EURUSD", 1.3)).rejects.toMatchObject({ id: "service_unavailable" });
      } finally {
        await server.start();
      }
    }));
});
