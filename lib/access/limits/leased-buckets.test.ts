import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { type Clock, type ManualClock, manualClock } from "#lib/clock";
import { bucketStoreSuite, expectOneBucket } from "#lib/testing/bucket-store-suite";
import { collectingLog } from "#lib/testing/collecting-log";
import { createRedisLender } from "#server/store/access/leased-bucket-script";
import type { Redis } from "#server/store/database/redis";
import { describeRedis, type RedisNodes, ready } from "#server/testing/redis-nodes";
import { createLeasedBuckets, type LeasedBuckets } from "./leased-buckets";

const START = 1_767_225_600_000;
const LIMITS = { restPerMinute: 60, restBurst: 20 };
const WIDE = { restPerMinute: 600, restBurst: 120 };

/** Buckets leased from a Redis whose clock is that of the test. */
function leasedFrom(redis: Redis, clock: Clock, bounds = {}, lines: Record<string, unknown>[] = []): LeasedBuckets {
  const lender = createRedisLender({ redis, clock, log: collectingLog(lines, "warn"), serverClock: clock });
  return createLeasedBuckets({ lender, clock, ...bounds });
}

interface Node extends LeasedBuckets {
  readonly redis: Redis;
  /** Takes `count` single units in sequence; resolves with the number that passed. */
  spend(count: number, limits?: typeof LIMITS): Promise<number>;
}

/** Nodes of one installation, which share a clock with Redis. */
async function openNodes(t: RedisNodes, clock: ManualClock, count: number, waitingMaxCount = 1_000): Promise<Node[]> {
  const prefix = randomUUID();
  const open = async () => {
    const redis = await t.open(prefix);
    const store = leasedFrom(redis, clock, { waitingMaxCount });
    const spend = async (wanted: number, limits = LIMITS) => {
      let passed = 0;
      for (let index = 0; index < wanted; index += 1) if ((await store.take("a", limits, 1)).allowed) passed += 1;
      return passed;
    };
    return { ...store, redis, spend };
  };
  return Promise.all(Array.from({ length: count }, open));
}

/** Two nodes and their shared clock. */
async function pair(t: RedisNodes) {
  const clock = manualClock(START);
  const [a, b] = (await openNodes(t, clock, 2)) as [Node, Node];
  return { clock, a, b, settled: () => t.settled(a.redis, b.redis) };
}

