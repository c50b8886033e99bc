import type { TickRejection } from "#lib/contract/ingest";
import { KLINE_CLOSE_DELAY_MS, TICK_MAX_AHEAD_MS } from "#lib/contract/limits";
import { MINUTE_MS } from "#lib/units";

/** No instrument has such a price, and a double could no longer hold its decimals. */
const PRICE_END = 1e12;
/** Accepted ticks kept per ticker to recognise duplicates: a busy minute of a busy instrument. */
export const RECENT_TICKS_COUNT = 1_024;
/** Four times as many as there are ticks, so that few ticks share a mark. A power of two. */
const MARKS_COUNT = 4 * RECENT_TICKS_COUNT;

/** A tick as it enters the engine, normalised to the service's terms. */
export interface Tick {
  readonly ticker: string;
  /** Unix milliseconds. */
  readonly time_msc: number;
  readonly bid: number;
  readonly ask: number;
  /** Real volume, where the provider has one. */
  readonly volume?: number | undefined;
}

/** The latest accepted ticks of a ticker; bounded, the oldest are dropped. */
export interface RecentTicks {
  /** Time of the newest tick, Unix milliseconds; -Infinity while there is none. */
  newestMs(): number;
  /** Remembers an accepted tick, which is not older than the newest. */
  add(tick: Tick): void;
  /** True when a tick of the same time, bid and ask is among them. */
  has(tick: Tick): boolean;
}

/** A number below MARKS_COUNT: the same for equal ticks, rarely the same for others. */
const markOf = ({ time_msc, bid, ask }: Tick) => (time_msc + bid * 1e6 + ask * 1e5) & (MARKS_COUNT - 1);

/** Makes an empty list of accepted ticks; a restart adds the last stored tick to it. */
export function createRecentTicks(capacity: number = RECENT_TICKS_COUNT): RecentTicks {
  /**
   * For each mark, the number of the last tick that had it, modulo 2^32. A tick whose mark no kept tick has cannot be a duplicate,
   * so the search is skipped: a batch may contain hundreds of ticks with the same time.
   */
  const lastOf = new Uint32Array(MARKS_COUNT).fill(2 ** 31);
  const times = new Float64Array(capacity);
  const bids = new Float64Array(capacity);
  const asks = new Float64Array(capacity);
  let added = 0;
  let newest = Number.NEGATIVE_INFINITY;
  return {
    newestMs: () => newest,
    add(tick) {
      const slot = added % capacity;
      times[slot] = tick.time_msc;
      bids[slot] = tick.bid;
      asks[slot] = tick.ask;
      added += 1;
      lastOf[markOf(tick)] = added;
      newest = tick.time_msc;
    },
    has(tick) {
      if ((added - (lastOf[markOf(tick)] ?? 0)) >>> 0 >= capacity) return false;
      const oldest = Math.max(0, added - capacity);
      let low = oldest;
      let high = added;
      // The first tick that is not older: times never decrease.
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((times[middle % capacity] ?? 0) < tick.time_msc) low = middle + 1;
        else high = middle;
      }
      for (; low < added && times[low % capacity] === tick.time_msc; low += 1) {
        if (bids[low % capacity] === tick.bid && asks[low % capacity] === tick.ask) return true;
      }
      return false;
    },
  };
}

function isPrice(value: number): boolean {
  return value > 0 && value < PRICE_END;
}

/**
 * Why the prices of a tick are rejected, null when they are possible: bad_price (not a number between 0 and PRICE_END), then
 * crossed_quote (bid above ask).
 */
export function judgePrices({
  bid,
  ask,
}: Pick<Tick, "bid" | "ask">): Extract<TickRejection, "bad_price" | "crossed_quote"> | null {
  if (!isPrice(bid) || !isPrice(ask)) return "bad_price";
  return bid > ask ? "crossed_quote" : null;
}

/**
 * Why a tick is rejected, null when it is valid. In this order: those of judgePrices, duplicate (time, bid and ask of a
 * recently accepted tick, which is what a repeated batch gets), in_future (more than TICK_MAX_AHEAD_MS ahead of the clock),
 * too_late (its M1 kline has closed on the clock), out_of_order (older than the last accepted one).
 * @param recent accepted ticks of this ticker; undefined before the first
 * @param nowMs the clock, Unix milliseconds
 */
export function judgeTick(recent: RecentTicks | undefined, tick: Tick, nowMs: number): TickRejection | null {
  const badPrices = judgePrices(tick);
  if (badPrices !== null) return badPrices;
  const newestMs = recent?.newestMs() ?? Number.NEGATIVE_INFINITY;
  if (recent?.has(tick)) return "duplicate";
  if (tick.time_msc > nowMs + TICK_MAX_AHEAD_MS) return "in_future";
  if (nowMs >= (Math.floor(tick.time_msc / MINUTE_MS) + 1) * MINUTE_MS + KLINE_CLOSE_DELAY_MS) return "too_late";
  return tick.time_msc < newestMs ? "out_of_order" : null;
}
