import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type ManualClock, manualClock } from "#lib/clock";
import type { PrecedenceChange } from "#lib/contract/portal-feeds";
import type { MarketStatus } from "#lib/contract/status";
import type { Env } from "#lib/env";
import type { Catalogue } from "#lib/market/ports";
import { statusAt } from "#lib/market/status";
import { createMetrics, type Metrics } from "#lib/metrics";
import { collectingLog } from "#lib/testing/collecting-log";
import { memoryFiles } from "#lib/testing/memory-files";
import { MINUTE_S, SECOND_MS } from "#lib/units";
import { type RunningMarket, startMarket } from "#server/market/market";
import { type TailChunk, tailTicks } from "#server/store/history/tick-tail";
import { createKlineStore, type KlineTable } from "#server/store/klines/kline-store";
import { createMinuteMender } from "#server/store/klines/mended-minutes";
import { watchedMinutes } from "#server/store/klines/watched-minutes";
import { createCatalogue } from "#server/store/market/catalogue";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { type FarSide, lineFarSide, type Peer, socketFarSide } from "#server/testing/far-side";
import { Upset } from "./feed";
import { severalFeed } from "./several";
import { oandaUpstream } from "./upstream/oanda";
import type { Upstream } from "./upstream/port";
import { createProvider, type Provider } from "./upstream/provider";
import { socketUpstream } from "./upstream/websocket-json";
import { tiingo } from "./upstream/websocket-json/vendors";

/** A Wednesday noon, UTC: every market is open. */
const START_MS = Date.UTC(2026, 0, 7, 12);
const WAIT = { interval: 5 };
const OANDA = [1.1, 1.1001] as const;
const TIINGO = [1.1002, 1.1003] as const;
type Prices = readonly [bid: number, ask: number];

const isoOf = (ms: number) => new Date(ms).toISOString();
const oandaPrice = (timeMs: number, [bid, ask]: Prices) =>
  JSON.stringify({
    type: "PRICE",
    time: isoOf(timeMs),
    instrument: "EUR_USD",
    tradeable: true,
    bids: [{ price: `${bid}` }],
    asks: [{ price: `${ask}` }],
  });
const tiingoPrice = (timeMs: number, [bid, ask]: Prices) =>
  JSON.stringify({ messageType: "A", service: "fx", data: ["Q", "eurusd", isoOf(timeMs), 1e6, bid, 1, 1e6, ask] });
const HEARTBEAT = JSON.stringify({ type: "HEARTBEAT", time: isoOf(START_MS) });

/** The candles of a request, each with the open time's minute in its price. */
function candles(query: URLSearchParams) {
  const from = Date.parse(query.get("from") ?? "") / 1000;
  const side = (price: number) => ({ o: `${price}`, h: `${price + 0.01}`, l: `${price - 0.01}`, c: `${price}` });
  const made = Array.from({ length: Number(query.get("count")) }, (_, index) => ({
    time: isoOf((from + index * MINUTE_S) * 1000),
    complete: true,
    volume: 7,
    bid: side(2),
    ask: side(2.001),
  }));
  return { candles: made };
}

let db: TestDatabase;
let store: KlineTable;
let catalogue: Catalogue;
beforeAll(async () => {
  db = await testDatabase();
  store = createKlineStore(db);
  const all = await createCatalogue(db, "live");
  const few = all.list().filter(({ ticker }) => ticker === "EURUSD" || ticker === "GBPUSD");
  catalogue = { ...all, list: () => few, find: (ticker) => few.find((one) => one.ticker === ticker) };
});
afterAll(() => db?.close());

/** Says something; what it returns is true once that has arrived. */
type Saying = (heard: (name: string) => number) => () => boolean;

/** A far side with the peers that it has now. */
interface Side {
  readonly name: string;
  readonly far: FarSide;
  readonly peers: Set<Peer>;
}

function sideOf(name: string, far: FarSide): Side {
  const peers = new Set<Peer>();
  far.script((peer) => peers.add(peer));
  onTestFinished(far.close);
  return { name, far, peers };
}

