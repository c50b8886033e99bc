import { setTimeout } from "node:timers/promises";
import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import { type Child, type Contestant, startChild, startProcess } from "./child";
import type { DialectName, OpenSockets, Received } from "./fanout-clients";
import { startFeeder } from "./fanout-feeder";
import type { Effort } from "./load";
import { startSpotwire } from "./product";
import { rounded } from "./spread";
import { comparedOf, type Row } from "./table";

const SOCKETS_COUNT = 1_000;
const TICKERS_COUNT = 40;
const TICKERS_EACH_COUNT = 10;
/** Ticks per second of each ticker: in quiet hours, and when news moves prices, where more messages wait for each write. */
const PER_SECOND = [5, 25] as const;
const WARM_UP_S = 1;
/** The shortest measurement: each client has some messages of each ticker. */
const MEASURE_MIN_S = 1.5;
/** A round of all takes ten seconds. */
const ROUNDS_MAX_COUNT = 2;
const US_PER_S = 1e6;

export const LISTINGS = LIVE_LISTINGS.slice(0, TICKERS_COUNT);

/** See fanout-rivals.ts. */
const RIVALS = [
  { kind: "ws", against: "`ws`", dialect: "raw" },
  { kind: "socketio", against: "Socket.IO", dialect: "socketio" },
] as const;
/** For each rate. */
const COST_TARGETS = [1.5, 0.6];
const LATE_TARGETS = [2, 1];

interface StreamServer {
  readonly server: Contestant;
  /** The key of its clients and its feeder. */
  readonly key: string;
  readonly dialect: DialectName;
}

/** What the clients saw in one round, and what it cost the server. */
interface Measured {
  /** Processor time of the server for each message that reached a client, µs. */
  readonly messageUs: number;
  readonly p99Ms: number;
}

/** A repeatable sequence of whole numbers below `end` (a linear congruential generator). */
function chances(seed: number): (end: number) => number {
  let state = seed;
  return (end) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
}

/** Some random tickers for each socket, identical in every run. */
export function audience(): string[][] {
  const chance = chances(1);
  return Array.from({ length: SOCKETS_COUNT }, () => {
    const left = LISTINGS.map(({ ticker }) => ticker);
    return Array.from({ length: TICKERS_EACH_COUNT }, () => left.splice(chance(left.length), 1)).flat();
  });
}

/** @throws Error when the server closed a socket */
async function receivedBy(clients: Child): Promise<Received> {
  const received = await clients.call<Received>("received");
  if (received.lost > 0) throw new Error(`the server closed ${received.lost} sockets`);
  return received;
}

/** Feeds a server for some seconds. */
async function feed({ server, key }: StreamServer, clients: Child, perSecond: number, seconds: number): Promise<Measured> {
  const feeder = startFeeder({ url: server.url, key, listings: LISTINGS, perSecond });
  try {
    await setTimeout(WARM_UP_S * 1_000);
    await receivedBy(clients);
    const before = server.cpuSeconds();
    await setTimeout(seconds * 1_000);
    const { messages, p99Ms } = await receivedBy(clients);
    return { messageUs: ((server.cpuSeconds() - before) * US_PER_S) / messages, p99Ms };
  } finally {
    await feeder.stop();
  }
}

/** Feeds a server at each rate. All contestants have the same clients, who stay on one while it is measured. */
async function measure(one: StreamServer, clients: Child, seconds: number): Promise<Measured[]> {
  const { server, key, dialect } = one;
  const opened: OpenSockets = { url: server.url, dialect, key, audience: audience() };
  await clients.call("open", opened);
  try {
    const measured: Measured[] = [];
    for (const perSecond of PER_SECOND) measured.push(await feed(one, clients, perSecond, seconds));
    return measured;
  } finally {
    await clients.call("close");
  }
}

/** Messages to a thousand sockets, and how late they come, against `ws` and Socket.IO. */
export async function benchFanout({ seconds, rounds }: Effort): Promise<Row[]> {
  const clients = startProcess("server/bench/fanout-clients.ts");
  const started: StreamServer[] = [];
  const rival = (kind: string) => startChild("server/bench/fanout-rivals.ts", {}, [kind]);
  try {
    const service = await startSpotwire({ LIVE_FEED: "push" });
    started.push({ server: service, key: service.liveKey, dialect: "raw" });
    for (const { kind, dialect } of RIVALS) started.push({ server: await rival(kind), key: "bench", dialect });
    const measured = started.map((): Measured[][] => []);
    // The first round warms up.
    for (let round = 0; round <= Math.min(rounds, ROUNDS_MAX_COUNT); round += 1)
      for (const [index, server] of started.entries()) {
        const one = await measure(server, clients, Math.max(seconds, MEASURE_MIN_S));
        if (round > 0) measured[index]?.push(one);
      }
    return PER_SECOND.flatMap((perSecond, rate) => {
      const of = (what: keyof Measured, index: number) =>
        (measured[index] ?? []).map((rates) => rates[rate]?.[what] ?? Number.NaN);
      const scene = `${rounded(SOCKETS_COUNT)} sockets × ${TICKERS_EACH_COUNT} of ${TICKERS_COUNT} tickers × ${perSecond}/s`;
      return RIVALS.flatMap(({ kind, against }, index): Row[] => [
        {
          id: `fanout-${kind}-${perSecond}`,
          what: `fan-out, ${scene}: µs of processor time a message`,
          against,
          target: COST_TARGETS[rate] ?? 1,
          bound: "at most",
          ...comparedOf(of("messageUs", 0), of("messageUs", index + 1)),
        },
        {
          id: `late-${kind}-${perSecond}`,
          what: "the same: tick to client, 99th percentile, ms",
          against,
          target: LATE_TARGETS[rate] ?? 1,
          bound: "at most",
          ...comparedOf(of("p99Ms", 0), of("p99Ms", index + 1)),
        },
      ]);
    });
  } finally {
    await Promise.all([clients, ...started.map(({ server }) => server)].map((child) => child.stop()));
  }
}
