import { expect } from "vitest";
import type { Tick } from "#lib/domain/tick";
import { MINUTE_MS, SECOND_MS } from "#lib/units";
import type { FeederService } from "./feeder-service";
import { isQuote, type TerminalMarket } from "./market";

const line = ({ ticker, time_msc, bid, ask }: Tick) => `${ticker} ${time_msc} ${bid} ${ask}`;
const linesOf = (market: TerminalMarket, ticker?: string) =>
  market.ticks
    .filter((tick) => isQuote(tick) && (ticker === undefined || tick.ticker === ticker))
    .map(({ ticker, timeMs, bid, ask }) => line({ ticker, time_msc: timeMs, bid: Number(bid), ask: Number(ask) }));

/** Fails unless the service took only quotes of this market, each at most once, in the market's order. */
export function expectOrder(taken: readonly Tick[], market: TerminalMarket): void {
  for (const ticker of new Set(market.ticks.map((tick) => tick.ticker))) {
    const known = new Map(linesOf(market, ticker).map((text, place) => [text, place]));
    const places = taken.filter((tick) => tick.ticker === ticker).map((tick) => known.get(line(tick)) ?? line(tick));
    expect(places.length, `ticks of ${ticker}`).toBeGreaterThan(0);
    expect(places, `ticks of ${ticker}`).toEqual([...new Set(places)].sort((a, b) => Number(a) - Number(b)));
  }
}

/** The market's quotes of a minute, counted from a start, that the service did not take. */
export function untaken(taken: readonly Tick[], market: TerminalMarket, startMs: number, minute: number): string[] {
  const has = new Set(taken.map(line));
  const fromMs = startMs + minute * MINUTE_MS;
  const ticks = market.ticks.filter(({ timeMs }) => timeMs >= fromMs && timeMs < fromMs + MINUTE_MS);
  expect(ticks.length).toBeGreaterThan(0);
  return linesOf({ ticks, bars: [] }).filter((text) => !has.has(text));
}

/** Fails unless the service serves exactly the market's minutes of a time, of all tickers. */
export async function expectMinutes(
  service: FeederService,
  market: TerminalMarket,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<void> {
  const [from, to] = [fromMs / SECOND_MS, toMs / SECOND_MS];
  for (const ticker of new Set(market.bars.map((bar) => bar.ticker))) {
    const bars = market.bars.filter((bar) => bar.ticker === ticker && bar.minutes === 1 && bar.time >= from && bar.time < to);
    expect(bars.length).toBeGreaterThan(0);
    const served = await service.minutes(ticker, from, to);
    expect(served.map(({ time, open, high, low, close, tick_volume }) => [time, open, high, low, close, tick_volume])).toEqual(
      bars.map(({ time, open, high, low, close, tickVolume }) => [time, ...[open, high, low, close].map(Number), tickVolume]),
    );
  }
}
