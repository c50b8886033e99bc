import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "#lib/clock";
import type { Database } from "#lib/db";
import { readEnv } from "#lib/env";
import { createLog } from "#lib/log";
import { openRedis, type Redis } from "#lib/redis";
import { acquireDatabase } from "#server/database/database";
import type { Contestant } from "./child";
import { freePort, startOwnRedis } from "./cluster-redis";
import { startSpotwire } from "./product";

const PREFIX = "bench";

/** The stores that the nodes of a bench share. */
interface Stores {
  readonly db: Database;
  readonly redis: Redis;
  /** Environment of every node with these stores; without Redis, of a single node. */
  readonly alone: Readonly<Record<string, string>>;
  readonly shared: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** A process of an installation. */
interface Node {
  readonly name: string;
  readonly server: Contestant;
}

/** An installation of one process or of several. */
export interface Installation {
  readonly name: string;
  readonly nodes: readonly Node[];
  /** Where clients connect. */
  readonly doors: readonly Contestant[];
  /** Where ticks are pushed: the node that produces the events, so that no tick is forwarded. */
  readonly feedAt: Contestant;
  readonly liveKey: string;
  readonly testKey: string;
  /** The Redis of its nodes; undefined for a single node. */
  readonly redis: Redis | undefined;
  stop(): Promise<void>;
}

/** Starts an empty PostgreSQL and an empty Redis; undefined when no Redis is installed. */
export async function startStores(): Promise<Stores | undefined> {
  const server = await startOwnRedis();
  if (server === undefined) return undefined;
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  const log = createLog("error");
  const { db, release } = await acquireDatabase(readEnv({ DATA_DIR: folder, LOG_LEVEL: "error" }), log, systemClock);
  const redis = openRedis({ url: server.url, prefix: PREFIX, log });
  await new Promise<void>((resolve) => void redis.onReady(resolve));
  const alone = {
    DATABASE_URL: String(db.pool.options.connectionString),
    NEXTAUTH_SECRET: randomBytes(32).toString("hex"),
    LIVE_FEED: "push",
  };
  return {
    db,
    redis,
    alone,
    shared: { ...alone, REDIS_URL: server.url, REDIS_PREFIX: PREFIX },
    async stop() {
      redis.close();
      await release();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts one process that does everything. */
export async function startAlone({ alone }: Stores): Promise<Installation> {
  const server = await startSpotwire(alone);
  const { liveKey, testKey, stop } = server;
  const nodes = [{ name: "all", server }];
  return { name: "one process", nodes, doors: [server], feedAt: server, liveKey, testKey, redis: undefined, stop };
}

/** Starts a node with a role, reachable for the others. */
async function startNode({ shared }: Stores, role: "ingest" | "edge"): ReturnType<typeof startSpotwire> {
  const port = await freePort();
  return startSpotwire({ ...shared, ROLE: role, PORT: `${port}`, NODE_URL: `http://127.0.0.1:${port}` });
}

/** Starts an ingest node and this many edges, one after the other. */
export async function startCluster(stores: Stores, edgesCount: number): Promise<Installation> {
  const ingest = await startNode(stores, "ingest");
  const nodes: Node[] = [{ name: "ingest", server: ingest }];
  const doors: Contestant[] = [];
  try {
    for (let edge = 1; edge <= edgesCount; edge += 1) {
      const server = await startNode(stores, "edge");
      nodes.push({ name: `edge ${edge}`, server });
      doors.push(server);
    }
  } catch (error) {
    await Promise.all(nodes.map(({ server }) => server.stop()));
    throw error;
  }
  return {
    name: `one ingest, ${edgesCount} edges`,
    nodes,
    doors,
    feedAt: ingest,
    liveKey: ingest.liveKey,
    testKey: ingest.testKey,
    redis: stores.redis,
    async stop() {
      await Promise.all(nodes.map(({ server }) => server.stop()));
    },
  };
}
