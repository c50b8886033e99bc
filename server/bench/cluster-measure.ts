import type { Installation } from "./cluster-nodes";
import { startFeeder } from "./stream-feeder";
import { audienceOf, type Clients, seconds } from "./stream-load";
import { listingsOf } from "./stream-measure";

const WARM_UP_S = 1;

/** The load on an installation. */
export interface ClusterLoad {
  readonly tickers: number;
  /** Ticks per second of each ticker; 0: none. */
  readonly ticksPerSecond: number;
  /** Spread over the public addresses. */
  readonly clients: number;
  /** Tickers each client follows. */
  readonly each: number;
}

/** What the clients received, and the cost of each part. */
export interface ClusterMeasurement {
  readonly ticksPerSecond: number;
  readonly takenShare: number;
  readonly messagesPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Busy cores of each node, in the order of the nodes. */
  readonly cores: readonly number[];
  readonly redisCores: number;
  /** Bytes per second that Redis received and sent. */
  readonly redisIn: number;
  readonly redisOut: number;
}

interface Sample {
  readonly ms: number;
  readonly accepted: number;
  readonly cpu: readonly number[];
  readonly redis: { readonly cpu: number; readonly in: number; readonly out: number };
}

async function redisSample({ redis }: Installation): Promise<Sample["redis"]> {
  if (redis === undefined) return { cpu: 0, in: 0, out: 0 };
  const text = await redis.client.info();
  const figure = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(text)?.[1]);
  return {
    cpu: figure("used_cpu_user") + figure("used_cpu_sys"),
    in: figure("total_net_input_bytes"),
    out: figure("total_net_output_bytes"),
  };
}

/** Opens the clients of a load, an equal share at each public address. */
async function openClients({ doors, liveKey }: Installation, clients: Clients, load: ClusterLoad): Promise<void> {
  const tickers = listingsOf(load.tickers).map(({ ticker }) => ticker);
  const audience = audienceOf(tickers, load.clients, load.each);
  for (const [index, { url }] of doors.entries()) {
    const share = audience.filter((_, client) => client % doors.length === index);
    await clients.open({ url, key: liveKey, audience: share });
  }
}

/** Puts a load on an installation and measures for some seconds; clients connect to all public addresses. */
export async function measureCluster(
  installation: Installation,
  clients: Clients,
  load: ClusterLoad,
  forSeconds: number,
): Promise<ClusterMeasurement> {
  const { nodes, feedAt, liveKey } = installation;
  const listings = listingsOf(load.tickers);
  await openClients(installation, clients, load);
  const { url } = feedAt;
  const feeder =
    load.ticksPerSecond > 0 ? startFeeder({ url, key: liveKey, listings, perSecond: load.ticksPerSecond }) : undefined;
  const sample = async (): Promise<Sample> => ({
    redis: await redisSample(installation),
    ms: performance.now(),
    accepted: feeder?.accepted() ?? 0,
    cpu: nodes.map(({ server }) => server.cpuSeconds()),
  });
  try {
    await seconds(WARM_UP_S);
    await clients.received();
    const before = await sample();
    await seconds(forSeconds);
    const { messages, p50Ms, p99Ms } = await clients.received();
    const after = await sample();
    const elapsedS = (after.ms - before.ms) / 1000;
    const rate = (from: number, to: number) => (to - from) / elapsedS;
    const ticksPerSecond = rate(before.accepted, after.accepted);
    return {
      ticksPerSecond,
      takenShare: ticksPerSecond / (listings.length * load.ticksPerSecond),
      messagesPerSecond: messages / elapsedS,
      p50Ms,
      p99Ms,
      cores: after.cpu.map((cpu, index) => rate(before.cpu[index] ?? 0, cpu)),
      redisCores: rate(before.redis.cpu, after.redis.cpu),
      redisIn: rate(before.redis.in, after.redis.in),
      redisOut: rate(before.redis.out, after.redis.out),
    };
  } finally {
    await feeder?.stop();
    await clients.close();
  }
}
