import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { openRedis, type Redis } from "#lib/redis";
import { collectingLog } from "#lib/testing/collecting-log";
import { ready, redisDescribe } from "#lib/testing/redis-nodes";
import { closedPort, proxyTo } from "./testing/breakable-proxy";

const SOON = { timeout: 15_000, interval: 5 };
/** A ping is due each half second and waited for a second and a half; the rest is a busy machine's. */
const NOTICED_MAX_MS = 3_000;
/** A command is given up after two seconds. */
const REFUSED_MAX_MS = 3_000;

function open(url: string, lines: Record<string, unknown>[] = []): Redis {
  const redis = openRedis({ url, prefix: "test", log: collectingLog(lines, "info") });
  onTestFinished(() => redis.close());
  return redis;
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const begunMs = performance.now();
  await work();
  return performance.now() - begunMs;
}

const withRedis = await redisDescribe();

withRedis("the connection to Redis", (nodes) => {
  test("notices a server that falls silent, refuses commands meanwhile, and is well when it speaks again", async () => {
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
    expect(await msOf(() => vi.waitUntil(() => !redis.connected(), SOON))).toBeLessThan(NOTICED_MAX_MS);
    await underWay;
    expect(await msOf(() => expect(redis.client.get("a")).rejects.toThrow())).toBeLessThan(100);
    process.kill(pid, "SIGCONT");
    await vi.waitUntil(() => readied === 2, SOON);
    expect(redis.connected()).toBe(true);
    expect(await redis.client.get("a")).toBe("1");
  });

  test("starts while there is no server, refuses at once, says so once, and connects when one comes", async () => {
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
    expect(lines.map(({ msg }) => msg)).toEqual(["Redis is unreachable; reconnecting", "Redis is back"]);
  });

  test("calls back each time it is there again, at once when it is, and no more after that was ended", async () => {
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

  test("does not wait for ever for a server that lets it in and never greets it", async () => {
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

  test("gives up a command that is not answered, though the server answers others", async () => {
    const redis = open(nodes.server.url);
    await ready(redis);
    const another = redis.another();
    onTestFinished(() => void (another.isOpen && another.destroy()));
    await vi.waitUntil(() => another.isReady, SOON);
    await another.clientPause(20_000);
    onTestFinished(() => void nodes.server.kill().then(nodes.server.start));
    expect(await msOf(() => expect(redis.client.get("a")).rejects.toThrow())).toBeLessThan(REFUSED_MAX_MS);
  });

  test("close ends it: nothing is asked, called back or connected any more", async () => {
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

  test("closing one that never connected ends it too, twice as well", async () => {
    const redis = open(`redis://127.0.0.1:${await closedPort()}`);
    redis.close();
    expect(redis.connected()).toBe(false);
    await expect(redis.client.ping()).rejects.toThrow();
  });

  test("names keys so that those of one group live on one node of a cluster", async () => {
    const redis = open(nodes.server.url);
    expect([redis.key("live", "events"), redis.key("sandbox", "events")]).toEqual([
      "{test:live}:events",
      "{test:sandbox}:events",
    ]);
  });
});
