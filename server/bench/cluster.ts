import { type ClusterLoad, type ClusterMeasurement, measureCluster } from "./cluster-measure";
import { type Installation, startAlone, startCluster, startStores } from "./cluster-nodes";
import { type Effort, load } from "./load";
import { type Clients, startClients } from "./stream-load";
import type { Row } from "./table";

const EDGES_COUNT = 2;
/** The other scenes take this share of the time of the first. */
const SIDE_SHARE = 0.6;
const QUOTES_PATH = "/api/v1/market/quotes/latest?tickers=EURUSD,XAUUSD";

const IDLE: ClusterLoad = { tickers: 48, ticksPerSecond: 0, clients: 0, each: 0 };
const UNSUBSCRIBED: ClusterLoad = { tickers: 48, ticksPerSecond: 20, clients: 0, each: 0 };
const CALM: ClusterLoad = { tickers: 40, ticksPerSecond: 10, clients: 400, each: 10 };
const BUSY: ClusterLoad = { tickers: 40, ticksPerSecond: 50, clients: 400, each: 10 };
const GROWTH = [1, 4, 16] as const;
const grownTickers = (times: number): ClusterLoad => ({ tickers: 3 * times, ticksPerSecond: 20, clients: 100, each: 3 });
const grownClients = (times: number): ClusterLoad => ({ tickers: 12, ticksPerSecond: 20, clients: 50 * times, each: 3 });

/** The results of an installation. */
interface Outcome {
  readonly rows: readonly Row[];
  /** CPU microseconds of the whole installation per tick without subscribers. */
  readonly tickUs: number;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

function described({ nodes, redis }: Installation, measurement: ClusterMeasurement): string {
  const { messagesPerSecond, p50Ms, p99Ms, takenShare, cores, redisCores } = measurement;
  const parts = nodes.map(({ name }, index) => `${name} ${cores[index]?.toFixed(2)}`);
  if (redis !== undefined) parts.push(`Redis ${redisCores.toFixed(2)}`);
  const perCpu = Math.round(messagesPerSecond / (sum(cores) + redisCores));
  const latency = `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
  const rates = `${Math.round(messagesPerSecond)} msg/s, ${perCpu} msg/CPU-s`;
  return `${rates}, ${latency}, ${Math.round(takenShare * 100)} % of ticks accepted, cores: ${parts.join(", ")}`;
}

const scene = ({ tickers, ticksPerSecond, clients, each }: ClusterLoad) =>
  `${clients} clients, ${each} of ${tickers} tickers, ${ticksPerSecond} ticks/s each`;

async function streams(installation: Installation, clients: Clients, seconds: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const offered of [CALM, BUSY]) {
    const measurement = await measureCluster(installation, clients, offered, seconds);
    rows.push({ what: `${installation.name}: ${scene(offered)}`, value: described(installation, measurement) });
  }
  return rows;
}

/** Measures the cost of a tick without subscribers, above the idle load of each process. */
async function perTick(installation: Installation, clients: Clients, seconds: number): Promise<Outcome> {
  const { name, nodes, redis } = installation;
  const idle = await measureCluster(installation, clients, IDLE, seconds);
  const loaded = await measureCluster(installation, clients, UNSUBSCRIBED, seconds);
  const us = (busy: number, quiet: number) => ((busy - quiet) / loaded.ticksPerSecond) * 1e6;
  const each = nodes.map((node, index) => ({ name: node.name, us: us(loaded.cores[index] ?? 0, idle.cores[index] ?? 0) }));
  if (redis !== undefined) each.push({ name: "Redis", us: us(loaded.redisCores, idle.redisCores) });
  const bytes = (busy: number, quiet: number) => Math.round((busy - quiet) / loaded.ticksPerSecond);
  const costs = each.map((part) => `${part.name} ${part.us.toFixed(0)} µs`).join(", ");
  const redisBytes = `; Redis ${bytes(loaded.redisIn, idle.redisIn)} B in, ${bytes(loaded.redisOut, idle.redisOut)} B out`;
  const value = `${costs}${redis === undefined ? "" : redisBytes}`;
  return {
    rows: [{ what: `${name}: CPU per pushed tick without subscribers`, value }],
    tickUs: sum(each.map((part) => part.us)),
  };
}

/** The same with ticks that an edge receives and forwards, if there are edges. */
async function throughAnEdge(installation: Installation, clients: Clients, seconds: number): Promise<readonly Row[]> {
  const [feedAt] = installation.doors;
  if (installation.redis === undefined || feedAt === undefined) return [];
  return (await perTick({ ...installation, name: `${installation.name}, pushed to edge 1`, feedAt }, clients, seconds)).rows;
}

async function rest({ name, doors, testKey }: Installation, seconds: number): Promise<Row> {
  const headers = { authorization: `Bearer ${testKey}` };
  const loads = await Promise.all(doors.map((door) => load({ server: door, path: QUOTES_PATH, headers, status: 200 }, seconds)));
  const perSecond = sum(loads.map((each) => each.perSecond));
  const cpu = sum(loads.map((each) => each.perSecond / each.perCpuSecond));
  const p99 = Math.max(...loads.map(({ p99Ms }) => p99Ms));
  const value = `${Math.round(perSecond)} req/s, ${Math.round(perSecond / cpu)} req/CPU-s, p99 ${p99} ms`;
  return { what: `${name}: quotes/latest at ${doors.length === 1 ? "its node" : "all edges at once"}`, value };
}

async function growth(installation: Installation, clients: Clients, seconds: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [what, grown] of [
    ["tickers", grownTickers],
    ["clients", grownClients],
  ] as const)
    for (const times of GROWTH) {
      const offered = grown(times);
      const measurement = await measureCluster(installation, clients, offered, seconds);
      rows.push({ what: `${what} ×${times}: ${scene(offered)}`, value: described(installation, measurement) });
    }
  return rows;
}

async function measure(installation: Installation, clients: Clients, seconds: number): Promise<Outcome> {
  const { rows, tickUs } = await perTick(installation, clients, seconds * SIDE_SHARE);
  const handedOn = await throughAnEdge(installation, clients, seconds * SIDE_SHARE);
  const streamed = await streams(installation, clients, seconds);
  const asked = await rest(installation, seconds * SIDE_SHARE);
  const grown = installation.redis ? await growth(installation, clients, seconds * SIDE_SHARE) : [];
  return { rows: [...rows, ...handedOn, ...streamed, asked, ...grown], tickUs };
}

/**
 * Compares two edges and an ingest node with a single process, under the same load on the same machine. It decides when a second
 * node pays, and gives the simulation its costs; no other bench has several nodes.
 */
export async function benchCluster({ seconds }: Effort): Promise<Row[]> {
  const stores = await startStores();
  if (stores === undefined) return [{ what: "cluster", value: "skipped: neither valkey-server nor redis-server is installed" }];
  const clients = startClients();
  try {
    const outcomes: Outcome[] = [];
    for (const start of [startAlone, (given: typeof stores) => startCluster(given, EDGES_COUNT)]) {
      const installation = await start(stores);
      try {
        outcomes.push(await measure(installation, clients, seconds));
      } finally {
        await installation.stop();
      }
    }
    const [alone, cluster] = outcomes;
    const value = `${((cluster?.tickUs ?? Number.NaN) - (alone?.tickUs ?? Number.NaN)).toFixed(0)} µs of CPU per tick, all parts together`;
    return [...outcomes.flatMap(({ rows }) => rows), { what: "overhead of the bus", value }];
  } finally {
    await clients.stop();
    await stores.stop();
  }
}
