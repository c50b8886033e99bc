import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import type { Listing } from "#lib/domain/instrument";
import { type Contestant, startChild } from "./child";
import { startSpotwire } from "./product";
import type { DialectName } from "./stream-dialect";
import { startFeeder } from "./stream-feeder";
import { type Clients, seconds } from "./stream-load";

const WARM_UP_S = 1;

/** A stream server. */
export interface StreamContestant {
  readonly server: Contestant;
  /** The key of its clients and its feeder. */
  readonly key: string;
  /** How its clients talk to it; in JSON by default. */
  readonly dialect?: DialectName;
}

/** One measurement: what the clients saw and what it cost the server. */
export interface StreamMeasurement {
  /** Processor time of the server for each message that reached a client, µs. */
  readonly messageUs: number;
  /** Of a message's frame. */
  readonly messageBytes: number;
  readonly p99Ms: number;
  /** The share of the offered ticks that it took; less than 1 where the machine has no time left. */
  readonly takenShare: number;
}

/** The first `count` live instruments. */
export function listingsOf(count: number): readonly Listing[] {
  return LIVE_LISTINGS.slice(0, count);
}

/** Starts Spotwire with pushed ticks on the live venue. */
export async function startStreamSpotwire(dialect: "raw" | "msgpack" = "raw"): Promise<StreamContestant> {
  const server = await startSpotwire({ LIVE_FEED: "push" });
  return { server, key: server.liveKey, dialect };
}

/** Starts the anchor (see stream-anchor.ts). */
export async function startStreamAnchor(): Promise<StreamContestant> {
  return { server: await startChild("server/bench/stream-anchor.ts"), key: "bench" };
}

interface Load {
  readonly clients: Clients;
  readonly listings: readonly Listing[];
  /** Ticks per second of each instrument. */
  readonly perSecond: number;
  readonly seconds: number;
}

/** Feeds a contestant whose clients are open and measures for some seconds. */
export async function measureStream({ server, key }: StreamContestant, load: Load): Promise<StreamMeasurement> {
  const feeder = startFeeder({ url: server.url, key, listings: load.listings, perSecond: load.perSecond });
  try {
    await seconds(WARM_UP_S);
    await load.clients.received();
    const before = { cpu: server.cpuSeconds(), accepted: feeder.accepted(), ms: performance.now() };
    await seconds(load.seconds);
    const { messages, bytes, p99Ms } = await load.clients.received();
    const cpu = server.cpuSeconds() - before.cpu;
    const elapsedS = (performance.now() - before.ms) / 1000;
    const takenShare = (feeder.accepted() - before.accepted) / (load.listings.length * load.perSecond * elapsedS);
    return { messageUs: (cpu * 1e6) / messages, messageBytes: bytes / messages, p99Ms, takenShare };
  } finally {
    await feeder.stop();
  }
}
