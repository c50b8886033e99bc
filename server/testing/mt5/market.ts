import { compileCalendar } from "#lib/domain/calendar";
import { forex } from "#lib/domain/calendars/forex";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";

/** A symbol of a terminal, the ticker it is sent as, and its price in points at the beginning. */
interface TerminalSymbol {
  readonly symbol: string;
  readonly ticker: string;
  readonly digits: number;
  readonly points: number;
}

/** A tick as the terminal has it; times are Unix milliseconds, UTC. */
interface TerminalTick {
  readonly symbol: string;
  readonly ticker: string;
  readonly timeMs: number;
  /** When the terminal gets it: ticks of one millisecond do not arrive together. */
  readonly arrivesMs: number;
  readonly bid: string;
  readonly ask: string;
  readonly flags: number;
}

/** A bar of bid prices, as text with the symbol's digits. `time` is Unix seconds, UTC. */
interface TerminalBar {
  readonly symbol: string;
  readonly ticker: string;
  readonly minutes: 1 | 60;
  readonly time: number;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly tickVolume: number;
  /** In points. */
  readonly spread: number;
}

/** What a terminal knows of its symbols. */
export interface TerminalMarket {
  readonly ticks: readonly TerminalTick[];
  readonly bars: readonly TerminalBar[];
}

const SAME_MILLISECOND_SHARE = 0.2;
const NO_QUOTE_SHARE = 0.02;

/** Whether a tick is a quote: terminals have ticks without a price. */
export const isQuote = ({ bid, ask }: Pick<TerminalTick, "bid" | "ask">) => Number(bid) > 0 && Number(ask) > 0;

/** Numbers in [0, 1) that are the same in each run. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

function ticksOf({ symbol, ticker, digits, points }: TerminalSymbol, fromMs: number, toMs: number): TerminalTick[] {
  const random = sequence(points);
  const price = (value: number) => (value / 10 ** digits).toFixed(digits);
  const ticks: TerminalTick[] = [];
  let bid = points;
  let arrivesMs = fromMs;
  for (let timeMs = fromMs + 137; timeMs < toMs; timeMs += 200 + Math.floor(random() * 1_600)) {
    const together = random() < SAME_MILLISECOND_SHARE ? 2 : 1;
    for (let nth = 0; nth < together; nth += 1) {
      bid += (random() < 0.5 ? -1 : 1) * (1 + Math.floor(random() * 3));
      const ask = random() < NO_QUOTE_SHARE ? 0 : bid + 10 + Math.floor(random() * 10);
      arrivesMs = Math.max(arrivesMs, timeMs + nth * (200 + Math.floor(random() * 700)));
      // 128 has no documented meaning, and real ticks have it.
      const flags = 2 + (random() < 0.5 ? 4 : 0) + (random() < 0.5 ? 128 : 0);
      ticks.push({ symbol, ticker, timeMs, arrivesMs, bid: price(bid), ask: price(ask), flags });
    }
  }
  return ticks;
}

/** The bars of some minutes each that a terminal makes of ticks. */
function barsOf(ticks: readonly TerminalTick[], { symbol, ticker, digits }: TerminalSymbol, minutes: 1 | 60): TerminalBar[] {
  const held = new Map<number, TerminalTick[]>();
  for (const tick of ticks.filter((each) => each.symbol === symbol && isQuote(each))) {
    const time = (Math.floor(tick.timeMs / (minutes * MINUTE_MS)) * minutes * MINUTE_MS) / SECOND_MS;
    held.set(time, [...(held.get(time) ?? []), tick]);
  }
  return [...held].map(([time, quotes]) => {
    const bids = quotes.map(({ bid }) => Number(bid));
    const price = (value: number) => value.toFixed(digits);
    const spreads = quotes.map(({ bid, ask }) => Math.round((Number(ask) - Number(bid)) * 10 ** digits));
    const [open = 0] = bids;
    return {
      symbol,
      ticker,
      minutes,
      time,
      open: price(open),
      close: price(bids.at(-1) ?? 0),
      high: price(Math.max(...bids)),
      low: price(Math.min(...bids)),
      tickVolume: quotes.length,
      spread: Math.min(...spreads),
    };
  });
}