const oandaSide = async () =>
  sideOf(
    "oanda",
    await lineFarSide({ "/instruments": { instruments: [{ name: "EUR_USD", displayPrecision: 5 }] }, "/candles": candles }),
  );
const tiingoSide = async () =>
  sideOf(
    "tiingo",
    await socketFarSide((send, heard, ready) =>
      heard(() => {
        send('{"messageType":"I","response":{"code":200,"message":"Success"},"data":{"subscriptionId":1}}');
        ready();
      }),
    ),
  );

interface Scene {
  readonly clock: ManualClock;
  readonly market: RunningMarket;
  readonly metrics: Metrics;
  readonly recorded: PrecedenceChange[];
  readonly lines: Record<string, unknown>[];
  /** Who sent the ticks that are stored, and their outcomes. */
  kept(): Promise<string[]>;
  /** What an operator prefers. */
  readonly pin: { name: string | null };
  status(ticker?: string): MarketStatus;
  /** Lets time pass while these say their prices, which arrive in the same second; by default each second. */
  pass(seconds: number, saying: readonly Saying[], everyS?: number): Promise<void>;
}

/** A venue with real storage whose providers are these, with a repair of no days before the start. */
async function startScene(
  makers: readonly ((options: Omit<Parameters<typeof createProvider>[0], "upstream">) => Provider | null)[],
): Promise<Scene> {
  for (const table of [
    "kline_tail",
    "history_layer",
    "history_visible",
    "backfill",
    "watched_minutes",
    "last_quote",
    "tick_tail",
  ])
    await db.pool.query(`DELETE FROM ${table}`);
  const clock = manualClock(START_MS);
  const heard = new Map<string, number>();
  const counted = createMetrics();
  const metrics: Metrics = {
    ...counted,
    upstreamMessages(name, outcome, count) {
      counted.upstreamMessages(name, outcome, count);
      heard.set(name, (heard.get(name) ?? 0) + count);
    },
  };
  const lines: Record<string, unknown>[] = [];
  const recorded: PrecedenceChange[] = [];
  const log = collectingLog(lines, "info");
  const env: Pick<Env, "FEED_SYMBOLS" | "FEED_TICKERS" | "FEED_REPAIR_DAYS"> = {
    FEED_SYMBOLS: [],
    FEED_TICKERS: [],
    FEED_REPAIR_DAYS: 1,
  };
  const members = makers.map((make) => make({ catalogue, env, db, clock, log, metrics }));
  const pin = { name: null as string | null };
  const record = async (change: PrecedenceChange) => void recorded.push(change);
  const feed = severalFeed({ members, catalogue, clock, log, metrics, record, pin: async () => pin.name });
  const market = await startMarket({
    files: memoryFiles(),
    venue: "live",
    catalogue,
    store,
    writer: store,
    feed,
    clock,
    log,
    metrics,
    mender: createMinuteMender({ db, clock, record: async () => undefined }),
    sourceOf: (ticker) => feed.choice?.providerOf(ticker) ?? "none",
    acceptsPush: members.includes(null),
    provider: feed.name,
    namesProviders: true,
  });
  onTestFinished(market.stop);
  const listing = (ticker: string) => catalogue.find(ticker) ?? expect.fail(ticker);
  return {
    clock,
    market,
    metrics,
    recorded,
    lines,
    pin,
    async kept() {
      const { rows } = await db.pool.query<TailChunk>("SELECT source, ticks, outcomes FROM tick_tail ORDER BY id");
      const { source, outcome } = tailTicks(rows);
      return source.map((name, row) => `${name} ${outcome[row]}`);
    },
    status: (ticker = "EURUSD") => statusAt({ market, nowMs: clock.now() }, listing(ticker)),
    async pass(seconds, saying, everyS = 1) {
      for (let second = 0; second < seconds; second += everyS) {
        for (const arrived of saying.map((say) => say((name) => heard.get(name) ?? 0)))
          await vi.waitUntil(arrived, { ...WAIT, interval: 1 });
        await clock.advance(everyS * SECOND_MS);
      }
    },
  };
}

