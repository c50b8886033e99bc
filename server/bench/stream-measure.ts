import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import type { Listing } from "#lib/domain/instrument";
import type { Contestant } from "./child";
import { startChild } from "./child";
import { startSpotwire } from "./quotes";
import type { DialectName } from "./stream-dialect";
import { startFeeder } from "./stream-feeder";
import { type Clients, seconds } from "./stream-load";

const WARM_UP_S = 1;

/** A stream server and its protocol. */
export interface StreamContestant {
  readonly name: string;
  readonly server: Contestant;
  readonly dialect: DialectName;
  /** The results of its clients and its feeder. */
  readonly key: string;
}

/** One measurement: what the clients saw and what it cost the server. */
export interface StreamMeasurement {
  readonly messagesPerSecond: number;
  /** Messages that reached a client per CPU-second of the serving process, which the benches compare. */
  readonly messagesPerCpuSecond: number;
  /** Of a message's frame. */
  readonly bytesPerMessage: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Share of the offered ticks that the server accepted. */
  readonly takenShare: number;
  /** Records merged into newer ones; 0 for servers that do not merge. */
  readonly merged: number;
  /** Busy cores of the server and the clients. */
  readonly serverCores: number;
  readonly clientCores: number;
}

/** The first `count` live instruments. */
export function listingsOf(count: number): readonly Listing[] {
  return LIVE_LISTINGS.slice(0, count);
}

/** Starts Spotwire with pushed ticks on the live venue, over the raw WebSocket. */
export async function startStreamSpotwire(dialect: "raw" | "msgpack" = "raw"): Promise<StreamContestant> {
  const server = await startSpotwire("counted", { LIVE_FEED: "push" });
  return { name: "Spotwire, all guards", server, dialect, key: server.liveKey };
}

const RIVALS = {
  ws: { name: "plain ws loop", dialect: "raw" },
  deflate: { name: "ws, permessage-deflate", dialect: "deflate" },
  "deflate-alone": { name: "ws, permessage-deflate without context", dialect: "deflate" },
  "socket.io": { name: "Socket.IO room emits", dialect: "socket.io" },
} as const;
type RivalKind = keyof typeof RIVALS;

/** Starts one of the rivals (see stream-rival.ts). */
export async function startRival(kind: RivalKind): Promise<StreamContestant> {
  const server = await startChild("server/bench/stream-rival.ts", {}, [kind]);
  return { ...RIVALS[kind], server, key: "bench" };
}

/** Records that Spotwire has merged since it started, for all its connections; 0 for a rival, which does not merge. */
export async function mergedOf({ server, key }: StreamContestant): Promise<number> {
  if (!key.startsWith("sw_")) return 0;
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/^spotwire_stream_merged_total (\d+)/m.exec(text)?.[1] ?? Number.NaN);
}

interface Load {
  readonly clients: Clients;
  readonly listings: readonly Listing[];
  /** Ticks per second of each instrument. */
  readonly perSecond: number;
  readonly seconds: number;
}

/** Feeds a contestant whose clients are open and measures for some seconds. */
export async function measureStream(contestant: StreamContestant, load: Load): Promise<StreamMeasurement> {
  const { server, key } = contestant;
  const feeder = startFeeder({ url: server.url, key, listings: load.listings, perSecond: load.perSecond });
  try {
    await seconds(WARM_UP_S);
    const mergedBefore = await mergedOf(contestant);
    const sample = () => ({
      cpu: server.cpuSeconds(),
      clientCpu: load.clients.cpuSeconds(),
      accepted: feeder.accepted(),
      ms: performance.now(),
    });
    await load.clients.received();
    const before = sample();
    await seconds(load.seconds);
    const received = await load.clients.received();
    const after = sample();
    const elapsedS = (after.ms - before.ms) / 1000;
    return {
      messagesPerSecond: received.messages / elapsedS,
      messagesPerCpuSecond: received.messages / (after.cpu - before.cpu),
      bytesPerMessage: received.bytes / received.messages,
      p50Ms: received.p50Ms,
      p99Ms: received.p99Ms,
      takenShare: (after.accepted - before.accepted) / (load.listings.length * load.perSecond * elapsedS),
      merged: (await mergedOf(contestant)) - mergedBefore,
      serverCores: (after.cpu - before.cpu) / elapsedS,
      clientCores: (after.clientCpu - before.clientCpu) / elapsedS,
    };
  } finally {
    await feeder.stop();
  }
}

/** A measurement as text for the table. */
export function described(measurement: StreamMeasurement): string {
  const { messagesPerSecond, messagesPerCpuSecond, p50Ms, p99Ms, takenShare, merged, serverCores, clientCores } = measurement;
  const rates = `${Math.round(messagesPerSecond)} msg/s, ${Math.round(messagesPerCpuSecond)} msg/CPU-s`;
  const latency = `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
  const cores = `cores: server ${serverCores.toFixed(2)}, clients ${clientCores.toFixed(2)}`;
  return `${rates}, ${latency}, ${Math.round(takenShare * 100)} % of ticks accepted, ${merged} merged, ${cores}`;
}
