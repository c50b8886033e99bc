import { dayMs } from "#server/import/rows/bytes";
import type { Role } from "#server/import/rows/row";
import { delimited, type Format, type FormatClock, type Head, headless, UTC_CLOCK } from "./format";

/**
 * Data folders of QuantConnect's Lean: forex/oanda/minute/eurusd/20140501_quote.zip with 20140501_eurusd_minute_quote.csv. Times
 * are milliseconds since midnight; hours and days are in forex/oanda/hour/eurusd.zip, with times such as 20140501 13:00.
 */

const DAILY_FILE = /(?:^|\/)(\d{4})(\d\d)(\d\d)_(?:[a-z0-9]+_)?(?:(tick|second|minute)_)?(quote|trade)(?:\.csv|\/[^/]*)$/i;
const RESOLUTION = /[/_](tick|second|minute|hour|daily)[/_]/i;

const QUOTE_ROLES: readonly (Role | null)[] = [
  ...(["open", "high", "low", "close", null] as const),
  ...(["askOpen", "askHigh", "askLow", "askClose", null] as const),
];
const KLINE_LINE = /^\d+(\.\d+)?(,[\d.]*){10}$/;
const TICK_LINE = /^\d+(\.\d+)?,\d+(\.\d+)?,\d+(\.\d+)?$/;
const LONGER_LINE = /^\d{8} \d\d:\d\d(,[\d.]*){10}$/;

/** Markets that Lean has forex and metals of, and the zone of their data in its market hours database. */
function clockOf(path: string): FormatClock {
  const market = /(?:^|\/)(oanda|fxcm|interactivebrokers)\//i.exec(path)?.[1]?.toLowerCase();
  if (market === undefined) return { detect: { likely: ["UTC", "-05:00"] } };
  // Metals of FXCM are in UTC, its pairs in UTC-5 all year.
  return market === "fxcm" && !/\bx(au|ag|pt|pd)|_x(au|ag|pt|pd)/i.test(path) ? { fixed: "-05:00" } : UTC_CLOCK;
}

function startOf({ path, given }: Head): number | null {
  if (given.dateMs !== null) return given.dateMs;
  const [, year, month, day] = DAILY_FILE.exec(path) ?? [];
  const startMs = dayMs(Number(year), Number(month), Number(day));
  return Number.isNaN(startMs) ? null : startMs;
}

function refusalOf({ path }: Head, resolution: string | undefined, startMs: number | null): string | null {
  if (/_trade(\.csv)?$|_trade\//i.test(path)) return "trades: Spotwire stores bid prices, import the _quote file";
  if (resolution === "second")
    return "klines of a second: only ticks and M1 klines can be imported, import the tick or the minute files";
  return startMs === null ? "its name has no valid date (20140501_quote.zip): set it with --date 2014-05-01" : null;
}

export const lean: Format = {
  id: "lean",
  title: "QuantConnect Lean",
  recognise(head) {
    const { lines, path } = head;
    const has = (pattern: RegExp) => lines.slice(0, 3).some((line) => pattern.test(line));
    const clock = clockOf(path);
    if (has(LONGER_LINE)) return delimited(headless("klines", ",", ["dateTime", ...QUOTE_ROLES], "compact"), clock);
    const kind = has(KLINE_LINE) ? "klines" : has(TICK_LINE) ? "ticks" : null;
    if (kind === null || !(DAILY_FILE.test(path) || RESOLUTION.test(path))) return null;
    const resolution = RESOLUTION.exec(path)?.[1]?.toLowerCase();
    const startMs = startOf(head);
    const roles: (Role | null)[] = kind === "ticks" ? ["bid", "ask"] : [...QUOTE_ROLES];
    const layout = { ...headless(kind, ",", ["sinceMidnight", ...roles], "compact"), startMs: startMs ?? 0 };
    return delimited(layout, clock, refusalOf(head, resolution, startMs));
  },
};
