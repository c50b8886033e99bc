import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { WebSocket } from "ws";
import { systemClock } from "#lib/clock";
import { STREAM_INGEST_MESSAGES_PER_SECOND_COUNT } from "#lib/contract/limits";
import { operations } from "#lib/contract/operations";
import { type ServerMessage, STREAM_PATH } from "#lib/contract/stream";
import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import type { Listing } from "#lib/domain/instrument";
import type { Tick } from "#lib/domain/tick";
import { readEnv } from "#lib/env";
import { createLog } from "#lib/log";
import { createCatalogue } from "#lib/market/catalogue";
import { createKlineStore } from "#lib/market/kline-store";
import { createMetrics } from "#lib/metrics";
import { acquireDatabase } from "#server/database/database";
import type { MarketFeed } from "#server/feed/feed";
import { startMarket } from "#server/market";
import { type Contestant, startChild } from "./child";
import { LIVE_KEYS_COUNT } from "./keys";
import { startSpotwire } from "./quotes";
import type { Row } from "./table";

/** Ticks of one emission of a feed. */
const BATCH_COUNT = 60;
const LARGE_PUSH_COUNT = 2_000;
const SMALL_PUSH_COUNT = 5;
/** The most that a push and a tick may cost. */
const PUSH_MAX_US = 150;
const TICK_MAX_US = 6;
const FEED_MIN_TICKS_S = 100_000;
const SPREAD_POINTS = 12;
/** Long enough for the compiler: the first pushes cost several times as much. */
const WARM_UP_S = 5;
const IDLE_MS = 3_000;
/** Messages over a stream are sent in steps of this length. */
const STEP_MS = 10;

let step = 0;

/** Ticks of now, one after the other for each of the instruments; each price differs from the one before. */
function ticksOf(count: number, listings: readonly Listing[] = LIVE_LISTINGS): Tick[] {
  const time_msc = Date.now();
  return Array.from({ length: count }, () => {
    step += 1;
    const { ticker, digits } = listings[step % listings.length] ?? { ticker: "EURUSD", digits: 5 };
    const points = 100_000 + (step % 977) * 3;
    return { ticker, time_msc, bid: points / 10 ** digits, ask: (points + SPREAD_POINTS) / 10 ** digits };
  });
}

/** A feed that delivers without a pause until `untilMs`, and counts. */
function tirelessFeed(untilMs: () => number): MarketFeed & { readonly count: () => number } {
  let count = 0;
  return {
    name: "bench",
    keepsTime: false,
    count: () => count,
    open: () =>
      async function* run(signal) {
        while (!signal.aborted && performance.now() < untilMs()) {
          const ticks = ticksOf(BATCH_COUNT);
          count += ticks.length;
          yield ticks;
          // Timers and the recorder get their turn, as between the messages of a source.
          if (count % (100 * BATCH_COUNT) === 0) await new Promise(setImmediate);
        }
      },
  };
}

/** Ticks a second and processor time a tick of a market in this process: engine, view, recent events and recorder. */
async function measureFeed(seconds: number): Promise<Row> {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  const log = createLog("error");
  const { db, release } = await acquireDatabase(readEnv({ DATA_DIR: folder, LOG_LEVEL: "error" }), log, systemClock);
  try {
    const catalogue = await createCatalogue(db, "live");
    const store = createKlineStore(db.pool, "live");
    let untilMs = Number.POSITIVE_INFINITY;
    const feed = tirelessFeed(() => untilMs);
    const options = {
      venue: "live" as const,
      catalogue,
      store,
      writer: store,
      clock: systemClock,
      log,
      metrics: createMetrics(),
    };
    const market = await startMarket({ ...options, feed, acceptsPush: false, provider: "bench" });
    await systemClock.wait(WARM_UP_S * 1000);
    const [startMs, counted, cpu] = [performance.now(), feed.count(), process.cpuUsage()];
    await systemClock.wait(seconds * 1000);
    const { user, system } = process.cpuUsage(cpu);
    const [elapsedS, ticks] = [(performance.now() - startMs) / 1000, feed.count() - counted];
    untilMs = 0;
    await market.stop();
    const perSecond = ticks / elapsedS;
    return {
      what: "tick of a feed in this process, nine timeframes, recorded",
      value: `${Math.round(perSecond)} ticks/s, ${((user + system) / ticks).toFixed(1)} µs of processor time`,
      ratio: { value: perSecond / FEED_MIN_TICKS_S, target: 1, against: `${FEED_MIN_TICKS_S} ticks/s` },
    };
  } finally {
    await release();
    rmSync(folder, { recursive: true, force: true });
  }
}

const linesOf = (count: number, listings: readonly Listing[]) =>
  ticksOf(count, listings)
    .map((tick) => `${JSON.stringify(tick)}\n`)
    .join("");

interface Feeder {
  readonly url: string;
  readonly key: string;
  readonly agent: Agent;
  readonly listings: readonly Listing[];
}

