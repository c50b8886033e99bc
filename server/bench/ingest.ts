import { Agent, request } from "node:http";
import { operations } from "#lib/contract/operations";
import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import type { Listing } from "#lib/domain/instrument";
import { ticksOf } from "./bench-ticks";
import { startProcess } from "./child";
import type { Effort } from "./load";
import { type Spotwire, startSpotwire } from "./product";
import { spreadOf, spreadText } from "./spread";
import { type Row, ratioOf } from "./table";

const PUSH_COUNT = 2_000;
const TICK_MAX_US = 6;
const FEED_MAX_RATIO = 4;

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

/** Pushes over several connections at once. @returns processor microseconds of the server for each tick */
async function pushed(seconds: number, server: Spotwire, agent: Agent): Promise<number> {
  const before = server.cpuSeconds();
  const pushes = server.liveKeys.map((key, feeder) => {
    // Two feeders of one instrument would overtake each other.
    const listings = LIVE_LISTINGS.filter((_, index) => index % server.liveKeys.length === feeder);
    return pushFor(seconds, { url: server.url, key, agent, listings }, PUSH_COUNT);
  });
  const count = (await Promise.all(pushes)).reduce((sum, some) => sum + some, 0);
  return ((server.cpuSeconds() - before) * 1e6) / (count * PUSH_COUNT);
}

async function measurePushes({ seconds, rounds, warmUpCpuS }: Effort): Promise<Row> {
  const server = await startSpotwire({ LIVE_FEED: "push" });
  const agent = new Agent({ keepAlive: true, maxSockets: server.liveKeys.length });
  try {
    const warmAt = server.cpuSeconds() + warmUpCpuS;
    while (server.cpuSeconds() < warmAt) await pushed(1, server, agent);
    const each: number[] = [];
    while (each.length < rounds) each.push(await pushed(seconds, server, agent));
    const us = spreadOf(each);
    const limit = { median: us.median / TICK_MAX_US, low: us.low / TICK_MAX_US, high: us.high / TICK_MAX_US };
    return {
      id: "push",
      what: `tick of a push of ${PUSH_COUNT}, nine timeframes, recorded`,
      value: `${spreadText(us)} µs of processor time`,
      ratio: ratioOf(limit, { target: 1, against: `${TICK_MAX_US} µs`, bound: "at most" }),
    };
  } finally {
    agent.destroy();
    await server.stop();
  }
}

/** A tick of a feed within the process against the same engine alone, each in a process of its own. */
async function measureFeed({ seconds, rounds, warmUpCpuS }: Effort): Promise<Row> {
  const [feed, engine] = [startProcess("server/bench/feed-child.ts"), startProcess("server/bench/engine-child.ts")];
  const [owns, anchors]: [number[], number[]] = [[], []];
  try {
    for (const child of [feed, engine]) await child.call("measure", warmUpCpuS);
    for (let round = 0; round < rounds; round += 1) {
      anchors.push(await engine.call<number>("measure", seconds));
      owns.push(await feed.call<number>("measure", seconds));
    }
    await feed.call("end");
    const ratio = spreadOf(owns.map((own, round) => own / (anchors[round] ?? Number.NaN)));
    return {
      id: "feed",
      what: "tick of a feed in the process, nine timeframes, recorded",
      value: `${spreadText(spreadOf(owns))} µs of processor time`,
      anchor: `${spreadText(spreadOf(anchors))} µs of processor time`,
      ratio: ratioOf(ratio, { target: FEED_MAX_RATIO, against: "engine alone", bound: "at most" }),
    };
  } finally {
    await Promise.all([feed.stop(), engine.stop()]);
  }
}

/** Measures what a tick costs on its way in: in large pushes, and through a feed in the process. */
export async function benchIngest(effort: Effort): Promise<Row[]> {
  return [await measurePushes(effort), await measureFeed(effort)];
}