describeRedis("leased buckets", (t) => {
  bucketStoreSuite("leased from Redis", async (clock) => {
    const redis = await t.open();
    return leasedFrom(redis, clock);
  });

  test("leased buckets on several nodes never allow more than one bucket would, for any sequence of requests", async () => {
    await expectOneBucket({ count: 3, numRuns: 60 }, async (clock) => {
      const stores = await openNodes(t, clock, 3);
      return {
        stores,
        sweep: () => Promise.all(stores.map((store) => store.run(AbortSignal.abort()))),
        settled: () => t.settled(...stores.map(({ redis }) => redis)),
        close() {
          for (const { redis } of stores) redis.close();
        },
      };
    });
  });

  test("leased buckets make no call for the requests of an active client, and few in the background", async () => {
    const { clock, a, settled } = await pair(t);
    expect(await a.spend(1, WIDE)).toBe(1);
    const before = await t.scripts();
    for (let index = 0; index < 5; index += 1)
      expect(a.take("a", WIDE, 1)).toMatchObject({ allowed: true, remaining: 598 - index });
    await settled();
    expect((await t.scripts()) - before).toBe(0);
    for (let round = 0; round < 100; round += 1) {
      for (let index = 0; index < 5; index += 1) expect(a.take("a", WIDE, 1)).not.toBeInstanceOf(Promise);
      clock.set(clock.now() + 500);
      await settled();
    }
    expect((await t.scripts()) - before).toBeLessThan(101);
  });

  test("leased buckets reject a flood of requests locally, and call Redis once a second", async () => {
    const { clock, a, settled } = await pair(t);
    expect(await a.spend(21)).toBe(20);
    const before = await t.scripts();
    for (let index = 0; index < 1_000; index += 1)
      expect(a.take("a", LIMITS, 5)).toMatchObject({ allowed: false, remaining: 40 });
    expect((await t.scripts()) - before).toBe(0);
    clock.set(START + 1_000);
    expect(await a.take("a", LIMITS, 5)).toMatchObject({ allowed: false });
    await settled();
    expect((await t.scripts()) - before).toBe(1);
  });

  test("leased buckets return unused units, so that the node of the client gets them", async () => {
    const { clock, a, b, settled } = await pair(t);
    const stop = new AbortController();
    const running = a.run(stop.signal);
    expect(await a.spend(1)).toBe(1);
    const held = 19 - (await b.spend(20));
    expect(held).toBeGreaterThan(0);
    await clock.advance(2_500);
    await settled();
    expect(await b.take("a", LIMITS, 0)).toMatchObject({ remaining: 60 - 1 - (19 - held) });
    stop.abort();
    await running;
  });

  test("leased buckets return all units when the node stops", async () => {
    const { a, b } = await pair(t);
    expect(await a.spend(1)).toBe(1);
    await a.run(AbortSignal.abort());
    expect(await b.spend(20)).toBe(19);
  });

  test("leased buckets lose at most a block to a dead node, and only until the window ends", async () => {
    const { clock, a, b } = await pair(t);
    expect(await a.spend(1)).toBe(1);
    a.redis.close();
    const passed = await b.spend(20);
    expect(passed).toBeGreaterThanOrEqual(19 - Math.ceil(LIMITS.restBurst / 8));
    expect(passed).toBeLessThan(19);
    clock.set(START + 60_000);
    expect(await b.spend(21)).toBe(20);
  });

  test("leased buckets never hold units of an old window in the next one", async () => {
    const narrow = { restPerMinute: 20, restBurst: 100 };
    const { clock, a, b } = await pair(t);
    clock.set(START);
    expect(await a.spend(1, narrow)).toBe(1);
    clock.set(START + 59_000);
    expect(await a.spend(1, narrow)).toBe(1);
    clock.set(START + 60_000);
    expect(await b.spend(10, narrow)).toBe(10);
    await a.run(AbortSignal.abort());
    expect((await a.spend(30, narrow)) + (await b.spend(30, narrow))).toBe(10);
  });

  test("leased buckets allow a burst only once, because held units do not refill", async () => {
    const { clock, a, b } = await pair(t);
    expect(await a.spend(1, WIDE)).toBe(1);
    clock.set(START + 1_900);
    const passed = (await a.spend(200, WIDE)) + (await b.spend(200, WIDE));
    expect(passed).toBeLessThanOrEqual(WIDE.restBurst);
    expect(passed).toBeGreaterThanOrEqual(WIDE.restBurst - Math.ceil(WIDE.restBurst / 8));
  });

  test("leased buckets are kept up to a limit, and a dropped one is read from Redis and does not start full", async () => {
    const clock = manualClock(START);
    const store = leasedFrom(await t.open(), clock, { maxCount: 2 });
    for (const key of ["a", "b", "c"]) expect(await store.take(key, LIMITS, 10)).toMatchObject({ remaining: 50 });
    const again = store.take("a", LIMITS, 1);
    expect(again).toBeInstanceOf(Promise);
    expect((await again).remaining).toBeLessThan(50);
  });

  test("leased buckets count locally when the script fails in Redis, which is logged once", async () => {
    const lines: Record<string, unknown>[] = [];
    const clock = manualClock(START);
    const redis = await t.open();
    const store = leasedFrom(redis, clock, {}, lines);
    await redis.client.configSet("maxmemory", "1");
    try {
      expect(await store.take("a", LIMITS, 15)).toMatchObject({ allowed: true, remaining: 45 });
      clock.set(START + 1_000);
      expect(await store.take("b", LIMITS, 1)).toMatchObject({ allowed: true, remaining: 59 });
      expect(lines.map(({ msg }) => msg)).toEqual(["Redis script failed; counting locally"]);
    } finally {
      await redis.client.configSet("maxmemory", "0");
    }
    clock.set(START + 2_000);
    expect(await store.take("a", LIMITS, 0)).toMatchObject({ remaining: 45 });
  });

  test("a leased bucket is stored in units, including fractions, so that an earlier release can share it", async () => {
    const clock = manualClock(START);
    const redis = await t.open();
    const store = leasedFrom(redis, clock);
    const key = redis.key("b:a", "bucket");
    const limits = { restPerMinute: 36, restBurst: 5 };
    // The result of sums of fractions: 3 units minus a rounding error.
    const write = `redis.call("SET", KEYS[1], cmsgpack.pack({ start = ${START}, used = 5, tokens = 3 - 2 ^ -51, at = ${START}, leases = {} }))`;
    await redis.client.eval(write, { keys: [key] });
    clock.set(START + 1);
    expect(await store.take("a", limits, 3)).toMatchObject({ allowed: true, remaining: 28 });
    const left = await redis.client.eval(`return tostring(cmsgpack.unpack(redis.call("GET", KEYS[1])).tokens)`, { keys: [key] });
    expect(Number(left)).toBeCloseTo(36 / 60_000, 9);
  });

  test("leased buckets reject a request when too many are waiting", async () => {
    const [node] = (await openNodes(t, manualClock(START), 1, 3)) as [Node];
    const verdicts = await Promise.all(Array.from({ length: 10 }, () => node.take("a", WIDE, 1)));
    expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, true, true, ...Array(6).fill(false)]);
    expect(verdicts[9]).toMatchObject({ retryAfterS: 1, refusedBy: "burst" });
  });
});

