import { TIMEFRAMES } from "#lib/contract/primitives";
import { delimited, type Format, METATRADER_CLOCK } from "../format";
import { HST_MARK } from "../hst";
import type { Layout } from "../layout";

/** MetaTrader 4's history files. Their text is that of `hstText`; times are the server's, in the form of Unix times. */
export const hst: Format = {
  id: "hst",
  title: "MetaTrader 4 history",
  recognise({ lines: [header = ""] }) {
    const [mark, symbol = "", period = ""] = header.split(",");
    if (mark !== HST_MARK) return null;
    const timeframe = TIMEFRAMES.find((known) => known === period);
    const layout: Layout = {
      ...{ kind: "klines", separator: ",", headerLines: 1, dateStyle: "compact", zoned: false, carriesPrices: false },
      roles: ["epoch", "open", "high", "low", "close", "tickVolume", "spread", "realVolume"],
    };
    const refusal =
      timeframe === undefined
        ? `klines of ${period}: only M1 klines and those of the timeframes up to MN1 can be imported`
        : null;
    return { ...delimited(layout, METATRADER_CLOCK, refusal), ...(timeframe && { timeframe }), ...(symbol !== "" && { symbol }) };
  },
};