const withOanda =
  ({ far }: Side) =>
  (options: Omit<Parameters<typeof createProvider>[0], "upstream">) =>
    createProvider({ ...options, upstream: oandaUpstream({ token: "t", account: "1", environment: "practice", url: far.url }) });
const withTiingo =
  ({ far }: Side) =>
  (options: Omit<Parameters<typeof createProvider>[0], "upstream">) =>
    createProvider({ ...options, upstream: socketUpstream(tiingo, { key: "k", url: far.url }) });
function says({ name, peers }: Side, message: () => string): Saying {
  return (heard) => {
    const before = heard(name);
    for (const peer of peers) peer.send(message());
    return () => heard(name) === before + peers.size;
  };
}

describe("two providers of different wires", () => {
  async function both() {
    const [first, second] = [await oandaSide(), await tiingoSide()];
    const scene = await startScene([withOanda(first), withTiingo(second)]);
    const { clock, market } = scene;
    await vi.waitUntil(() => first.peers.size === 1 && second.peers.size === 1, WAIT);
    const oanda = says(first, () => oandaPrice(clock.now(), OANDA));
    const vendor = says(second, () => tiingoPrice(clock.now(), TIINGO));
    const bid = () => market.view.quote("EURUSD")?.bid;
    const speaks = () => scene.status().provider_source;
    async function kill() {
      first.far.refuse({ status: 503 });
      for (const peer of first.peers) peer.end();
      await vi.waitUntil(() => first.far.open() === 0, WAIT);
      first.peers.clear();
    }
    return { ...scene, first, second, oanda, vendor, bid, speaks, kill };
  }

  test("prices go on from the second ten seconds after the first is lost, the status says so, and the first is back after five minutes", async () => {
    const { clock, pass, oanda, vendor, bid, speaks, kill, first, recorded, market, metrics, kept } = await both();
    await pass(70, [oanda, vendor], 5);
    expect([bid(), speaks()]).toEqual([OANDA[0], "oanda"]);
    expect(new Set(await kept())).toEqual(new Set(["oanda taken", "tiingo standby"]));

    await kill();
    const lostMs = clock.now();
    await pass(8, [vendor]);
    expect([bid(), speaks()]).toEqual([OANDA[0], "oanda"]);
    await pass(4, [vendor]);
    expect([bid(), speaks()]).toEqual([TIINGO[0], "tiingo"]);
    expect(market.view.quote("EURUSD")?.time_msc).toBeGreaterThan(lostMs);

    first.far.refuse(null);
    for (let second = 0; second < 60 && first.peers.size === 0; second++) await pass(1, [vendor]);
    const backMs = clock.now();
    await pass(295, [oanda, vendor], 5);
    expect([bid(), speaks()]).toEqual([TIINGO[0], "tiingo"]);
    await pass(12, [oanda, vendor]);
    expect([bid(), speaks()]).toEqual([OANDA[0], "oanda"]);

    await pass(11, [oanda, vendor]);
    expect(recorded).toMatchObject([
      { from: "oanda", to: "tiingo", reason: "lost" },
      { from: "tiingo", to: "oanda", reason: "back" },
    ]);
    expect(recorded[1]?.tickers).toBe(1);

    // Neither the minute of a change nor one in which a speaker was lost is watched; OANDA has a history, and mends them.
    const ticker = "EURUSD";
    const minuteOf = (ms: number) => Math.floor(ms / 60_000) * MINUTE_S;
    const isWatched = async (time: number) => (await watchedMinutes(db.pool, ticker, { from: time, to: time + 60 })).length > 0;
    const changeMs = recorded.map(({ at }) => Date.parse(at));
    const read = async (time: number) =>
      (await store.read({ ticker, timeframe: "M1", from: time, to: time + 60, limit: 1, end: "oldest" }))[0];
    await pass(70, [oanda, vendor], 5);
    for (const ms of [lostMs, ...changeMs]) {
      const time = minuteOf(ms);
      expect(await isWatched(time)).toBe(false);
      await vi.waitFor(async () => {
        await pass(1, [oanda, vendor]);
        expect(await read(time)).toMatchObject({ open: 2, tick_volume: 7 });
      }, WAIT);
    }
    const quiet = minuteOf(backMs) + 2 * MINUTE_S;
    expect(await isWatched(quiet)).toBe(true);
    expect(await read(quiet)).toMatchObject({ open: TIINGO[0] });
    const text = await metrics.registry.metrics();
    expect(text).toContain('spotwire_feed_changes_total{upstream="tiingo",reason="lost"} 1');
    expect(text).toContain('spotwire_feed_speaks{upstream="oanda"}');
  });

  test("one that stays connected without prices is replaced while the other ticks, and is never said to fail", async () => {
    const { pass, oanda, vendor, first, bid, speaks, market } = await both();
    const beats: Saying = () => {
      for (const peer of first.peers) peer.send(HEARTBEAT);
      return () => true;
    };
    await pass(20, [oanda, vendor]);
    await pass(28, [beats, vendor]);
    expect([bid(), speaks()]).toEqual([OANDA[0], "oanda"]);
    await pass(4, [beats, vendor]);
    expect([bid(), speaks()]).toEqual([TIINGO[0], "tiingo"]);
    expect(market.feedProblem()).toBeNull();
    expect(market.feed().precedence?.changes[0]).toMatchObject({
      from: "oanda",
      to: "tiingo",
      reason: "quiet",
      some: ["EURUSD"],
    });
  }, 30_000);

  test("the venue fails when no provider has a connection, and says what each of them says", async () => {
    const { kill, second, pass, market } = await both();
    await kill();
    expect(market.feedProblem()).toBeNull();
    second.far.refuse({ status: 401 });
    for (const peer of second.peers) peer.end();
    await pass(5, []);
    expect(market.feedProblem()).toMatch(/oanda.*; .*tiingo/);
  }, 30_000);

  test("the provider that an operator pins speaks at once, and the first again when it is released", async () => {
    const { pass, oanda, vendor, bid, speaks, market, pin, recorded } = await both();
    await pass(15, [oanda, vendor]);
    pin.name = "tiingo";
    await market.pinChanged();
    await pass(1, [oanda, vendor]);
    expect([bid(), speaks(), market.feed().precedence?.pinned]).toEqual([TIINGO[0], "tiingo", "tiingo"]);
    pin.name = "unknown";
    await market.pinChanged();
    expect(market.feed().precedence?.pinned).toBeNull();
    await pass(310, [oanda, vendor], 5);
    expect([bid(), speaks()]).toEqual([OANDA[0], "oanda"]);
    expect(recorded).toMatchObject([{ reason: "pinned" }, { from: "tiingo", to: "oanda", reason: "back" }]);
  }, 30_000);

  test("prices that differ are warned about, and change nothing", async () => {
    const { pass, first, second, clock, speaks, lines, market } = await both();
    const oanda = says(first, () => oandaPrice(clock.now(), OANDA));
    const off = says(second, () => tiingoPrice(clock.now(), [1.11, 1.1101]));
    await pass(75, [oanda, off]);
    expect(speaks()).toBe("oanda");
    expect(market.feed().precedence?.divergent).toMatchObject([{ ticker: "EURUSD", name: "tiingo" }]);
    const warned = lines.filter(({ msg }) => String(msg).includes("differ by more than ten spreads"));
    expect(warned).toMatchObject([{ ticker: "EURUSD", feed: "tiingo", speaks: "oanda" }]);
  }, 30_000);
});

