import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { type BreakableProxy, makeProxy } from "#lib/testing/breakable-proxy";
import { reservePort } from "#lib/testing/ports";
import { type RedisServer, startRedis } from "#lib/testing/redis-server";
import { type BreakablePostgres, startBreakablePostgres } from "#server/testing/breakable-postgres";
import { makeKey, runCommand } from "../commands";
import { OPEN_TICKER, STALE_AFTER_S } from "./market";
import { MEASURED } from "./memory";
import { createNode, type Node, type Role } from "./node";

const NODES: readonly (readonly [name: string, role: Role])[] = [
  ["edge 1", "edge"],
  ["ingest 1", "ingest"],
  ["edge 2", "edge"],
  ["ingest 2", "ingest"],
];
const SECRET = "of the cluster that is broken on purpose";
/** Connections of an account that allows as many as a test opens. */
const MANY = 5_000;

/** The keys of the cluster, by purpose. */
type Keys = Readonly<Record<"ingest" | "read" | "crowd" | "flood", string>>;

/** Two edges and two ingest nodes on PostgreSQL and Redis; each node has its own proxies to both. */
export interface Cluster {
  readonly nodes: readonly Node[];
  readonly edges: readonly [Node, Node];
  readonly postgres: BreakablePostgres;
  readonly redis: RedisServer;
  readonly keys: Keys;
  doors(node: Node): { readonly postgres: BreakableProxy; readonly redis: BreakableProxy };
  /** Starts PostgreSQL again, on whatever port it gets. */
  restartPostgres(): Promise<void>;
  /** The node that holds the live venue's lease; undefined while no running node does. */
  leader(): Promise<Node | undefined>;
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  dispose(): Promise<void>;
}

/** Stream connections per account of each plan: enough for every client of a test, except in the flood. */
const PLANS = `UPDATE plan SET stream_connections = CASE name WHEN 'pro' THEN ${MANY} ELSE 5 END,
  rest_per_minute = 60000, rest_burst = 60000`;

async function makeKeys(operated: Parameters<typeof makeKey>[0]): Promise<Keys> {
  const make = async (scopes: string, account: string, plan = "pro") =>
    (await makeKey(operated, { venue: "live", scopes, account, plan })).text;
  const both = "market:read,market:stream";
  const [ingest, read, crowd, flood] = await Promise.all([
    make("market:ingest", "feeder"),
    make(both, "reader"),
    make(both, "crowd"),
    make(both, "flood", "free"),
  ]);
  return { ingest, read, crowd, flood };
}

/** Creates what the cases need: keys, generous plans, a ticker whose market is always open. */
async function furnish(operated: Parameters<typeof makeKey>[0], query: Cluster["query"]): Promise<Keys> {
  const keys = await makeKeys(operated);
  await query(PLANS);
  const ticker = ["add", OPEN_TICKER, "--asset-class", "metals", "--digits", "5", "--base", "XFT", "--quote", "USD"];
  const settings = ["--pip-size", "0.0001", "--calendar", "none", "--stale-after", `${STALE_AFTER_S}`];
  const { exitCode, output } = await runCommand(operated, "instruments", [...ticker, ...settings]);
  if (exitCode !== 0) throw new Error(output);
  return keys;
}

/** Starts everything; `program` is the result of findRedis, `dataDir` is where PostgreSQL stores its data. */
export async function startCluster(program: string, dataDir?: string): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), "spotwire-faults-"));
  await chmod(folder, 0o755);
  const home = dataDir ?? join(folder, "database");
  await mkdir(home, { recursive: true });
  const [postgres, redis] = await Promise.all([startBreakablePostgres(home), startRedis(program)]);

  const doors = new Map<Node, { postgres: BreakableProxy; redis: BreakableProxy }>();
  for (const [name, role] of NODES) {
    const through = { postgres: await makeProxy(postgres.url()), redis: await makeProxy(redis.url) };
    await Promise.all([through.postgres.open(), through.redis.open()]);
    const variables = { ...MEASURED, DATABASE_URL: through.postgres.url, REDIS_URL: through.redis.url, NEXTAUTH_SECRET: SECRET };
    doors.set(createNode({ name, role, port: await reservePort(), variables }), through);
  }
  const nodes = [...doors.keys()];
  const edges = nodes.filter(({ role }) => role === "edge") as [Node, Node];

  async function query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const client = new pg.Client({ connectionString: postgres.url() });
    // PostgreSQL may end between two answers; the query below rejects then. Without a listener the whole run would fail.
    client.on("error", () => undefined);
    await client.connect();
    try {
      return (await client.query<Row>(text, [...values])).rows;
    } finally {
      await client.end();
    }
  }

  async function dispose(): Promise<void> {
    for (const node of nodes) if (node.running()) node.resume();
    await Promise.all(nodes.map((node) => node.dispose()));
    for (const { postgres: one, redis: other } of doors.values()) {
      one.shut();
      other.shut();
    }
    await Promise.all([postgres.stop(), redis.stop()]);
    await rm(folder, { recursive: true, force: true });
  }

  const started = await Promise.allSettled(nodes.map((node) => node.start()));
  const failed = started.find((one) => one.status === "rejected");
  if (failed !== undefined) {
    await dispose();
    throw failed.reason;
  }
  const operated = { dataDir: folder, variables: { DATABASE_URL: postgres.url(), REDIS_URL: redis.url } };
  const keys = await furnish(operated, query);
  return {
    nodes,
    edges,
    postgres,
    redis,
    keys,
    doors: (node) => doors.get(node) as { postgres: BreakableProxy; redis: BreakableProxy },
    async restartPostgres() {
      await postgres.start();
      for (const { postgres: door } of doors.values()) door.leadTo(postgres.url());
    },
    async leader() {
      const [row] = await query<{ holder: string | null }>("SELECT holder FROM venue_lease WHERE venue = 'live'");
      return nodes.find((node) => node.url === row?.holder && node.running());
    },
    query,
    dispose,
  };
}
