import { Agent, request } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import type { Listing } from "#lib/domain/instrument";
import { priceOf, stampNow } from "./stamp";

/** Time between pushes. Each push has some of the tickers, so that ticks are spread over time. */
const PUSH_INTERVAL_MS = 5;
const PATH = "/api/v1/ingest/ticks";
const SPREAD_POINTS = 12;
/** A push fails after this. */
const ANSWER_MAX_MS = 30_000;

/** What was acknowledged. */
interface Acknowledged {
  readonly ticks: number;
  /** From the sending of each push to its answer, ms. */
  readonly pushesMs: readonly number[];
}

/** Pushes ticks at a fixed rate until stopped. */
interface Feeder {
  /** What was acknowledged since the last call. */
  acknowledged(): Acknowledged;
  /** Stops; resolves when the last push was answered. @throws Error when a push was rejected */
  stop(): Promise<void>;
}

interface FeederOptions {
  readonly url: string;
  readonly key: string;
  readonly listings: readonly Listing[];
  /** Ticks per second of each instrument. */
  readonly perSecond: number;
}

interface Lane {
  readonly listings: readonly Listing[];
  waiting: boolean;
}

/** A batch of ticks, one per listing, stamped with the current time. */
function batchOf(listings: readonly Listing[]): string {
  const stamp = stampNow();
  const time_msc = Date.now();
  const lines = listings.map(({ ticker, digits }) => {
    const bid = priceOf(stamp, digits);
    return JSON.stringify({ ticker, time_msc, bid, ask: bid + SPREAD_POINTS / 10 ** digits });
  });
  return `${lines.join("\n")}\n`;
}

/**
 * Feeds a contestant over HTTP. Each instrument belongs to a lane, and lanes push in turn. A lane whose last push is not
 * answered yet skips its turn, so that a slow contestant gets fewer ticks instead of a growing backlog.
 */
export function startFeeder({ url, key, listings, perSecond }: FeederOptions): Feeder {
  const count = Math.min(listings.length, Math.max(1, Math.round(1000 / perSecond / PUSH_INTERVAL_MS)));
  const lanes: Lane[] = Array.from({ length: count }, (_, lane) => ({
    listings: listings.filter((_listing, index) => index % count === lane),
    waiting: false,
  }));
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/x-ndjson" };
  const intervalMs = 1000 / perSecond / count;
  let problem: Error | undefined;
  let ticks = 0;
  let pushesMs: number[] = [];
  let turn = 0;
  let nextMs = performance.now();

  function push(lane: Lane): void {
    if (lane.waiting) return;
    lane.waiting = true;
    const sentMs = performance.now();
    const post = request(`${url}${PATH}`, { method: "POST", agent, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => {
        lane.waiting = false;
        pushesMs.push(performance.now() - sentMs);
        check(lane, text);
      });
    });
    post.setTimeout(ANSWER_MAX_MS, () => post.destroy(new Error("a push was not answered")));
    post.on("error", (error) => {
      lane.waiting = false;
      problem ??= error;
    });
    post.end(batchOf(lane.listings));
  }

  function check(lane: Lane, text: string): void {
    const { data } = JSON.parse(text);
    ticks += data?.accepted ?? 0;
    if (data?.accepted !== lane.listings.length) problem ??= new Error(`not all ticks of a push were accepted: ${text}`);
  }

  const timer = setInterval(() => {
    const nowMs = performance.now();
    for (; nextMs <= nowMs; nextMs += intervalMs) {
      const lane = lanes[turn % count];
      turn += 1;
      if (lane !== undefined) push(lane);
    }
  }, 1);

  return {
    acknowledged() {
      const acknowledged = { ticks, pushesMs };
      ticks = 0;
      pushesMs = [];
      return acknowledged;
    },
    async stop() {
      clearInterval(timer);
      while (problem === undefined && lanes.some(({ waiting }) => waiting)) await wait(10);
      agent.destroy();
      if (problem !== undefined) throw problem;
    },
  };
}
