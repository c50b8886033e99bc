import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe } from "vitest";
import { collectingLog } from "#lib/testing/collecting-log";
import { findRedis, type RedisServer, startRedis } from "#lib/testing/redis-server";
import { openRedis, type Redis } from "#server/store/database/redis";

/** Nodes of one test that share a Redis server. */
export interface RedisNodes {
  readonly server: RedisServer;
  /** A ready connection; nodes of one test that share data use the same prefix. It is closed after the test. */
  open(prefix?: string): Promise<Redis>;
  /** Resolves when everything sent over these connections so far has been answered and processed. */
  settled(...nodes: readonly Redis[]): Promise<void>;
  /** Number of shared scripts the server has run so far. */
  scripts(): Promise<number>;
}

/** Resolves when the connection is ready. */
export function ready(redis: Redis): Promise<void> {
  return new Promise((resolve) => {
    const end = redis.onReady(() => setImmediate(() => resolve(end())));
  });
}

function nodesOn(program: string | undefined): RedisNodes {
  let server: RedisServer | undefined;
  let opened: Redis[] = [];
  beforeAll(async () => {
    if (program !== undefined) server = await startRedis(program);
  });
  afterEach(() => {
    for (const redis of opened) redis.close();
    opened = [];
  });
  afterAll(() => server?.stop());

  function running(): RedisServer {
    if (server === undefined) throw new Error("Redis runs from beforeAll on");
    return server;
  }
  async function open(prefix: string = randomUUID()): Promise<Redis> {
    const redis = openRedis({ url: running().url, prefix, log: collectingLog([], "warn") });
    opened.push(redis);
    await ready(redis);
    return redis;
  }
  return {
    get server() {
      return running();
    },
    open,
    async settled(...nodes) {
      await Promise.all(nodes.map(({ client }) => client.ping()));
      await new Promise((resolve) => setImmediate(resolve));
    },
    async scripts() {
      const { client } = await open();
      const stats = await client.info("commandstats");
      return [...stats.matchAll(/cmdstat_evalsha:calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0);
    },
  };
}

/** `describe` for tests with their own Redis server, which runs from `beforeAll` on. Where there is no server, they are skipped. */
export function describeRedis(name: string, body: (nodes: RedisNodes) => void): void {
  const program = findRedis();
  describe.skipIf(program === undefined)(name, () => body(nodesOn(program)));
}