/** A market with a tick about every second, several a millisecond, and a few that are no quotes; with its bars. */
export function makeTerminalMarket(symbols: readonly TerminalSymbol[], fromMs: number, toMs: number): TerminalMarket {
  const ticks = symbols.flatMap((symbol) => ticksOf(symbol, fromMs, toMs));
  return { ticks, bars: symbols.flatMap((symbol) => [...barsOf(ticks, symbol, 1), ...barsOf(ticks, symbol, 60)]) };
}

/** One M1 and one H1 bar at each full hour in which forex is open. */
export function hourlyBars({ symbol, ticker, digits, points }: TerminalSymbol, fromMs: number, toMs: number): TerminalBar[] {
  const calendar = compileCalendar(forex, []);
  const bars: TerminalBar[] = [];
  for (let ms = fromMs; ms < toMs; ms += HOUR_MS) {
    if (calendar.sessionAt(ms).state !== "open") continue;
    const value = (points + ((ms / HOUR_MS) % 100)) / 10 ** digits;
    const price = value.toFixed(digits);
    const bar = {
      symbol,
      ticker,
      time: ms / SECOND_MS,
      open: price,
      high: price,
      low: price,
      close: price,
      tickVolume: 7,
      spread: 9,
    };
    bars.push({ ...bar, minutes: 1 }, { ...bar, minutes: 60 });
  }
  return bars;
}

/** Server time minus UTC in seconds, at a UTC instant in ms. */
export type ServerOffset = (utcMs: number) => number;

/** The changes of the server's clock from one instant (Unix ms, UTC) to another: since when (Unix seconds), and the offset. */
export function zoneOf(offset: ServerOffset, fromMs: number, toMs: number): [sinceS: number, offsetS: number][] {
  const parts: [number, number][] = [];
  for (let ms = fromMs; ms <= toMs; ms += MINUTE_MS)
    if (offset(ms) !== parts.at(-1)?.[1]) parts.push([Math.floor(ms / SECOND_MS), offset(ms)]);
  return parts;
}

/** The files of a market, with times of the server's clock. */
export function marketFiles({ ticks, bars }: TerminalMarket, offset: ServerOffset): { ticks: string; bars: string } {
  const serverMs = (utcMs: number) => utcMs + offset(utcMs) * SECOND_MS;
  const lines = (rows: (string | number)[][]) => rows.map((row) => `${row.join(",")}\n`).join("");
  return {
    ticks: lines(
      ticks.map((tick) => [tick.symbol, serverMs(tick.timeMs), tick.bid, tick.ask, tick.flags, serverMs(tick.arrivesMs)]),
    ),
    bars: lines(
      bars.map(({ symbol, minutes, time, open, high, low, close, tickVolume, spread }) => {
        return [symbol, minutes, serverMs(time * SECOND_MS) / SECOND_MS, open, high, low, close, tickVolume, spread];
      }),
    ),
  };
}

/** Rows of a copy_ticks_… function of the package MetaTrader5, as CSV, from `startMs` on. */
export function ticksOfCsv(csv: string, names: Pick<TerminalTick, "symbol" | "ticker">, startMs: number): TerminalTick[] {
  const rows = csv.trim().split("\n").slice(1);
  const ticks = rows.map((row) => row.split(",")).map(([, bid = "", ask = "", , , time, flags]) => ({ bid, ask, time, flags }));
  const movedMs = startMs - Number(ticks[0]?.time);
  return ticks.map(({ bid, ask, time, flags }) => {
    const timeMs = Number(time) + movedMs;
    return { ...names, timeMs, arrivesMs: timeMs, bid, ask, flags: Number(flags) };
  });
}
