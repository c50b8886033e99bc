import { TIMEFRAMES } from "#lib/contract/primitives";
import { HST_MARK } from "#server/import/files/hst";
import { epochUnitOf, hasOffset } from "#server/import/rows/bytes";
import { type Layout, type Role, rolesOf } from "#server/import/rows/row";
import { delimited, type Format, headed, METATRADER_CLOCK, separatorOf } from "./format";

/**
 * MetaTrader 5 exports: a header of names in <>, tabs between columns. Times are the server's. Klines have <OPEN>…<SPREAD>
 * (spread in points; no <TIME> from D1 on), ticks have <BID> <ASK>, where an empty price repeats the one of the row before.
 */
export const metaTrader5Export: Format = {
  id: "mt5",
  title: "MetaTrader 5 export",
  recognise(head) {
    const header = head.lines[0] ?? "";
    if (!/^"?<DATE>/i.test(header)) return null;
    const separator = separatorOf(header);
    const roles = rolesOf(header.split(separator), { time: "timeOfDay" });
    const kind = roles.includes("bid") || roles.includes("ask") ? "ticks" : "klines";
    const needed: Role[] = kind === "ticks" ? ["bid", "ask", "timeOfDay"] : ["open", "high", "low", "close"];
    if (!needed.every((role) => roles.includes(role))) return null;
    const layout: Layout = { kind, separator, headerLines: 1, roles, dateStyle: "ymd", carriesPrices: kind === "ticks" };
    return delimited(layout, METATRADER_CLOCK);
  },
};

const RATES = ["time", "open", "high", "low", "close", "tickvolume", "spread", "realvolume"];
const TICKS = ["time", "bid", "ask", "last", "volume", "timemsc", "flags"];

/**
 * Output of the copy_rates_… and copy_ticks_… functions of MetaTrader's Python package, with or without an index column
 * before the time. Times are the server's, as text or in the form of Unix times.
 */
export const metaTrader5Python: Format = {
  id: "mt5-python",
  title: "MetaTrader 5 copy_rates or copy_ticks",
  recognise(head) {
    const { separator, names, rows } = headed(head);
    const start = names.indexOf("time");
    if (start < 0 || start > 1) return null;
    const isRates = RATES.every((name, index) => names[start + index] === name);
    const kind = isRates ? "klines" : TICKS.every((name) => names.includes(name)) ? "ticks" : null;
    if (kind === null) return null;
    const first = rows[0]?.[start] ?? "";
    // Its times have no offset: those of other tools do.
    if (hasOffset(first)) return null;
    const time: Role = /^\d+(\.\d+)?$/.test(first) ? "epoch" : "dateTime";
    const own = kind === "ticks" ? { time: null, volume: null, volumereal: "volume" as const } : { time };
    const roles = rolesOf(names, own);
    const epochUnit = epochUnitOf(rows.map((row) => row[roles.indexOf("epoch")]));
    return delimited({ kind, separator, headerLines: 1, roles, dateStyle: "ymd", epochUnit }, METATRADER_CLOCK);
  },
};

/** MetaTrader 4's history files. Their text is that of `hstText`; times are the server's, in the form of Unix times. */
export const hst: Format = {
  id: "hst",
  title: "MetaTrader 4 history",
  recognise({ lines: [header = ""] }) {
    const [mark, symbol = "", period = ""] = header.split(",");
    if (mark !== HST_MARK) return null;
    const timeframe = TIMEFRAMES.find((known) => known === period);
    const layout: Layout = {
      kind: "klines",
      separator: ",",
      headerLines: 1,
      dateStyle: "compact",
      epochUnit: "s",
      roles: ["epoch", "open", "high", "low", "close", "tickVolume", "spread", "realVolume"],
    };
    const refusal =
      timeframe === undefined
        ? `klines of ${period}: only M1 klines and those of the timeframes up to MN1 can be imported`
        : null;
    return { ...delimited(layout, METATRADER_CLOCK, refusal), ...(timeframe && { timeframe }), ...(symbol !== "" && { symbol }) };
  },
};
