import { setTimeout } from "node:timers/promises";
import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import { type Child, type Contestant, startChild, startProcess } from "./child";
import type { DialectName, OpenSockets, Received } from "./fanout-clients";
import { startFeeder } from "./fanout-feeder";
import type { Effort } from "./load";
import { startSpotwire } from "./product";
import { quantile, rounded } from "./spread";
import { comparedOf, type Row, row } from "./table";

const SOCKETS_COUNT = 1_000;
const TICKERS_COUNT = 40;
const TICKERS_EACH_COUNT = 10;
const WARM_UP_S = 1;
/** The shortest measurement: each client has some messages of each ticker. */
const MEASURE_MIN_S = 1.5;
/** A round of all takes ten seconds. */
const ROUNDS_MAX_COUNT = 2;
const US_PER_S = 1e6;

export const LISTINGS = LIVE_LISTINGS.slice(0, TICKERS_COUNT);

/** Ticks per second of each ticker: in quiet hours, when news moves prices, and as many as a core can send. */
const [QUIET, NEWS, FULL] = [5, 25, 50];

/** See fanout-rivals.ts. */
const RIVALS = [
  { kind: "ws", against: "`ws`", dialect: "raw", rates: [QUIET, NEWS] },
  { kind: "socketio", against: "Socket.IO", dialect: "socketio", rates: [QUIET, NEWS] },
  { kind: "sockets", against: "bare sockets", dialect: "raw", rates: [FULL] },
] as const;

/** A figure of a scene, and the ratio to reach at each rate. */
interface Figure {
  readonly id: string;
  readonly of: keyof Measured;
  readonly what: string;
  readonly bound: Row["bound"];
  readonly targets: Readonly<Record<number, number>>;
}

const FIGURES: readonly Figure[] = [
  {
    id: "fanout",
    of: "messageUs",
    what: "µs of processor time a message",
    bound: "at most",
    targets: { [QUIET]: 1.5, [NEWS]: 0.6, [FULL]: 1.1 },
  },
  { id: "late", of: "p99Ms", what: "tick to client, 99th percentile, ms", bound: "at most", targets: { [QUIET]: 2, [NEWS]: 1 } },
  {
    id: "taken",
    of: "takenShare",
    what: "share of the ticks that was taken in time",
    bound: "at least",
    targets: { [FULL]: 0.98 },
  },
  { id: "answered", of: "answeredMs", what: "push to its answer, median, ms", bound: "at most", targets: { [FULL]: 1.1 } },
  {
    id: "answered-late",
    of: "answeredP99Ms",
    what: "push to its answer, 99th percentile, ms",
    bound: "at most",
    targets: { [FULL]: 1.1 },
  },
];

interface StreamServer {
  readonly server: Contestant;
  /** The key of its clients and its feeder. */
  readonly key: string;
  readonly dialect: DialectName;
  readonly rates: readonly number[];
}

/** What the clients saw in one round, and what it cost the server. */
interface Measured {
  /** Processor time of the server for each message that reached a client, µs. */
  readonly messageUs: number;
  readonly p99Ms: number;
  /** Of the ticks that the feeder should have sent: it skips those of tickers whose last push is not answered. */
  readonly takenShare: number;
  readonly answeredMs: number;
  readonly answeredP99Ms: number;
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
    feeder.acknowledged();
    const [startS, startMs] = [server.cpuSeconds(), performance.now()];
    await setTimeout(seconds * 1_000);
    const { ticks, pushesMs } = feeder.acknowledged();
    const dueTicks = (LISTINGS.length * perSecond * (performance.now() - startMs)) / 1_000;
    const { messages, p99Ms } = await receivedBy(clients);
    const cpuS = server.cpuSeconds() - startS;
    const sorted = [...pushesMs].sort((a, b) => a - b);
    return {
      messageUs: (cpuS * US_PER_S) / messages,
      p99Ms,
      takenShare: ticks / dueTicks,
      answeredMs: quantile(sorted, 0.5),
      answeredP99Ms: quantile(sorted, 0.99),
    };
  } finally {
    await feeder.stop();
  }
}

/** Feeds a server at some rates. All contestants have the same clients, who stay on one while it is measured. */
async function measure(one: StreamServer, clients: Child, seconds: number): Promise<Map<number, Measured>> {
  const { server, key, dialect, rates } = one;
  const opened: OpenSockets = { url: server.url, dialect, key, audience: audience() };
  await clients.call("open", opened);
  try {
    const measured = new Map<number, Measured>();
    for (const perSecond of rates) measured.set(perSecond, await feed(one, clients, perSecond, seconds));
    return measured;
  } finally {
    await clients.call("close");
  }
}

/** Measures fan-out to a thousand sockets: the cost and latency of a message, and the latency of pushes under this load. */
export async function benchFanout({ seconds, rounds }: Effort): Promise<Row[]> {
  const clients = startProcess("server/bench/fanout-clients.ts");
  const started: StreamServer[] = [];
  try {
    const service = await startSpotwire({ LIVE_FEED: "push" });
    started.push({ server: service, key: service.liveKey, dialect: "raw", rates: [QUIET, NEWS, FULL] });
    for (const { kind, dialect, rates } of RIVALS)
      started.push({ server: await startChild("server/bench/fanout-rivals.ts", {}, [kind]), key: "bench", dialect, rates });
    const measured = started.map((): Map<number, Measured>[] => []);
    // The first round warms up.
    for (let round = 0; round <= Math.min(rounds, ROUNDS_MAX_COUNT); round += 1)
      for (const [index, server] of started.entries()) {
        const one = await measure(server, clients, Math.max(seconds, MEASURE_MIN_S));
        if (round > 0) measured[index]?.push(one);
      }
    return RIVALS.flatMap(({ kind, against, rates }, index) =>
      rates.flatMap((perSecond) => {
        const scene = `${rounded(SOCKETS_COUNT)} sockets × ${TICKERS_EACH_COUNT} of ${TICKERS_COUNT} tickers × ${perSecond}/s`;
        const figures = FIGURES.filter(({ targets }) => targets[perSecond] !== undefined);
        return figures.map(({ id, of, what, bound, targets }, figure): Row => {
          const values = (which: number) => (measured[which] ?? []).map((rates) => rates.get(perSecond)?.[of] ?? Number.NaN);
          return row(
            `${id}-${kind}-${perSecond}`,
            `${figure === 0 ? `fan-out, ${scene}` : "the same"}: ${what}`,
            against,
            bound,
            targets[perSecond] ?? 1,
            comparedOf(values(0), values(index + 1)),
          );
        });
      }),
    );
  } finally {
    await Promise.all([clients, ...started.map(({ server }) => server)].map((child) => child.stop()));
  }
}
