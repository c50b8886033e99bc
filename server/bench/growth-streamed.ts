import { TIMEFRAMES } from "#lib/contract/primitives";
import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import type { Listing } from "#lib/domain/instrument";
import type { Tick } from "#lib/domain/tick";
import { createAlignment } from "#lib/domain/timeframe";
import { createEngine } from "#server/engine/engine";
import { createView } from "#server/view/view";
import { growthRows, type Sized } from "./growth-rows";
import type { Effort } from "./load";
import { spreadOf } from "./spread";
import type { Subscribe } from "./stream-dialect";
import { startClients } from "./stream-load";
import { listingsOf, measureStream, startStreamSpotwire } from "./stream-measure";
import type { Row } from "./table";

const TICKERS_COUNTS = [10, 100, 1_000];
/** A process may open 20,000 files here, and needs some besides its sockets. */
const SOCKETS_COUNTS = [100, 1_000, 10_000, 18_000];
const SUBSCRIPTIONS_COUNTS = [1, 10, 50, 200];
/** How many ticks the engine gets in one measurement. */
const TICKS_COUNT = 200_000;
const TICK_STEP_MS = 20;
const ADVANCE_INTERVAL_MS = 100;
const START_MS = Date.UTC(2026, 0, 5, 12);
/** Messages a second that all sockets get together, so that each size has the same work. */
const MESSAGES_PER_SECOND = 10_000;
const READERS_COUNT = 50;

/** Invented instruments, alike but for their names. */
function inventedListings(count: number): Listing[] {
  const [model] = LIVE_LISTINGS;
  if (model === undefined) throw new Error("the catalogue is empty");
  return Array.from({ length: count }, (_, index) => ({ ...model, ticker: `T${index}` }));
}

/** Microseconds a tick takes through an engine and a view of these instruments, in each round. */
function engineCosts(listings: readonly Listing[], rounds: number): number[] {
  const byTicker = new Map(listings.map((listing) => [listing.ticker, listing]));
  const listingOf = (ticker: string) => byTicker.get(ticker);
  const engine = createEngine({ listingOf, calendarOf: () => undefined, alignment: createAlignment(), epoch: "bench" });
  const view = createView();
  let time_msc = START_MS;
  let advancedMs = START_MS;
  function run(): number {
    const ticks: Tick[] = [];
    while (ticks.length < TICKS_COUNT) {
      time_msc += TICK_STEP_MS;
      for (const { ticker } of listings) {
        const bid = 1.1 + ((time_msc / TICK_STEP_MS) % 977) / 1e5;
        ticks.push({ ticker, time_msc, bid, ask: bid + 0.0001 });
      }
    }
    const start = performance.now();
    for (const tick of ticks) {
      if (tick.time_msc - advancedMs >= ADVANCE_INTERVAL_MS) {
        advancedMs = tick.time_msc;
        view.apply(engine.advance(advancedMs));
      }
      view.apply(engine.ingest(tick));
    }
    return ((performance.now() - start) * 1_000) / ticks.length;
  }
  run();
  return Array.from({ length: rounds }, run);
}

/** A tick through engine and view, with more and more instruments. */
export async function benchGrowthOfTickers({ rounds }: Effort): Promise<Row[]> {
  const costs = TICKERS_COUNTS.map((size) => ({ size, cost: spreadOf(engineCosts(inventedListings(size), rounds)) }));
  return growthRows("a tick through engine and view, nine timeframes", "tickers", "µs", costs);
}

/** The processor time of the market process for each message, in each round; the audience is what each socket follows. */
async function messageCosts(
  audience: readonly Subscribe[][],
  tickersCount: number,
  perTick: number,
  { seconds, rounds }: Effort,
) {
  const spotwire = await startStreamSpotwire();
  const clients = startClients();
  try {
    const { server, key } = spotwire;
    await clients.open({ url: server.url, key, audience });
    const listings = listingsOf(tickersCount);
    const perSecond = MESSAGES_PER_SECOND / (perTick * tickersCount);
    const micros: number[] = [];
    for (let round = 0; round < rounds; round += 1)
      micros.push((await measureStream(spotwire, { clients, listings, perSecond, seconds })).messageUs);
    return spreadOf(micros);
  } finally {
    await Promise.all([clients.stop(), spotwire.server.stop()]);
  }
}

/** A message to one of more and more sockets, which follow one ticker each. */
export async function benchGrowthOfSockets(effort: Effort): Promise<Row[]> {
  const [listing] = listingsOf(1);
  const costs: Sized[] = [];
  for (const size of SOCKETS_COUNTS) {
    const audience = Array.from({ length: size }, () => [{ stream: "quote", tickers: [listing?.ticker ?? ""] }]);
    costs.push({ size, cost: await messageCosts(audience, 1, size, effort) });
  }
  return growthRows("a message to a socket", "sockets", "µs of CPU", costs);
}

/** The first `count` subscriptions of a socket: quotes, then klines, one timeframe after another. */
function subscriptionsOf(count: number): Subscribe[] {
  const tickers = LIVE_LISTINGS.map(({ ticker }) => ticker);
  const streams = [{ stream: "quote" }, ...TIMEFRAMES.map((timeframe) => ({ stream: "kline", timeframe }))];
  return streams
    .map((stream, index) => ({ ...stream, tickers: tickers.slice(0, Math.max(0, count - index * tickers.length)) }))
    .filter(({ tickers: chosen }) => chosen.length > 0);
}

/** A message to a socket with more and more subscriptions, of which all tick. */
export async function benchGrowthOfSubscriptions(effort: Effort): Promise<Row[]> {
  const costs: Sized[] = [];
  for (const size of SUBSCRIPTIONS_COUNTS) {
    const tickersCount = Math.min(size, LIVE_LISTINGS.length);
    const audience = Array.from({ length: READERS_COUNT }, () => subscriptionsOf(size));
    costs.push({ size, cost: await messageCosts(audience, tickersCount, (READERS_COUNT * size) / tickersCount, effort) });
  }
  return growthRows(`a message to one of ${READERS_COUNT} sockets`, "subscriptions each", "µs of CPU", costs);
}
