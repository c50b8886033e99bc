import { z } from "zod";
import { Kline, KlineWindow } from "./kline";

/** What every row of a window has in common stands beside the rows. */
const { type: _type, ticker: _ticker, timeframe: _timeframe, ...columns } = Kline.shape;
const COLUMNS = Object.keys(columns) as (keyof typeof columns)[];
const MEANINGS = COLUMNS.map((name) => `${name}: ${columns[name].description}`).join(" ");

/** The data of the klines operation with rows in place of objects: a third of the tokens. */
export const KlineTable = KlineWindow.omit({ items: true })
  .extend({
    count: KlineWindow.shape.count.describe("Number of rows."),
    columns: z.array(z.enum(COLUMNS)).describe(`What the values of a row are, in order. ${MEANINGS}`),
    rows: z.array(z.array(z.number().nullable())).describe("A kline each, in ascending order by open time."),
  })
  .meta({ id: "KlineTable", description: "A range of klines as a table." });
export type KlineTable = z.infer<typeof KlineTable>;

/** The same klines as a table. */
export function tableOf({ items, ...window }: KlineWindow): KlineTable {
  return { ...window, columns: COLUMNS, rows: items.map((kline) => COLUMNS.map((name) => kline[name])) };
}