describeRedis("leased buckets without Redis for a while", (t) => {
  test("without Redis, leased buckets use the state of each node, and report the allowed requests when Redis is back and empty", async () => {
    const { clock, a, b } = await pair(t);
    expect(await a.spend(15, LIMITS)).toBe(15);
    await t.server.kill();
    expect(await a.spend(30)).toBe(5);
    expect(await b.spend(30)).toBe(20);
    expect(a.take("a", LIMITS, 1)).not.toBeInstanceOf(Promise);
    await t.server.start();
    await Promise.all([ready(a.redis), ready(b.redis)]);
    clock.set(START + 1_000);
    await a.spend(1);
    expect(await b.take("a", LIMITS, 0)).toMatchObject({ remaining: 60 - 20 - 1 - 20 });
  });

  test("with a silent Redis, leased buckets use the last known state, and no request waits twice", async () => {
    const { clock, a, b } = await pair(t);
    expect(await a.spend(5, WIDE)).toBe(5);
    const silent = b.redis.client;
    process.kill(t.server.pid(), "SIGSTOP");
    try {
      const waiting = Promise.resolve(b.take("a", WIDE, 2));
      await clock.advance(500);
      expect(await waiting).toMatchObject({ allowed: true, remaining: 598 });
      expect(b.take("a", WIDE, 2)).toMatchObject({ allowed: true, remaining: 596 });
      await vi.waitFor(() => expect(b.redis.client).not.toBe(silent));
    } finally {
      process.kill(t.server.pid(), "SIGCONT");
    }
    await ready(b.redis);
    await t.settled(b.redis);
    clock.set(clock.now() + 1_000);
    // The silent call reached Redis after all and counts too: rather too few requests pass than too many.
    const { remaining } = await b.take("a", WIDE, 0);
    expect(remaining).toBeLessThanOrEqual(600 - 5 - 4);
    expect(remaining).toBeGreaterThan(600 - 5 - 4 - 2 - 2 * 15 - 1);
  });
});
