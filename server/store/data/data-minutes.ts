import { type DataMinute, type DataMinutes, MINUTES_AROUND_COUNT } from "#lib/contract/portal-corrections";
import { klineAt, rowFrom } from "#lib/domain/columns";
import { FEED_LAYER } from "#lib/domain/fold";
import { MINUTE_S } from "#lib/units";
import { readRange } from "#server/store/history/minutes";
import type { Queries } from "#server/store/segments/segment-store";
import type { Segments } from "#server/store/segments/segments";

/** The minutes around an instant (Unix seconds), stored or not. */
export async function readMinutesAround(client: Queries, segments: Segments, ticker: string, at: number): Promise<DataMinutes> {
  const middle = Math.floor(at / MINUTE_S) * MINUTE_S;
  const from = middle - MINUTES_AROUND_COUNT * MINUTE_S;
  const to = middle + (MINUTES_AROUND_COUNT + 1) * MINUTE_S;
  const { rows, struck } = await readRange(client, segments, { ticker, timeframe: "M1", from, to });
  const items: DataMinute[] = [];
  for (let time = from; time < to; time += MINUTE_S) {
    const row = rowFrom(rows.time, time);
    if (rows.time[row] === time) {
      const { open, high, low, close, tick_volume, spread } = klineAt(rows, row, ticker, "M1");
      const layer = rows.layer[row] as number;
      const kline = { open, high, low, close, tick_volume, spread };
      items.push({ time, kline, import: layer === FEED_LAYER ? null : layer, struck: false });
    } else {
      const strike = struck.time.indexOf(time);
      items.push({ time, kline: null, import: struck.layer[strike] ?? null, struck: strike >= 0 });
    }
  }
  return { items };
}
