import type { Effort } from "./load";
import { rounded, type Spread, spreadOf, spreadText } from "./spread";
import { audienceOf, type Clients, startClients } from "./stream-load";
import {
  listingsOf,
  measureStream,
  type StreamContestant,
  type StreamMeasurement,
  startStreamAnchor,
  startStreamSpotwire,
} from "./stream-measure";
import { type Row, ratioOf } from "./table";

const SOCKETS_COUNT = 1_000;
const TICKERS_COUNT = 40;
const TICKERS_EACH_COUNT = 10;
const PER_SECOND = 50;
const MESSAGE_MAX_RATIO = 1.3;
const LATENCY_MAX_RATIO = 2;
const AGAINST = "raw sockets, prebuilt frames, same flush";

/** Measures both with the same clients, who stay on one while it is measured. */
async function measureOne(
  { server, key }: StreamContestant,
  clients: Clients,
  perSecond: number,
  seconds: number,
): Promise<StreamMeasurement> {
  const listings = listingsOf(TICKERS_COUNT);
  const tickers = listings.map(({ ticker }) => ticker);
  await clients.open({ url: server.url, key, audience: audienceOf(tickers, SOCKETS_COUNT, TICKERS_EACH_COUNT) });
  try {
    return await measureStream({ server, key }, { clients, listings, perSecond, seconds });
  } finally {
    await clients.close();
  }
}

interface Compared {
  readonly own: Spread;
  readonly anchor: Spread;
  readonly ratio: Spread;
}

type Both = Record<Exclude<keyof StreamMeasurement, "messageBytes">, Compared>;

async function compare(
  [own, anchor]: readonly [StreamContestant, StreamContestant],
  clients: Clients,
  perSecond: number,
  { seconds, rounds }: Effort,
): Promise<Both> {
  const pairs: { own: StreamMeasurement; anchor: StreamMeasurement }[] = [];
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    const one = await measureOne(anchor, clients, perSecond, seconds);
    const pair = { anchor: one, own: await measureOne(own, clients, perSecond, seconds) };
    if (round > 0) pairs.push(pair);
  }
  const of = (what: keyof StreamMeasurement): Compared => ({
    own: spreadOf(pairs.map((pair) => pair.own[what])),
    anchor: spreadOf(pairs.map((pair) => pair.anchor[what])),
    ratio: spreadOf(pairs.map((pair) => pair.own[what] / pair.anchor[what])),
  });
  return { messageUs: of("messageUs"), p99Ms: of("p99Ms"), takenShare: of("takenShare") };
}

const percent = ({ median }: Spread) => `${Math.round(median * 100)}%`;

function row(id: string, title: string, unit: string, { own, anchor, ratio }: Compared, taken: Compared, target: number): Row {
  const what = `${title}; ticks taken: ${percent(taken.own)}, anchor ${percent(taken.anchor)}`;
  return {
    ...{ id, what, value: `${spreadText(own)} ${unit}`, anchor: `${spreadText(anchor)} ${unit}` },
    ratio: ratioOf(ratio, { target, against: AGAINST, bound: "at most" }),
  };
}

async function withBoth(effort: Effort, perSecond: number): Promise<Both> {
  const clients = startClients();
  const contestants: StreamContestant[] = [];
  try {
    contestants.push(await startStreamSpotwire(), await startStreamAnchor());
    return await compare(contestants as [StreamContestant, StreamContestant], clients, perSecond, effort);
  } finally {
    await Promise.all([clients, ...contestants.map(({ server }) => server)].map((child) => child.stop()));
  }
}

/** Measures what a message to one of a thousand sockets costs. */
export async function benchFanout(effort: Effort): Promise<Row[]> {
  const { messageUs, takenShare } = await withBoth(effort, PER_SECOND);
  const scene = `${rounded(SOCKETS_COUNT)} sockets × ${TICKERS_EACH_COUNT} of ${TICKERS_COUNT} tickers × ${PER_SECOND}/s`;
  return [row("fanout", `fan-out, ${scene}: processor time a message`, "µs", messageUs, takenShare, MESSAGE_MAX_RATIO)];
}

/** Measures the time from the push of a tick to its clients, at half the load of the fan-out. */
export async function benchLatency(effort: Effort): Promise<Row[]> {
  const { p99Ms, takenShare } = await withBoth(effort, PER_SECOND / 2);
  return [row("latency", "tick to client at half the load of the fan-out, p99", "ms", p99Ms, takenShare, LATENCY_MAX_RATIO)];
}
