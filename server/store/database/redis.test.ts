import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { proxyTo } from "#lib/testing/breakable-proxy";
import { collectingLog } from "#lib/testing/collecting-log";
import { reservePort } from "#lib/testing/ports";
import { describeRedis, ready } from "#server/testing/redis-nodes";
import { openRedis, type Redis } from "./redis";

const SOON = { interval: 5 };

function open(url: string, lines: Record<string, unknown>[] = []): Redis {
  const redis = openRedis({ url, prefix: "test", log: collectingLog(lines, "info") });
  onTestFinished(() => redis.close());
  return redis;
}

describeRedis("the connection to Redis", (nodes) => {
  test("the Redis connection notices a silent server, refuses commands meanwhile, and recovers when the server answers again", async () => {
    const redis = open(nodes.server.url);
    let readied = 0;
    redis.onReady(() => (readied += 1));
    await ready(redis);
    await redis.client.set("a", "1");
    expect(readied).toBe(1);
    const pid = nodes.server.pid();
    process.kill(pid, "SIGSTOP");
    onTestFinished(() => void process.kill(pid, "SIGCONT"));
    const underWay = expect(redis.client.get("a")).rejects.toThrow();
    await vi.waitUntil(() => !redis.connected(), SOON);
    await underWay;
    await expect(redis.client.get("a")).rejects.toThrow();
    process.kill(pid, "SIGCONT");
    await vi.waitUntil(() => readied === 2, SOON);
    expect(redis.connected()).toBe(true);
    expect(await redis.client.get("a")).toBe("1");
  });

  test("the Redis connection starts without a server, refuses commands at once, logs it once, and connects when a server appears", async () => {
    const lines: Record<string, unknown>[] = [];
    const door = await proxyTo(nodes.server.url);
    const redis = open(door.url, lines);
    let readied = 0;
    redis.onReady(() => (readied += 1));
    expect(redis.connected()).toBe(false);
    await expect(redis.client.ping()).rejects.toThrow();
    await vi.waitUntil(() => lines.length > 0, SOON);
    expect(readied).toBe(0);
    await door.open();
    await vi.waitUntil(() => readied === 1, SOON);
    expect(await redis.client.ping()).toBe("PONG");
    expect(lines.map(({ msg }) => msg)).toEqual(["Redis does not answer; reconnecting", "Redis is back"]);
  });

  test("a callback of the Redis connection runs each time it is ready, at once if it already is, and never after it was removed", async () => {
    const door = await proxyTo(nodes.server.url);
    await door.open();
    const redis = open(door.url);
    const calls = { kept: 0, ended: 0 };
    redis.onReady(() => (calls.kept += 1));
    await vi.waitUntil(() => calls.kept === 1, SOON);
    const end = redis.onReady(() => (calls.ended += 1));
    expect(calls).toEqual({ kept: 1, ended: 1 });
    end();
    for (const times of [2, 3]) {
      door.shut();
      await vi.waitUntil(() => !redis.connected(), SOON);
      await door.open();
      await vi.waitUntil(() => calls.kept === times, SOON);
    }
    expect(calls.ended).toBe(1);
  });

  test("the Redis connection does not wait forever for a server that accepts it and never greets it", async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      const first = sockets.push(socket) === 1;
      socket.on("error", () => undefined);
      if (first) return void socket.resume();
      const onward = connect(nodes.server.port, "127.0.0.1").on("error", () => undefined);
      socket.pipe(onward).pipe(socket);
      socket.on("close", () => onward.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
    const redis = open(`redis://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await vi.waitUntil(() => redis.connected(), SOON);
    expect(sockets.length).toBeGreaterThan(1);
  });

  test("a Redis command without an answer fails, even if the server answers others", async () => {
    const redis = open(nodes.server.url);
    await ready(redis);
    const another = redis.another();
    onTestFinished(() => void (another.isOpen && another.destroy()));
    await vi.waitUntil(() => another.isReady, SOON);
    await another.clientPause(20_000);
    onTestFinished(() => void nodes.server.kill().then(nodes.server.start));
    await expect(redis.client.get("a")).rejects.toThrow();
  });

  test("a closed Redis connection runs no commands and no callbacks, and does not reconnect", async () => {
    const door = await proxyTo(nodes.server.url);
    await door.open();
    const redis = open(door.url);
    await ready(redis);
    const probe = await nodes.open();
    const clients = async () => (await probe.client.clientList()).length;
    const before = await clients();
    let readied = 0;
    redis.onReady(() => (readied += 1));
    redis.close();
    expect(redis.connected()).toBe(false);
    await expect(redis.client.ping()).rejects.toThrow();
    await vi.waitUntil(async () => (await clients()) === before - 1, SOON);
    expect(readied).toBe(1);
  });

  test("a Redis connection that never connected can be closed, even twice", async () => {
    const redis = open(`redis://127.0.0.1:${await reservePort()}`);
    redis.close();
    expect(redis.connected()).toBe(false);
    await expect(redis.client.ping()).rejects.toThrow();
  });

  test("Redis keys of one group live on one node of a Redis cluster", async () => {
    const redis = open(nodes.server.url);
    expect([redis.key("live", "events"), redis.key("sandbox", "events")]).toEqual([
      "test:{live}:events",
      "test:{sandbox}:events",
    ]);
  });
});
