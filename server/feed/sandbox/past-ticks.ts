import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "#lib/clock";
import type { Tick } from "#lib/domain/tick";
import type { KlineStore, TickQuery } from "#lib/market/ports";
import { DAY_MS, MINUTE_MS } from "#lib/units";
import { MINUTES_PER_DAY } from "./path";
import type { SandboxPrices } from "./prices";

/** Ticks that are computed at once: about a millisecond. */
const TICKS_PER_TURN_COUNT = 1_000;

interface Sources {
  readonly prices: SandboxPrices;
  readonly clock: Clock;
}

/** The ticks of a UTC day from one end of a range on, in that order. */
function* ticksFrom(
  series: NonNullable<ReturnType<SandboxPrices["series"]>>,
  day: number,
  { from, to, end }: Pick<TickQuery, "from" | "to" | "end">,
): Generator<Tick> {
  const first = Math.max(day * MINUTES_PER_DAY, Math.floor(from / MINUTE_MS));
  const last = Math.min((day + 1) * MINUTES_PER_DAY - 1, Math.floor((to - 1) / MINUTE_MS));
  for (let step = 0; step <= last - first; step += 1) {
    const ticks = series.ticks(end === "oldest" ? first + step : last - step);
    for (const tick of end === "oldest" ? ticks : ticks.reverse()) if (tick.time_msc >= from && tick.time_msc < to) yield tick;
  }
}

/**
 * Reads the ticks of the sandbox: computed, from `startMs` (Unix milliseconds) up to the clock.
 * @throws what `admitDays` of the query throws
 */
export function createPastTicks({ prices, clock }: Sources, startMs: number): KlineStore["readTicks"] {
  return async ({ ticker, from, to, limit, end, admitDays }) => {
    const series = prices.series(ticker);
    const nowMs = clock.now();
    const range = {
      from: Math.max(from, startMs),
      to: Math.min(to, nowMs + 1, series?.endMs ?? 0),
      end,
    };
    const found: Tick[] = [];
    let [first, last] = [Math.floor(range.from / DAY_MS), Math.floor((range.to - 1) / DAY_MS)];
    while (series !== undefined && first <= last && found.length < limit) {
      const day = end === "oldest" ? first : last;
      // The running day is computed for the feed anyway.
      if (day < Math.floor(nowMs / DAY_MS)) admitDays?.(1);
      for (const tick of ticksFrom(series, day, range)) {
        found.push(tick);
        if (found.length === limit) break;
        // Others are answered in between.
        if (found.length % TICKS_PER_TURN_COUNT === 0) await nextTurn();
      }
      if (end === "oldest") first += 1;
      else last -= 1;
    }
    if (end === "newest") found.reverse();
    return {
      time: Float64Array.from(found, ({ time_msc }) => time_msc),
      bid: Float64Array.from(found, ({ bid }) => bid),
      ask: Float64Array.from(found, ({ ask }) => ask),
    };
  };
}
