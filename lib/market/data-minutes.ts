import type pg from "pg";
import { type DataMinute, type DataMinutes, MINUTES_AROUND_COUNT } from "#lib/contract/portal-corrections";
import { MINUTE_S } from "#lib/units";
import { SERIES } from "./data-year";
import { NUMBERS } from "./kline-rows";

const STORED = `SELECT time, open, high, low, close, tick_volume, spread, batch FROM kline WHERE ${SERIES}`;
const STRUCK = "SELECT time, max(batch) FROM struck_minute WHERE ticker = $1 AND time >= $2 AND time < $3 GROUP BY time";

type Row = [number, number, number, number, number, number, number | null, number | null];

/** The minutes around an instant (Unix seconds), stored or not. */
export async function readMinutesAround(client: pg.ClientBase, ticker: string, at: number): Promise<DataMinutes> {
  const middle = Math.floor(at / MINUTE_S) * MINUTE_S;
  const from = middle - MINUTES_AROUND_COUNT * MINUTE_S;
  const to = middle + (MINUTES_AROUND_COUNT + 1) * MINUTE_S;
  const values = [ticker, from, to];
  const { rows } = await client.query<Row>({ text: STORED, values, rowMode: "array", types: NUMBERS });
  const struck = await client.query<[number, number]>({ text: STRUCK, values, rowMode: "array", types: NUMBERS });
  const stored = new Map(rows.map((row) => [row[0], row]));
  const strikes = new Map(struck.rows);
  const items: DataMinute[] = [];
  for (let time = from; time < to; time += MINUTE_S) {
    const row = stored.get(time);
    if (row === undefined) {
      items.push({ time, kline: null, import: strikes.get(time) ?? null, struck: strikes.has(time) });
      continue;
    }
    const [, open, high, low, close, tick_volume, spread, batch] = row;
    items.push({ time, kline: { open, high, low, close, tick_volume, spread }, import: batch, struck: false });
  }
  return { items };
}