test("the next provider mends the minutes that the one before it heard only in part, from its own history", async () => {
  const [first, second] = [await oandaSide(), await tiingoSide()];
  const history: Upstream["minutes"] = async function* (_, from, to) {
    const at = (time: number) => ({ time, open: 3, high: 3, low: 3, close: 3, volume: 5, spread: null });
    yield Array.from({ length: (to - from) / MINUTE_S }, (__, index) => at(from + index * MINUTE_S));
  };
  const declares = { ...tiingo.declares, minutes: { pageRows: 500, volume: "ticks", spread: "none" } as const };
  const upstream = { ...socketUpstream(tiingo, { key: "k", url: second.far.url }), declares, minutes: history };
  const scene = await startScene([withOanda(first), (options) => createProvider({ ...options, upstream })]);
  const { clock, pass, status } = scene;
  await vi.waitUntil(() => first.peers.size === 1 && second.peers.size === 1, WAIT);
  const oanda = says(first, () => oandaPrice(clock.now(), OANDA));
  const vendor = says(second, () => tiingoPrice(clock.now(), TIINGO));
  await pass(175, [oanda, vendor], 5);
  // Its last message is in the third minute, and it is cut in the fourth.
  await pass(8, [vendor]);
  first.far.refuse({ status: 503 });
  for (const peer of first.peers) peer.end();
  await vi.waitUntil(() => first.far.open() === 0, WAIT);
  await pass(12, [vendor]);
  expect(status().provider_source).toBe("tiingo");
  await pass(60, [vendor], 5);
  const opens = async () => {
    await pass(1, [vendor]);
    const window = { from: START_MS / 1000, to: START_MS / 1000 + 4 * MINUTE_S, limit: 9, end: "oldest" } as const;
    return (await store.read({ ticker: "EURUSD", timeframe: "M1", ...window })).map(({ open }) => open);
  };
  await vi.waitFor(async () => expect(await opens()).toEqual([OANDA[0], OANDA[0], 3, 3]), WAIT);
}, 30_000);

