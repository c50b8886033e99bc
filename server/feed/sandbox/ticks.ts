import type { Tick } from "#lib/domain/tick";
import { MINUTE_MS } from "#lib/units";
import type { Columns } from "./columns";
import { bits, seriesKey, unit } from "./noise";

/** How far a tick strays from the line between the minute's turning points, as a fraction of the minute's range. */
const STRAY = 0.3;
/** How much wider than the minute's smallest spread a tick's spread may be. */
const WIDENING = 0.6;

/** The widest spread of a tick in a minute whose smallest spread is `spread`, in points. */
export function widestSpread(spread: number): number {
  return spread + Math.round(WIDENING * spread);
}

/** The path of the bids of a minute, in points: open, then high and low in either order, then close. */
interface Way {
  readonly at: readonly [number, number, number, number];
  readonly bid: readonly [number, number, number, number];
}

function wayOf(random: number, count: number, open: number, high: number, low: number, close: number): Way {
  const first = 1 + ((random & 1023) % (count - 3));
  const second = first + 1 + (((random >>> 10) & 1023) % (count - 2 - first));
  const highFirst = random >>> 31 === 1;
  return { at: [0, first, second, count - 1], bid: [open, highFirst ? high : low, highFirst ? low : high, close] };
}

/** The bid of tick `index` on its path, in points: exact at the turning points, between low and high elsewhere. */
function bidAt(way: Way, index: number, random: number, low: number, high: number): number {
  const leg = index >= way.at[2] ? 2 : index >= way.at[1] ? 1 : 0;
  const [from, to] = [way.at[leg] ?? 0, way.at[leg + 1] ?? 0];
  const [start, end] = [way.bid[leg] ?? 0, way.bid[leg + 1] ?? 0];
  if (index === from) return start;
  if (index === to) return end;
  const straight = start + ((end - start) * (index - from)) / (to - from);
  const stray = (unit(random) - 0.5) * STRAY * (high - low);
  return Math.min(high, Math.max(low, Math.round(straight + stray)));
}

/**
 * The ticks of minute `index` of a day, ascending in distinct milliseconds inside that minute; empty for a minute without a
 * kline.
 * They aggregate to exactly the minute's closed form: the first is its open, the last its close, one its high, one its low, one
 * has its spread, none exceeds them, and there are `count` of them.
 * @param key series of the ticker; `startMs` the minute's open time; `scale` points per price unit
 */
export function ticksOfMinute(ticker: string, key: number, day: Columns, index: number, startMs: number, scale: number): Tick[] {
  const count = day.count[index] ?? 0;
  if (count === 0) return [];
  const [high, low, spread] = [day.high[index] ?? 0, day.low[index] ?? 0, day.spread[index] ?? 0];
  const minute = seriesKey(key, startMs / MINUTE_MS);
  const way = wayOf(bits(minute, 0), count, day.open[index] ?? 0, high, low, day.close[index] ?? 0);
  const narrowest = bits(minute, 1) % count;
  return Array.from({ length: count }, (_, i) => {
    const from = Math.floor((i * MINUTE_MS) / count);
    const slot = Math.floor(((i + 1) * MINUTE_MS) / count) - from;
    const widen = unit(bits(minute, 3 * i + 3));
    const wider = i === narrowest ? 0 : Math.round(widen * widen * WIDENING * spread);
    const bid = bidAt(way, i, bits(minute, 3 * i + 4), low, high);
    return {
      ticker,
      time_msc: startMs + from + (bits(minute, 3 * i + 2) % slot),
      bid: bid / scale,
      ask: (bid + spread + wider) / scale,
    };
  });
}
