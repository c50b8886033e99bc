import { z } from "zod";
import { AgentTime, agentTime } from "./agent-times";
import { Kline, KlineWindow } from "./kline";

/** What every row of a window has in common stands beside the rows. */
const { type: _type, ticker: _ticker, timeframe: _timeframe, ...columns } = Kline.shape;
const COLUMNS = Object.keys(columns) as (keyof typeof columns)[];

/** The data of the klines operation with rows in place of objects, a third of the tokens, and with times in ISO 8601. */
export const KlineTable = KlineWindow.omit({ items: true })
  .extend({
    from: AgentTime,
    to: AgentTime,
    next_from: AgentTime.nullable(),
    incomplete: z.array(AgentTime).optional(),
    as_of: AgentTime.optional(),
    columns: z.array(z.enum(COLUMNS)),
    rows: z.array(z.array(z.union([z.string(), z.number()]).nullable())),
  })
  .meta({ id: "KlineTable", description: "A range of klines as a table, in ascending order by open time." });
export type KlineTable = z.infer<typeof KlineTable>;

/** The same klines as a table. */
export function tableOf({ items, incomplete, as_of, ...window }: KlineWindow): KlineTable {
  return {
    ...window,
    from: agentTime(window.from),
    to: agentTime(window.to),
    next_from: window.next_from === null ? null : agentTime(window.next_from),
    ...(incomplete && { incomplete: incomplete.map(agentTime) }),
    ...(as_of !== undefined && { as_of: agentTime(as_of) }),
    columns: COLUMNS,
    rows: items.map((kline) => COLUMNS.map((name) => (name === "time" ? agentTime(kline.time) : kline[name]))),
  };
}