/** Pushes over one connection, one after the other; returns how many. */
async function pushFor(seconds: number, { url, key, agent, listings }: Feeder, count: number): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, "content-type": operations.ingestTicks.body?.mediaType ?? "" };
  const untilMs = performance.now() + seconds * 1000;
  let pushes = 0;
  for (; performance.now() < untilMs; pushes += 1) {
    const body = linesOf(count, listings);
    const text = await new Promise<string>((resolve, reject) => {
      const post = request(url + operations.ingestTicks.path, { method: "POST", agent, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("end", () => resolve(text));
      });
      post.on("error", reject);
      post.end(body);
    });
    if (JSON.parse(text).data?.accepted !== count) throw new Error(`a push was refused: ${text.slice(0, 500)}`);
  }
  return pushes;
}

/** Pushes messages of one tick over a stream, at three quarters of its limit, without waiting for acks; returns how many. */
async function streamFor(seconds: number, { url, key, listings }: Feeder): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const socket = new WebSocket(url.replace("http", "ws") + STREAM_PATH, { headers });
  const perStep = Math.floor((STREAM_INGEST_MESSAGES_PER_SECOND_COUNT * 0.75 * STEP_MS) / 1000);
  const untilMs = performance.now() + seconds * 1000;
  let [sent, acked] = [0, 0];
  const sendSome = () => {
    for (let count = 0; count < perStep && performance.now() < untilMs; count += 1) {
      sent += 1;
      socket.send(JSON.stringify({ method: "ingest", params: { seq: sent, ticks: ticksOf(1, listings) } }));
    }
  };
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("message", (data) => {
      const message = JSON.parse(String(data)) as ServerMessage;
      if (message.type === "welcome") timer = setInterval(sendSome, STEP_MS);
      if (message.type === "error") reject(new Error(`a message was refused: ${JSON.stringify(message)}`));
      if (message.type === "ack") acked += 1;
      if (acked === sent && performance.now() >= untilMs) resolve();
    });
  });
  clearInterval(timer);
  socket.close();
  return acked;
}

/** Processor seconds a second without pushes, because the sandbox's feed never pauses. */
async function idleShare(server: Contestant): Promise<number> {
  const before = server.cpuSeconds();
  await systemClock.wait(IDLE_MS);
  return ((server.cpuSeconds() - before) * 1000) / IDLE_MS;
}

type Push = (duration: number, feeder: Feeder) => Promise<number>;

/** Pushes over several connections at once. @returns processor microseconds of the server for each thing that `push` counts */
async function microseconds(
  seconds: number,
  server: Contestant & { readonly liveKeys: readonly string[] },
  push: Push,
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: LIVE_KEYS_COUNT });
  const feed = async (duration: number) => {
    const pushes = server.liveKeys.map((key, feeder) => {
      // Two feeders of one instrument would overtake each other.
      const listings = LIVE_LISTINGS.filter((_, index) => index % LIVE_KEYS_COUNT === feeder);
      return push(duration, { url: server.url, key, agent, listings });
    });
    return (await Promise.all(pushes)).reduce((sum, some) => sum + some, 0);
  };
  try {
    await feed(WARM_UP_S);
    const idle = await idleShare(server);
    const [before, startMs] = [server.cpuSeconds(), performance.now()];
    const pushes = await feed(seconds);
    const idleS = (idle * (performance.now() - startMs)) / 1000;
    return ((server.cpuSeconds() - before - idleS) * 1e6) / pushes;
  } finally {
    agent.destroy();
  }
}

const pushOf =
  (count: number): Push =>
  (duration, feeder) =>
    pushFor(duration, feeder, count);

async function measurePushes(seconds: number): Promise<Row[]> {
  const server = await startSpotwire("counted", { LIVE_FEED: "push", NEXTAUTH_SECRET: randomBytes(32).toString("hex") });
  const sink = await startChild("server/bench/sink.ts", {});
  try {
    const bare = await microseconds(seconds, { ...sink, liveKeys: server.liveKeys }, pushOf(SMALL_PUSH_COUNT));
    const small = await microseconds(seconds, server, pushOf(SMALL_PUSH_COUNT));
    const large = (await microseconds(seconds, server, pushOf(LARGE_PUSH_COUNT))) / LARGE_PUSH_COUNT;
    const streamed = await microseconds(seconds, server, streamFor);
    return [
      { what: `push of ${SMALL_PUSH_COUNT} ticks, bare node:http`, value: `${bare.toFixed(0)} µs of processor time` },
      {
        what: `push of ${SMALL_PUSH_COUNT} ticks`,
        value: `${small.toFixed(0)} µs of processor time`,
        ratio: { value: small / PUSH_MAX_US, target: 1, against: `${PUSH_MAX_US} µs`, bound: "at most" },
      },
      {
        what: `tick of a push of ${LARGE_PUSH_COUNT}`,
        value: `${large.toFixed(1)} µs of processor time`,
        ratio: { value: large / TICK_MAX_US, target: 1, against: `${TICK_MAX_US} µs`, bound: "at most" },
      },
      {
        what: "message of one tick over the stream, with its ack",
        value: `${streamed.toFixed(0)} µs of processor time`,
        ratio: { value: streamed / PUSH_MAX_US, target: 1, against: `${PUSH_MAX_US} µs of a push`, bound: "at most" },
      },
    ];
  } finally {
    await Promise.all([server.stop(), sink.stop()]);
  }
}

/** Measures what a tick costs on its way in: through a feed in this process, in large pushes and in small ones. */
export async function benchIngest(seconds: number): Promise<Row[]> {
  return [await measureFeed(seconds), ...(await measurePushes(seconds))];
}
