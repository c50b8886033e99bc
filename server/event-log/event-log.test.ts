import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "#lib/clock";
import { klineExample } from "#lib/contract/kline";
import { quoteExample } from "#lib/contract/quote";
import { snapshotExample } from "#lib/contract/snapshot";
import { collectingLog } from "#lib/testing/collecting-log";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import type { MarketEvent } from "#server/events/event";
import { eventOf, TEST_EPOCH } from "#server/testing/events";
import { emptyProjection, leaderOf, SOON, unexplained } from "#server/testing/log-scene";
import { describeRedis, type RedisNodes } from "#server/testing/redis-nodes";
import { newestRecords } from "#server/view/newest";
import { type Cursor, createCursor } from "./cursor";
import type { Appender, EventLog, Follower, Leading } from "./event-log";
import { createMemoryLog } from "./memory-log";
import { createRedisLog } from "./redis-log";
import { createSocketLog } from "./socket-log";

/** What a test needs of an adapter. */
interface Adapter {
  /** The log as a process sees it that leads or follows; every call is another process where processes share it. */
  open(): Promise<EventLog>;
  /** True where another leader can take over. */
  readonly hasSuccessors: boolean;
}

const memory = async (): Promise<Adapter> => {
  const log = createMemoryLog();
  return { open: async () => log, hasSuccessors: true };
};

const socket = async (): Promise<Adapter> => {
  const file = path.join(tmpdir(), `spotwire-log-${randomUUID()}.sock`);
  return { open: async () => createSocketLog({ path: file, clock: systemClock }), hasSuccessors: false };
};

const redis = (nodes: RedisNodes) => async (): Promise<Adapter> => {
  const prefix = `log${randomUUID()}`;
  return {
    open: async () =>
      createRedisLog({ redis: await nodes.open(prefix), venue: "live", clock: systemClock, log: collectingLog([], "warn") }),
    hasSuccessors: true,
  };
};

/** A process that follows. */
interface Following {
  readonly cursor: Cursor;
  /** What its projection passed to subscribers, in order. */
  readonly events: MarketEvent[];
  follower(): Follower;
  stop(): Promise<void>;
  /** Follows again, from where it was. */
  resume(): Promise<void>;
}

async function follow(adapter: Adapter): Promise<Following> {
  const log = await adapter.open();
  const cursor = createCursor(emptyProjection());
  const events: MarketEvent[] = [];
  cursor.projection.follow((batch) => events.push(...batch));
  let follower = log.follow(cursor);
  onTestFinished(() => follower.stop());
  await Promise.race([
    follower.begun,
    vi.waitUntil(() => follower.problem()?.includes("no events"), SOON).catch(() => undefined),
  ]);
  return {
    cursor,
    events,
    follower: () => follower,
    stop: () => follower.stop(),
    async resume() {
      follower = log.follow(cursor);
    },
  };
}

/** A leader whose newest records are those that it appended. */
async function leadOf(adapter: Adapter, given: Partial<Leading> & { readonly epoch?: string } = {}): Promise<Appender> {
  const own = emptyProjection();
  const { epoch = TEST_EPOCH } = given;
  own.recent.begin(epoch);
  const tickers = createSandboxCatalogue()
    .list()
    .map(({ ticker }) => ticker);
  const newest = () => newestRecords({ view: own.view, recent: own.recent, epoch, tickers });
  const log = await adapter.open();
  const appender = await log.lead(leaderOf({ ...given, newest }));
  onTestFinished(() => appender.stop());
  appender.begin();
  return {
    ...appender,
    append(events, reachedMs) {
      own.apply(events);
      appender.append(events, reachedMs);
    },
  };
}

const TOPICS = [
  quoteExample,
  { ...quoteExample, ticker: "GBPUSD" },
  snapshotExample,
  klineExample,
  { ...klineExample, timeframe: "M1" as const },
];

/** Events of several topics, each with its own sequence. */
function createSequences(epoch = TEST_EPOCH) {
  const last = new Map<number, number>();
  return (picks: readonly number[]): MarketEvent[] =>
    picks.map((pick) => {
      const seq = (last.get(pick) ?? 0) + 1;
      last.set(pick, seq);
      return { ...eventOf(TOPICS[pick] ?? quoteExample, { seq, closed: seq % 3 === 0 }), epoch };
    });
}

const has = (following: Following, count: number) => vi.waitUntil(() => following.events.length >= count, SOON);
const RUNS = { numRuns: 15 };
const batches = fc.array(fc.array(fc.nat(TOPICS.length - 1), { maxLength: 40 }), { maxLength: 12 });

