import { audienceOf, type Clients, startClients } from "./stream-load";
import {
  described,
  listingsOf,
  measureStream,
  type StreamContestant,
  type StreamMeasurement,
  startRival,
  startStreamSpotwire,
} from "./stream-measure";
import type { Row } from "./table";

const SOCKETS_COUNT = 1_000;
const TICKERS_EACH_COUNT = 10;
/** The scenes without a target take this share of the time of the main scene. */
const SIDE_SHARE = 0.4;

/** The load: the number of instruments, and the tick rate of each. */
interface Scene {
  readonly name: string;
  readonly tickersCount: number;
  readonly perSecond: number;
  readonly timeShare: number;
}

const MIXED: Scene = { name: "10 of 40 tickers each, 50 ticks/s", tickersCount: 40, perSecond: 50, timeShare: 1 };
const CALM: Scene = { name: "10 of 40 tickers each, 10 ticks/s", tickersCount: 40, perSecond: 10, timeShare: SIDE_SHARE };
const SAME: Scene = { name: "the same 10 tickers, 50 ticks/s", tickersCount: 10, perSecond: 50, timeShare: SIDE_SHARE };
const SCENES: readonly Scene[] = [MIXED, CALM, SAME];

async function measureScene(
  contestant: StreamContestant,
  clients: Clients,
  { tickersCount, perSecond, timeShare }: Scene,
  seconds: number,
): Promise<StreamMeasurement> {
  const { server, dialect, key } = contestant;
  const listings = listingsOf(tickersCount);
  const tickers = listings.map(({ ticker }) => ticker);
  await clients.open({ url: server.url, dialect, key, audience: audienceOf(tickers, SOCKETS_COUNT, TICKERS_EACH_COUNT) });
  const measurement = await measureStream(contestant, { clients, listings, perSecond, seconds: seconds * timeShare });
  await clients.close();
  return measurement;
}

function rowsOf(scene: Scene, results: ReadonlyMap<string, StreamMeasurement>): Row[] {
  const rows = [...results].map(([name, result]) => ({ what: `fan-out, ${scene.name}: ${name}`, value: described(result) }));
  const of = (part: string) => [...results].find(([name]) => name.includes(part))?.[1].messagesPerCpuSecond ?? Number.NaN;
  if (scene !== MIXED) return rows;
  const own = of("Spotwire");
  return [
    ...rows,
    { what: "", value: "", ratio: { value: own / of("Socket.IO"), target: 3, against: "Socket.IO" } },
    { what: "", value: "", ratio: { value: own / of("plain ws"), target: 1.5, against: "plain ws" } },
  ];
}

/** Measures a thousand sockets with ten tickers each, against Socket.IO rooms and a plain loop over WebSockets. */
export async function benchFanout(seconds: number): Promise<Row[]> {
  const clients = startClients();
  const contestants: StreamContestant[] = [];
  try {
    contestants.push(await startRival("socket.io"), await startRival("ws"), await startStreamSpotwire());
    const rows: Row[] = [];
    for (const scene of SCENES) {
      const results = new Map<string, StreamMeasurement>();
      for (const contestant of contestants) results.set(contestant.name, await measureScene(contestant, clients, scene, seconds));
      rows.push(...rowsOf(scene, results));
    }
    return rows;
  } finally {
    await Promise.all([clients, ...contestants.map(({ server }) => server)].map((child) => child.stop()));
  }
}
