import { SANDBOX_LISTINGS } from "#lib/domain/catalogue";
import type { Tick } from "#lib/domain/tick";
import { createAlignment } from "#lib/domain/timeframe";
import { createEngine } from "#server/engine/engine";
import { createView } from "#server/view/view";
import type { Row } from "./table";

const INSTRUMENTS_COUNT = 60;
/** Each instrument has a tick every 20 ms of simulated time; the clock of the engine advances with it. */
const TICK_INTERVAL_MS = 20;
const ADVANCE_INTERVAL_MS = 100;
/** Milliseconds of ticks that are generated ahead, outside the measurement. */
const CHUNK_MS = 10_000;
const START_MS = Date.UTC(2026, 0, 5, 12);

/** A chunk of ticks in order; each price is a step from the previous one. */
function ticksOf(fromMs: number): Tick[] {
  const ticks: Tick[] = [];
  const listings = SANDBOX_LISTINGS.slice(0, INSTRUMENTS_COUNT);
  for (let time_msc = fromMs; time_msc < fromMs + CHUNK_MS; time_msc += TICK_INTERVAL_MS)
    for (const { ticker, digits } of listings) {
      const points = 100_000 + ((time_msc / TICK_INTERVAL_MS) % 977) * 3;
      ticks.push({ ticker, time_msc, bid: points / 10 ** digits, ask: (points + 12) / 10 ** digits });
    }
  return ticks;
}

/** Measures ticks through one engine, which checks them and updates quote, snapshot, all nine timeframes, and a view. */
export async function benchEngine(seconds: number): Promise<Row[]> {
  const listings = new Map(SANDBOX_LISTINGS.map((listing) => [listing.ticker, listing]));
  const engine = createEngine({
    listingOf: (ticker) => listings.get(ticker),
    calendarOf: () => undefined,
    alignment: createAlignment(),
    epoch: "bench",
  });
  const view = createView();
  let fromMs = START_MS;
  let advancedMs = START_MS;

  /** Takes the ticks; returns the processor time in microseconds, which the load of the machine changes least. */
  function run(ticks: readonly Tick[]): number {
    const before = process.cpuUsage();
    for (const tick of ticks) {
      if (tick.time_msc - advancedMs >= ADVANCE_INTERVAL_MS) {
        advancedMs = tick.time_msc;
        view.apply(engine.advance(advancedMs));
      }
      const rejection = engine.judge(tick, tick.time_msc);
      if (rejection !== null) throw new Error(`a tick of ${tick.ticker} was rejected: ${rejection}`);
      view.apply(engine.ingest(tick));
    }
    const { user, system } = process.cpuUsage(before);
    return user + system;
  }

  function next(): Tick[] {
    const ticks = ticksOf(fromMs);
    fromMs += CHUNK_MS;
    return ticks;
  }

  run(next());
  let usedUs = 0;
  let count = 0;
  while (usedUs < seconds * 1e6) {
    const ticks = next();
    usedUs += run(ticks);
    count += ticks.length;
  }
  const value = `${Math.round((count / usedUs) * 1e6)} ticks/CPU-s, ${(usedUs / count).toFixed(1)} µs/tick`;
  return [{ what: `engine, ${INSTRUMENTS_COUNT} instruments, nine timeframes, view`, value }];
}
