import { describe, expect, test, vi } from "vitest";
import { type ManualClock, manualClock } from "#lib/clock";
import { collectingLog } from "#lib/testing/collecting-log";
import type { Redis } from "#server/store/database/redis";
import { describeRedis, type RedisNodes, ready } from "#server/testing/redis-nodes";
import { type Connections, createLocalConnections } from "./connections";
import { createSharedConnections } from "./shared-connections";

function connectionsSuite(open: () => Promise<Connections>): void {
  test("each owner has its own slots, and released slots are free again", async () => {
    const connections = await open();
    const places = [await connections.open("a", 2), await connections.open("a", 2), await connections.open("a", 2)];
    expect(places).toEqual([true, true, false]);
    expect(await connections.open("b", 2)).toBe(true);
    connections.close("a");
    expect([connections.count("a"), connections.count("b")]).toEqual([1, 1]);
    expect(await connections.open("a", 2)).toBe(true);
    expect(await connections.open("a", 1)).toBe(false);
  });

  test("an owner has room while fewer slots are taken than the limit, and asking takes none", async () => {
    const connections = await open();
    const room = async () => [await connections.hasRoom("a", 1), await connections.hasRoom("a", 2)];
    expect([await room(), await room()]).toEqual([
      [true, true],
      [true, true],
    ]);
    await connections.open("a", 2);
    expect([await room(), await room()]).toEqual([
      [false, true],
      [false, true],
    ]);
    connections.close("a");
    expect(await room()).toEqual([true, true]);
  });

  test("many handshakes at once get no more slots than the limit", async () => {
    const connections = await open();
    const opened = await Promise.all(Array.from({ length: 50 }, () => connections.open("a", 5)));
    expect(opened.filter(Boolean)).toHaveLength(5);
    expect(connections.count("a")).toBe(5);
    for (let index = 0; index < 5; index += 1) connections.close("a");
    expect(await Promise.all([connections.open("a", 1), connections.open("a", 1)])).toEqual([true, false]);
  });

  test("the count of an owner never falls below zero", async () => {
    const connections = await open();
    connections.close("a");
    connections.close("a");
    expect(connections.count("a")).toBe(0);
    expect([await connections.open("a", 1), await connections.open("a", 1)]).toEqual([true, false]);
  });
}

describe("the count of connections at one node", () => connectionsSuite(async () => createLocalConnections()));

/** A running node of an installation. */
async function start(t: RedisNodes, clock: ManualClock, prefix: string) {
  const redis = await t.open(prefix);
  const connections = createSharedConnections({ redis, clock, log: collectingLog([], "warn"), serverClock: clock });
  const stopping = new AbortController();
  const running = connections.run(stopping.signal);
  await t.settled(redis);
  const stop = () => {
    stopping.abort();
    return running;
  };
  return { ...connections, redis, stop, settled: () => t.settled(redis) };
}

describeRedis("the count of connections over several nodes", (t) => {
  const clock = manualClock(Date.UTC(2026, 0, 7));
  /** Lets seconds pass while the nodes send heartbeats and announce their counts. */
  async function pass(seconds: number, ...nodes: readonly { settled(): Promise<void> }[]): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      await clock.advance(1_000);
      for (let call = 0; call < 4; call += 1) await Promise.all(nodes.map((node) => node.settled()));
    }
  }
  connectionsSuite(async () =>
    createSharedConnections({ redis: await t.open(), clock, log: collectingLog([], "warn"), serverClock: clock }),
  );

  test("several nodes share one count, in whatever order slots are taken and released", async () => {
    const [a, b] = [await start(t, clock, "one"), await start(t, clock, "one")];
    const opened = await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 ? a : b).open("x", 5)));
    expect(opened.filter(Boolean)).toHaveLength(5);
    expect(a.count("x") + b.count("x")).toBe(5);
    expect([await a.hasRoom("x", 5), await b.hasRoom("x", 5), await b.hasRoom("x", 6)]).toEqual([false, false, true]);
    const [fuller, other] = a.count("x") > 0 ? [a, b] : [b, a];
    fuller.close("x");
    await fuller.settled();
    expect(await other.open("x", 5)).toBe(true);
    expect(await fuller.open("x", 5)).toBe(false);
    await Promise.all([a.stop(), b.stop()]);
  });

  test("the slots of a dead node are free within seconds, and those of a stopped node at once", async () => {
    const [a, b, c] = [await start(t, clock, "two"), await start(t, clock, "two"), await start(t, clock, "two")];
    expect([await a.open("x", 2), await b.open("x", 2), await c.open("x", 2)]).toEqual([true, true, false]);
    // Its heartbeats stop, as after kill -9.
    a.redis.close();
    expect(await c.open("x", 2)).toBe(false);
    b.close("x");
    await b.stop();
    expect([await c.open("x", 2), await c.open("x", 2)]).toEqual([true, false]);
    await pass(6, c);
    expect([await c.open("x", 2), await c.open("x", 2)]).toEqual([true, false]);
    await Promise.all([a.stop(), c.stop()]);
  });

  test("each node counts for itself while Redis is unavailable, and the count is complete again when Redis comes back empty", async () => {
    const [a, b] = [await start(t, clock, "three"), await start(t, clock, "three")];
    expect([await a.open("x", 2), await b.open("x", 2), await b.open("x", 2)]).toEqual([true, true, false]);
    await t.server.kill();
    await vi.waitFor(() => expect([a.redis.connected(), b.redis.connected()]).toEqual([false, false]));
    expect([await a.open("x", 2), await a.open("x", 2), await b.open("x", 2)]).toEqual([true, false, true]);
    expect([await a.hasRoom("x", 2), await b.hasRoom("x", 3)]).toEqual([false, true]);
    b.close("x");
    await t.server.start();
    await Promise.all([ready(a.redis), ready(b.redis)]);
    await pass(2, a, b);
    expect([await a.open("x", 4), await a.open("x", 4), await b.open("x", 4)]).toEqual([true, false, false]);
    await Promise.all([a.stop(), b.stop()]);
  });

  test("a release during a short disconnect is not lost, even when no heartbeat failed", async () => {
    const [a, b] = [await start(t, clock, "four"), await start(t, clock, "four")];
    expect([await a.open("x", 2), await b.open("x", 2)]).toEqual([true, true]);
    const cutOf = ({ client }: Redis) => new Promise<void>((resolve) => client.once("reconnecting", resolve));
    const cut = Promise.all([cutOf(a.redis).then(() => a.close("x")), cutOf(b.redis)]);
    const { client } = await t.open();
    await client.sendCommand(["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
    await cut;
    await Promise.all([ready(a.redis), ready(b.redis)]);
    await pass(6, a, b);
    expect([await b.open("x", 2), await b.open("x", 2)]).toEqual([true, false]);
    await Promise.all([a.stop(), b.stop()]);
  });
});
