import type { Kline } from "#lib/contract/kline";
import { KLINES_MAX_LIMIT_ROWS } from "#lib/contract/limits";
import type { Timeframe } from "#lib/contract/primitives";
import { DAY_S, HOUR_S, MINUTE_S } from "#lib/units";
import type { Client } from "../client";
import { SpotwireError } from "../errors";
import { tradingDate } from "../trading-date";
import type { HistoryMetadata, LibraryBar, PeriodParams } from "./library";

/** Pages read for one answer. For older bars, the library calls again. */
const PAGES_MAX_COUNT = 10;

/** Shortest distance between two klines in seconds, to tell how many a range can hold. */
const STEP_S: Readonly<Record<Timeframe, number>> = {
  M1: MINUTE_S,
  M5: 5 * MINUTE_S,
  M15: 15 * MINUTE_S,
  M30: 30 * MINUTE_S,
  H1: HOUR_S,
  H4: 4 * HOUR_S,
  D1: DAY_S,
  W1: 7 * DAY_S,
  MN1: 28 * DAY_S,
};

/** A kline as a bar. Days, weeks and months have the date of their first trading day, at midnight UTC. */
export function barOf({ time, open, high, low, close, tick_volume }: Kline, timeframe: Timeframe): LibraryBar {
  const shown = STEP_S[timeframe] < DAY_S ? time : tradingDate(time);
  return { time: shown * 1000, open, high, low, close, volume: tick_volume };
}

/** What of a history the library asks for. */
interface HistoryRequest extends Pick<PeriodParams, "from" | "to" | "countBack"> {
  readonly ticker: string;
  readonly timeframe: Timeframe;
}

/** An answer to the library. */
interface History {
  readonly bars: LibraryBar[];
  readonly meta: HistoryMetadata;
}

/**
 * The bars before `to`, ascending: those of the range, and older ones until there are `countBack`, over weekends and holidays as far
 * as it takes. When nothing is older, there is no data. Without `countBack` an empty range names the newest bar before it.
 * @throws SpotwireError
 */
export async function readHistory(client: Client, request: HistoryRequest): Promise<History> {
  const { ticker, timeframe, from, to, countBack = 0 } = request;
  if (!(from < to)) throw new SpotwireError("invalid_argument", "The start of the range must be before its end.");
  const inRange = Math.ceil((to - from) / STEP_S[timeframe]);
  // One more, because a day that opens before `to` can have the date after it.
  const wanted = Math.max(countBack, inRange) + 1;
  let bars: LibraryBar[] = [];
  let before = to;
  for (let page = 0; page < PAGES_MAX_COUNT; page += 1) {
    const limit = Math.min(KLINES_MAX_LIMIT_ROWS, Math.max(1, wanted - bars.length));
    const { items } = await client.klines({ ticker, timeframe, to: before, limit });
    const older = items.map((kline) => barOf(kline, timeframe)).filter(({ time }) => time < to * 1000);
    bars = [...older, ...bars];
    const [oldest] = items;
    if (oldest === undefined || items.length < limit) break;
    if (bars.length >= countBack && (bars[0]?.time ?? 0) <= from * 1000) break;
    before = oldest.time;
  }
  const start = bars.findIndex(({ time }) => time >= from * 1000);
  const count = Math.max(countBack, start === -1 ? 0 : bars.length - start);
  const newest = bars.at(-1);
  if (count > 0 && newest !== undefined) return { bars: bars.slice(-count), meta: { noData: false } };
  return { bars: [], meta: { noData: true, ...(newest !== undefined && { nextTime: newest.time / 1000 }) } };
}
