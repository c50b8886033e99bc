import { operations } from "#lib/operations/declarations";
import { HOUR_S } from "#lib/units";
import type { Stranger } from "./client";

/** Klines computed in a simple way, as a reader of the docs would, to compare answers with. */

const NEW_YORK = new Intl.DateTimeFormat("en-US", { timeZone: "America/New_York", hour: "2-digit", hourCycle: "h23" });
const DAY_OPEN_HOUR = "17";
/** Largest page of a window. */
const PAGE_ROWS = 5_000;

/** The numbers of a kline; `spread` in price units. */
export interface PlainKline {
  readonly time: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly tick_volume: number;
  readonly real_volume: number | null;
  readonly spread: number;
}

export type PlainTimeframe = "M1" | "M5" | "H1" | "D1";
const LENGTHS_S = { M1: 60, M5: 300, H1: HOUR_S } as const;

/** The last 17:00 in New York, Unix seconds. */
function dayOpen(atS: number): number {
  let open = Math.floor(atS / HOUR_S) * HOUR_S;
  while (NEW_YORK.format(open * 1000) !== DAY_OPEN_HOUR) open -= HOUR_S;
  return open;
}

/** Open time of the kline that contains an instant, both in Unix seconds. */
export function openTime(timeframe: PlainTimeframe, atS: number): number {
  if (timeframe === "D1") return dayOpen(atS);
  const lengthS = LENGTHS_S[timeframe];
  return Math.floor(atS / lengthS) * lengthS;
}

/** Aggregates rows in order of time (klines, or ticks with their own time) to klines of a longer timeframe. */
export function plainKlines(rows: readonly PlainKline[], timeframe: PlainTimeframe): PlainKline[] {
  const hours = new Map<number, number>();
  const groups = new Map<number, PlainKline[]>();
  for (const row of rows) {
    // A trading day begins on the hour: one conversion per hour is enough.
    const hour = Math.floor(row.time / HOUR_S);
    const open = timeframe === "D1" ? (hours.get(hour) ?? dayOpen(row.time)) : openTime(timeframe, row.time);
    hours.set(hour, open);
    groups.set(open, [...(groups.get(open) ?? []), row]);
  }
  return [...groups].map(([time, group]) => {
    const reals = group.map(({ real_volume }) => real_volume).filter((volume) => volume !== null);
    return {
      time,
      open: group[0]?.open ?? Number.NaN,
      high: Math.max(...group.map(({ high }) => high)),
      low: Math.min(...group.map(({ low }) => low)),
      close: group.at(-1)?.close ?? Number.NaN,
      tick_volume: group.reduce((sum, { tick_volume }) => sum + tick_volume, 0),
      real_volume: reals.length === 0 ? null : Number(reals.reduce((sum, volume) => sum + volume, 0).toFixed(6)),
      spread: Math.min(...group.map(({ spread }) => spread)),
    };
  });
}

/** All klines that open in [from, to) (Unix seconds) as REST answers them, page by page; `to` defaults to now. */
export async function readKlines(
  caller: Stranger,
  ticker: string,
  timeframe: PlainTimeframe,
  from: number,
  to?: number,
): Promise<PlainKline[]> {
  const rows: PlainKline[] = [];
  for (let next: number | null = from; next !== null; ) {
    const until: string = to === undefined ? "" : `&to=${to}`;
    const { data } = await caller.call(
      `/api/v1/market/klines?ticker=${ticker}&timeframe=${timeframe}&from=${next}${until}&limit=${PAGE_ROWS}`,
    );
    const page = operations.klines.data.parse(data);
    rows.push(...page.items.map(({ type: _, ticker: __, timeframe: ___, ...numbers }) => numbers));
    next = page.next_from;
  }
  return rows;
}
