import { delimited, type Format, type FormatClock, separatorOf, UTC_CLOCK } from "../format";
import { type Layout, plainName, type Role, rolesOf } from "../layout";

/** Many tools write such files, on any clock: times without an offset are UTC only where the rows show it. */
const UNZONED_CLOCK: FormatClock = { detect: { likely: ["UTC"] } };
const TIME_NAMES = ["time", "timemsc", "timems", "datetime", "timestamp", "date"];

function timeRole(name: string, value: string): Role {
  if (name === "timemsc" || name === "timems") return "epoch";
  return /^\d{9,}(\.\d+)?$/.test(value) ? "epoch" : "dateTime";
}

/**
 * Spotwire's plain CSV, with a header line that names the columns in any order:
 * ticks `time_msc|time,bid,ask[,volume]`, klines `time,open,high,low,close[,tick_volume,real_volume,spread]` (bid prices) or
 * quote klines `time,bid_open,bid_high,bid_low,bid_close,ask_open,…`. A time is ISO 8601 (UTC unless it has an offset)
 * or a Unix time in seconds or milliseconds; spreads are in points when all of them are whole numbers, else in price units.
 */
export const plainCsv: Format = {
  id: "plain",
  title: "plain CSV",
  recognise(head) {
    const header = head.lines[0] ?? "";
    const separator = separatorOf(header);
    const names = header.split(separator).map(plainName);
    const timeAt = names.findIndex((name) => TIME_NAMES.includes(name));
    if (timeAt < 0) return null;
    const name = names[timeAt] as string;
    const value = ((head.lines[1] ?? "").split(separator)[timeAt] ?? "").replace(/"/g, "").trim();
    const kind = names.includes("bid") && names.includes("ask") ? "ticks" : "klines";
    const isQuotes = names.includes("bidopen");
    const own: Record<string, Role | null> = {
      date: null,
      [name]: timeRole(name, value),
      ...(kind === "klines" && { volume: "tickVolume" as const }),
      ...(isQuotes && { bidvolume: "realVolume" as const }),
    };
    const roles = rolesOf(names, own);
    const needed: Role[] = kind === "ticks" ? ["bid", "ask"] : ["open", "high", "low", "close"];
    if (!needed.every((role) => roles.includes(role))) return null;
    const isEpoch = roles[timeAt] === "epoch";
    const zoned = !isEpoch && /(Z|[+-]\d\d:?\d\d)$/.test(value) && value.length > 10;
    const layout: Layout = { kind, separator, headerLines: 1, roles, dateStyle: "ymd", zoned, carriesPrices: false };
    return delimited(layout, isEpoch || zoned ? UTC_CLOCK : UNZONED_CLOCK);
  },
};
