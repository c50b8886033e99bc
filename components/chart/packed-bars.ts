import type { Bar } from "#lib/client/bar-source";
import type { MarketDetail } from "#lib/contract/markets";

/** The bars of a page, as charts take them. */
export const unpacked = (bars: MarketDetail["bars"]): Bar[] =>
  bars.map(([time, open, high, low, close, tick_volume]) => ({ time, open, high, low, close, tick_volume }));
