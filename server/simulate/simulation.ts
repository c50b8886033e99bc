import { manualClock } from "#lib/clock";
import type { Timeframe } from "#lib/contract/primitives";
import type { Listing } from "#lib/domain/instrument";
import { type Topic, topicOf } from "#server/hub/hub";
import { type Complaints, complain } from "./client";
import { createEdge, type Edge } from "./edge";
import { bytesOf, createIngest, type Ingest } from "./ingest";
import { catalogueOf, createTicks, listingsOf, START_MS, STEP_MS } from "./market";
import { createMeter, liveBytes, type Meter } from "./meter";
import type { Scene } from "./options";

const KLINE_TIMEFRAME: Timeframe = "M1";
/** Slow clients read this share of what is sent to them; records have about this length. */
const SLOW_READ_SHARE = 0.05;
const RECORD_ABOUT_BYTES = 230;

/** Counts, identical in every run of a scene. */
interface Counts {
  readonly ticks: number;
  readonly events: number;
  readonly batches: number;
  /** Bytes of the batches, each counted once however many nodes read it. */
  readonly busBytes: number;
  /** Bytes of the newest records, which only starting nodes read. */
  readonly stateBytes: number;
  readonly messages: number;
  readonly clientBytes: number;
  /** Records merged into newer ones. */
  readonly merged: number;
  /** Clients closed for being too slow. */
  readonly closed: number;
  /** Bytes queued in outboxes after the last tick. */
  readonly queuedBytes: number;
}

/** Costs: CPU microseconds of each part, over the whole run and all nodes, and live memory. */
interface Costs {
  /** Engine and the ingest node's own projection. */
  readonly engineUs: number;
  readonly encodeUs: number;
  /** Decoding and the edges' projections. */
  readonly followUs: number;
  readonly decodeUs: number;
  readonly fanoutUs: number;
  readonly bytesPerClient: number;
  /** Memory of one node: newest records, and the recent ones for reconnecting clients. */
  readonly bytesPerTicker: number;
}

/** The result of a simulation. */
export interface Result {
  readonly scene: Scene;
  readonly counts: Counts;
  readonly costs: Costs;
  /** Violations; the service promises none. */
  readonly complaints: Complaints;
}

/** A repeatable sequence of integers below `end` (a linear congruential generator). */
function chances(seed: number): (end: number) => number {
  let state = seed;
  return (end) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
}

function swap(deck: Listing[], one: number, other: number): void {
  const [first, second] = [deck[one], deck[other]];
  if (first === undefined || second === undefined) return;
  deck[one] = second;
  deck[other] = first;
}

/** Connects the clients, spread over the edges; each follows the same number of random tickers, identical in every run. */
function openClients(edges: readonly Edge[], listings: readonly Listing[], scene: Scene): void {
  const { clients, subscriptions, ticksPerSecond, stream, slow } = scene;
  const chance = chances(1);
  const deck = [...listings];
  const slowCount = Math.round(clients * slow);
  const slowBytesPerMs = (SLOW_READ_SHARE * RECORD_ABOUT_BYTES * subscriptions * ticksPerSecond) / 1000;
  for (let index = 0; index < clients; index += 1) {
    for (let place = 0; place < subscriptions; place += 1) swap(deck, place, place + chance(deck.length - place));
    const topics: Topic[] = deck
      .slice(0, subscriptions)
      .map(({ ticker }) => (stream === "kline" ? topicOf(stream, ticker, KLINE_TIMEFRAME) : topicOf(stream, ticker)));
    const speed = index < slowCount ? slowBytesPerMs : Number.POSITIVE_INFINITY;
    edges[index % edges.length]?.open(`client ${index}`, topics, speed);
  }
}

/** Checks that every node shows the same state at the end. */
function compareNodes(edges: readonly Edge[], ingest: Ingest, listings: readonly Listing[], complaints: Complaints): void {
  const shownBy = ({ projection: { view, recent } }: Pick<Ingest, "projection">, { ticker, timeframes }: Listing) =>
    JSON.stringify([
      view.quote(ticker),
      view.snapshot(ticker),
      timeframes.map((timeframe) => [view.recentKlines(ticker, timeframe), recent.seq(topicOf("kline", ticker, timeframe).name)]),
    ]);
  for (const listing of listings) {
    const right = shownBy(ingest, listing);
    for (const [index, edge] of edges.entries())
      if (shownBy(edge, listing) !== right)
        complain(complaints, `edge ${index} shows another ${listing.ticker} than the ingest node`);
  }
}

/** Runs the market in steps of 5 ms. */
function play(
  ingest: Ingest,
  edges: readonly Edge[],
  scene: Scene,
  ticksOf: ReturnType<typeof createTicks>,
  clock: ReturnType<typeof manualClock>,
) {
  const steps = (scene.seconds * 1000) / STEP_MS;
  let ticks = 0;
  let batches = 0;
  let busBytes = 0;
  for (let step = 1; step <= steps; step += 1) {
    clock.set(START_MS + step * STEP_MS);
    const came = ticksOf(clock.now());
    ticks += came.length;
    const batch = ingest.step(came);
    if (batch !== undefined) {
      batches += 1;
      busBytes += bytesOf(batch);
    }
    for (const edge of edges) edge.step(batch);
  }
  return { ticks, batches, busBytes };
}

function costsOf(meter: Meter, memory: Pick<Costs, "bytesPerClient" | "bytesPerTicker">): Costs {
  return {
    engineUs: meter.spentUs("engine") + meter.spentUs("projection"),
    encodeUs: meter.spentUs("encode"),
    decodeUs: meter.spentUs("decode"),
    followUs: meter.spentUs("follow"),
    fanoutUs: meter.spentUs("fan-out"),
    ...memory,
  };
}

/** Runs a scene until every client has read its queue. */
export function simulate(scene: Scene): Result {
  const listings = listingsOf(scene.tickers);
  const catalogue = catalogueOf(listings);
  const clock = manualClock(START_MS);
  const meter = createMeter();
  const complaints: Complaints = { count: 0, examples: [] };
  const ingest = createIngest({ catalogue, clock, meter });
  const edges = Array.from({ length: scene.edges }, () => createEdge({ catalogue, clock, meter, complaints }));
  const emptyBytes = liveBytes();
  openClients(edges, listings, scene);
  const clientsBytes = liveBytes() - emptyBytes;
  const played = play(ingest, edges, scene, createTicks(listings, scene.ticksPerSecond), clock);
  const queuedBytes = edges.reduce((sum, edge) => sum + edge.queuedBytes(), 0);
  for (const edge of edges) edge.drain();
  const nodesBytes = liveBytes() - emptyBytes - clientsBytes;
  const clients = edges.flatMap((edge) => edge.clients);
  const merged = clients.reduce((sum, client) => sum + client.finish(ingest.lastSeq, complaints), 0);
  compareNodes(edges, ingest, listings, complaints);
  const counts: Counts = {
    ...played,
    events: ingest.events(),
    stateBytes: ingest.stateBytes(),
    messages: clients.reduce((sum, { messages }) => sum + messages, 0),
    clientBytes: clients.reduce((sum, { bytes }) => sum + bytes, 0),
    merged,
    closed: edges.reduce((sum, edge) => sum + edge.closed(), 0),
    queuedBytes,
  };
  const memory = {
    bytesPerClient: clientsBytes / scene.clients,
    bytesPerTicker: nodesBytes / scene.tickers / (scene.edges + 1),
  };
  return { scene, counts, costs: costsOf(meter, memory), complaints };
}
