import type { Target } from "./options";
import type { Result } from "./simulation";

/** How busy a node's core may be on average: the rest is for bursts, REST, and clients of a failed node. */
export const CORE_LOAD_MAX = 0.6;
/** Nodes besides the edges that read all events: the one that produces them, and its standby. */
const INGEST_NODES_COUNT = 2;

/** What the target connections need, if each behaves like a simulated client that keeps up. */
export interface Sizing {
  readonly messagesPerSecond: number;
  readonly messageUs: number;
  /** Share of a core that an edge spends on following the events, before it has a client. */
  readonly followLoad: number;
  /** Clients that the rest of an edge's core can serve. 0: one core cannot even follow the events. */
  readonly clientsPerEdge: number;
  readonly edges: number;
  /** Share of a core for producing and sending the events. */
  readonly ingestLoad: number;
  /** Ticks per second, over all tickers, at which the ingest node's core reaches its allowed load. */
  readonly ticksPerSecondMax: number;
  readonly memoryPerEdgeBytes: number;
  readonly networkPerEdgeBytesPerSecond: number;
  readonly networkBytesPerSecond: number;
  readonly redisInBytesPerSecond: number;
  readonly redisOutBytesPerSecond: number;
  /** Batches that Redis delivers to nodes. */
  readonly redisReadsPerSecond: number;
}

/** Sizes an installation from a simulation; bytes are those of frames, without the overhead of TCP. */
export function sizeFor({ scene, counts, costs }: Result, target: Target): Sizing {
  const ticksPerSecond = scene.tickers * scene.ticksPerSecond;
  const perClient = scene.subscriptions * scene.ticksPerSecond;
  const messageUs = target.messageUs ?? costs.fanoutUs / counts.messages;
  const decoded = counts.ticks * scene.edges;
  const followUs = target.followUs ?? (costs.decodeUs + costs.followUs) / decoded;
  const followLoad = (ticksPerSecond * followUs) / 1e6;
  const room = CORE_LOAD_MAX - followLoad;
  const clientsPerEdge = Math.max(0, Math.floor((room * 1e6) / (perClient * messageUs)));
  const edges = clientsPerEdge === 0 ? Number.NaN : Math.ceil(target.connections / clientsPerEdge);
  // The ingest node reads its own batches back, like every node.
  const tickUs = (costs.engineUs + costs.encodeUs) / counts.ticks + followUs;
  const messageBytes = counts.clientBytes / counts.messages;
  const messagesPerSecond = target.connections * perClient;
  const clientBytes = target.connectionBytes ?? costs.bytesPerClient;
  return {
    messagesPerSecond,
    messageUs,
    followLoad,
    clientsPerEdge,
    edges,
    ingestLoad: (ticksPerSecond * tickUs) / 1e6,
    ticksPerSecondMax: (CORE_LOAD_MAX * 1e6) / tickUs,
    memoryPerEdgeBytes: (target.connections / edges) * clientBytes + scene.tickers * costs.bytesPerTicker,
    networkPerEdgeBytesPerSecond: (messagesPerSecond * messageBytes) / edges,
    networkBytesPerSecond: messagesPerSecond * messageBytes,
    redisInBytesPerSecond: (counts.busBytes + counts.stateBytes) / scene.seconds,
    redisReadsPerSecond: (counts.batches / scene.seconds) * (edges + INGEST_NODES_COUNT),
    redisOutBytesPerSecond: (counts.busBytes / scene.seconds) * (edges + INGEST_NODES_COUNT),
  };
}
