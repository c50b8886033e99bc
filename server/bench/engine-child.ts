import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import type { Tick } from "#lib/domain/tick";
import { createAlignment } from "#lib/domain/timeframe";
import { createEngine } from "#server/engine/engine";
import { answerCalls } from "./stream-calls";

/** The engine alone, in a process of its own: it checks ticks and updates quote, snapshot and nine timeframes; nobody follows. */

const INSTRUMENTS_COUNT = 48;
/** Each instrument has a tick every 20 ms of simulated time; the clock of the engine advances with it. */
const TICK_INTERVAL_MS = 20;
const ADVANCE_INTERVAL_MS = 100;
/** Ticks of this time are made ahead, outside the measurement. */
const CHUNK_MS = 10_000;
const SPREAD_POINTS = 12;

const listings = new Map(SANDBOX_LISTINGS.map((listing) => [listing.ticker, listing]));
const engine = createEngine({
  listingOf: (ticker) => listings.get(ticker),
  calendarOf: () => undefined,
  alignment: createAlignment(),
  epoch: "bench",
});
let fromMs = Date.UTC(2026, 0, 5, 12);
let advancedMs = fromMs;

function nextTicks(): Tick[] {
  const ticks: Tick[] = [];
  const chosen = SANDBOX_LISTINGS.slice(0, INSTRUMENTS_COUNT);
  for (let time_msc = fromMs; time_msc < fromMs + CHUNK_MS; time_msc += TICK_INTERVAL_MS)
    for (const { ticker, digits } of chosen) {
      const points = 100_000 + ((time_msc / TICK_INTERVAL_MS) % 977) * 3;
      ticks.push({ ticker, time_msc, bid: points / 10 ** digits, ask: (points + SPREAD_POINTS) / 10 ** digits });
    }
  fromMs += CHUNK_MS;
  return ticks;
}

function take(ticks: readonly Tick[]): void {
  for (const tick of ticks) {
    if (tick.time_msc - advancedMs >= ADVANCE_INTERVAL_MS) {
      advancedMs = tick.time_msc;
      engine.advance(advancedMs);
    }
    const rejection = engine.judge(tick, tick.time_msc);
    if (rejection !== null) throw new Error(`a tick of ${tick.ticker} was rejected: ${rejection}`);
    engine.ingest(tick);
  }
}

answerCalls({
  /** Processor time of a tick, µs, over this many seconds of it. */
  measure(seconds: number): number {
    let [usedUs, count] = [0, 0];
    while (usedUs < seconds * 1e6) {
      const ticks = nextTicks();
      const before = process.cpuUsage();
      take(ticks);
      const { user, system } = process.cpuUsage(before);
      usedUs += user + system;
      count += ticks.length;
    }
    return usedUs / count;
  },
});