test("a source that does not confirm its subscription is live with its first price", async () => {
  const upstream: Upstream = {
    name: "tiingo",
    declares: tiingo.declares,
    secrets: [],
    symbolOf: ({ ticker }) => ticker,
    async *stream(_, { signal, clock }) {
      while (!signal.aborted) {
        yield [{ symbol: "EURUSD", timeMs: clock.now(), bid: TIINGO[0], ask: TIINGO[1] }];
        await clock.wait(SECOND_MS, signal);
      }
      throw new Upset("aborted");
    },
  };
  const { pass, status, market } = await startScene([(options) => createProvider({ ...options, upstream }), () => null]);
  await pass(2, []);
  expect([market.view.quote("EURUSD")?.bid, status().provider_source]).toEqual([TIINGO[0], "tiingo"]);
  expect(market.feed().providers[0]?.state).toBe("live");
});

describe("pushes and a provider", () => {
  async function pushesAnd() {
    const side = await oandaSide();
    const scene = await startScene([() => null, withOanda(side)]);
    const { clock, market } = scene;
    await vi.waitUntil(() => side.peers.size === 1, WAIT);
    const outcomes: (string | null)[] = [];
    const push: Saying = () => {
      const before = outcomes.length;
      const tick = { ticker: "EURUSD", time_msc: clock.now(), bid: TIINGO[0], ask: TIINGO[1] };
      void market.leader.push([tick]).then((judged) => outcomes.push(...judged));
      return () => outcomes.length > before;
    };
    const oanda = says(side, () => oandaPrice(clock.now(), OANDA));
    return { ...scene, outcomes, push, oanda, bid: () => market.view.quote("EURUSD")?.bid };
  }

  test("pushed ticks speak while they come, and the provider when they no longer do", async () => {
    const { pass, push, oanda, outcomes, bid, status } = await pushesAnd();
    await pass(15, [push, oanda]);
    expect([bid(), status().provider_source]).toEqual([TIINGO[0], "push"]);
    await pass(32, [oanda]);
    expect([bid(), status().provider_source]).toEqual([OANDA[0], "oanda"]);
    expect(new Set(outcomes)).toEqual(new Set([null]));
    await pass(1, [push, oanda]);
    expect(outcomes.at(-1)).toBe("standby");
  }, 30_000);

  test("receipts keep the order of the ticks, and an unknown ticker is refused as such", async () => {
    const { pass, oanda, market, clock } = await pushesAnd();
    await pass(15, [oanda]);
    const tick = (ticker: string) => ({ ticker, time_msc: clock.now(), bid: 1.1, ask: 1.1001 });
    expect(await market.leader.push(["EURUSD", "NOSUCH", "GBPUSD", "EURUSD"].map(tick))).toEqual([
      "standby",
      "unknown_ticker",
      null,
      "standby",
    ]);
  }, 30_000);
});