/** What every log guarantees. */
function logSuite(open: () => Promise<Adapter>): void {
  test("a log delivers every event to each follower once, in the order of appending", async () => {
    const adapter = await open();
    const leader = await leadOf(adapter);
    const [one, other] = [await follow(adapter), await follow(adapter)];
    const next = createSequences();
    const appended: MarketEvent[] = [];
    await fc.assert(
      fc.asyncProperty(batches, async (picked) => {
        for (const picks of picked) {
          const events = next(picks);
          appended.push(...events);
          leader.append(events, 0);
        }
        await Promise.all([has(one, appended.length), has(other, appended.length)]);
        expect(one.events).toEqual(appended);
        expect(other.events).toEqual(appended);
      }),
      RUNS,
    );
    expect(appended.length).toBeGreaterThan(100);
  });

  test("a log does not delay its leader, and delivers nothing for no events", async () => {
    const adapter = await open();
    const leader = await leadOf(adapter);
    const following = await follow(adapter);
    const next = createSequences();
    const appended = Array.from({ length: 200 }, () => next([0, 1, 2]));
    leader.append([], 0);
    // One turn of the event loop: the leader cannot have waited for a follower.
    for (const events of appended) leader.append(events, 0);
    await has(following, appended.flat().length);
    expect(await leader.appended()).toBe(true);
    expect(following.events).toEqual(appended.flat());
  });

  test("a follower that begins late has the newest records without notice, then everything from then on, once", async () => {
    const adapter = await open();
    const leader = await leadOf(adapter);
    const early = await follow(adapter);
    const next = createSequences();
    const before = next([0, 1, 2, 3, 4, 0, 0]);
    leader.append(before, 0);
    await vi.waitUntil(() => leader.appended(), SOON);
    await has(early, before.length);
    const late = await follow(adapter);
    const { view, recent } = late.cursor.projection;
    await vi.waitUntil(() => recent.seq("quote:EURUSD") === 3, SOON);
    const from = late.events.length;
    // Redis may deliver the last half second again.
    expect(late.events).toEqual(before.slice(before.length - from));
    expect(view.quote("EURUSD")).toEqual(early.cursor.projection.view.quote("EURUSD"));
    expect(view.snapshot(snapshotExample.ticker)).toEqual(snapshotExample);
    const after = next([0, 1, 2, 3, 4]);
    leader.append(after, 0);
    await Promise.all([has(late, from + after.length), has(early, before.length + after.length)]);
    expect(late.events.slice(from)).toEqual(after);
    expect(early.events).toEqual([...before, ...after]);
  });

  test("a follower that stops receives no more events, the others continue, and it continues where it was", async () => {
    const adapter = await open();
    const leader = await leadOf(adapter);
    const [one, other] = [await follow(adapter), await follow(adapter)];
    const next = createSequences();
    const first = next([0, 1, 4]);
    leader.append(first, 0);
    await Promise.all([has(one, 3), has(other, 3)]);
    await one.stop();
    const second = next([0, 1, 0, 4, 4]);
    leader.append(second, 0);
    await has(other, 8);
    expect(one.events).toEqual(first);
    await one.resume();
    const third = next([0, 1]);
    await vi.waitUntil(() => one.follower().problem() === null && one.cursor.projection.recent.seq("quote:EURUSD") === 3, SOON);
    leader.append(third, 0);
    const last = third.at(-1);
    await vi.waitUntil(() => one.events.some(({ topic, seq }) => topic === last?.topic && seq === last.seq), SOON);
    // What it missed comes again or is counted; of klines it may show as a gap.
    expect(unexplained(one.events).filter(({ type }) => type !== "kline")).toEqual([]);
    expect(one.events.at(-1)).toEqual(last);
    expect(other.events).toEqual([...first, ...second, ...third]);
  });

  test("followers know what the leader says of the venue, without events too", async () => {
    const adapter = await open();
    let problem: string | null = null;
    const standing = () => ({ epoch: TEST_EPOCH, reachedMs: 7, address: "http://leader", problem, speakers: { "*": "oanda" } });
    await leadOf(adapter, { standing });
    const following = await follow(adapter);
    await vi.waitUntil(() => following.follower().standing() !== undefined, SOON);
    expect(following.follower().standing()).toMatchObject({
      address: "http://leader",
      problem: null,
      speakers: { "*": "oanda" },
    });
    problem = "no ticks";
    await vi.waitUntil(() => following.follower().standing()?.problem === "no ticks", SOON);
    expect(following.cursor.projection.recent.epoch()).toBe(TEST_EPOCH);
  });

  test("a leader with a higher token fences off the one before: nothing more is taken from it", async () => {
    const adapter = await open();
    if (!adapter.hasSuccessors) {
      await leadOf(adapter);
      // Its place is taken as long as it runs.
      await expect(leadOf(adapter, { token: 2 })).rejects.toMatchObject({ code: "EADDRINUSE" });
      return;
    }
    let fenced = 0;
    const former = await leadOf(adapter, { epoch: "former", onFenced: () => (fenced += 1) });
    const following = await follow(adapter);
    const [old, fresh] = [createSequences("former"), createSequences("next")];
    former.append(old([0]), 0);
    await has(following, 1);
    const next = await leadOf(adapter, { token: 2, epoch: "next" });
    former.append(old([0]), 0);
    next.append(fresh([0, 0]), 0);
    await has(following, 3);
    await vi.waitUntil(() => fenced === 1, SOON);
    expect(await former.appended()).toBe(false);
    expect(following.events.map(({ epoch, seq }) => `${epoch} ${seq}`)).toEqual(["former 1", "next 1", "next 2"]);
    await expect(leadOf(adapter, { token: 2 })).rejects.toMatchObject({ name: "TokenUsed", highest: 2 });
  });
}

describe("the log in memory", () => logSuite(memory));
describe("the log from one process to others of its machine", () => logSuite(socket));

describeRedis("the log through Redis", (nodes) => logSuite(redis(nodes)));
