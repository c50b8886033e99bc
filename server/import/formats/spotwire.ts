import { TIMEFRAMES } from "#lib/contract/primitives";
import { cellTexts } from "../columns";
import { delimited, type Format, UTC_CLOCK } from "../format";
import { plainName, type Role, rolesOf } from "../layout";

/** The columns of an export, in its order: those of the API's record. */
export const EXPORT_COLUMNS = [
  ...["ticker", "timeframe", "time"],
  ...["open", "high", "low", "close", "tick_volume", "real_volume", "spread"],
] as const;

const NAMES = EXPORT_COLUMNS.map(plainName);

/**
 * `npm run export`: the columns of the API's klines, with times in ISO 8601 UTC or Unix seconds. Prices and spreads are in price
 * units, an empty cell is unknown, and every row is a kline, also one without volume.
 */
export const spotwireCsv: Format = {
  id: "spotwire",
  title: "Spotwire export",
  recognise({ lines: [header = "", first = ""] }) {
    const names = cellTexts(header, ",").map(plainName);
    if (!NAMES.every((name) => names.includes(name))) return null;
    const cells = cellTexts(first, ",");
    const time = cells[names.indexOf("time")] ?? "";
    const timeframe = TIMEFRAMES.find((known) => known === cells[names.indexOf("timeframe")]);
    const role: Role | null = /^\d+$/.test(time) ? "epoch" : time.endsWith("Z") ? "dateTime" : null;
    if (timeframe === undefined || role === null) return null;
    const roles = rolesOf(names, { time: role, timeframe: "timeframe" });
    const recognition = delimited(
      {
        ...{ kind: "klines", separator: ",", headerLines: 1, roles, dateStyle: "ymd" },
        ...{ zoned: role === "dateTime", carriesPrices: false },
      },
      UTC_CLOCK,
    );
    return { ...recognition, timeframe, exported: true };
  },
};
