import { TIMEFRAMES } from "#lib/contract/primitives";
import { timeframeOfMinutes } from "#lib/domain/timeframe";
import { hasOffset } from "#server/import/rows/bytes";
import { cellTexts } from "#server/import/rows/delimited";
import { plainName, type Role } from "#server/import/rows/row";
import { delimited, type Format, UTC_CLOCK } from "./format";

/** `OANDA_EURUSD, 1.csv`, also with a suffix: source, symbol, and minutes or a number and D, W, M, S. */
const NAME = /^[a-z0-9_.-]+, ?(\d*)([dwms]?)(?:[ _(].*)?\.(?:csv|txt)$/;
const LETTERS: Readonly<Record<string, string>> = { d: "D1", w: "W1", m: "MN1" };
const NEEDED = ["time", "open", "high", "low", "close"];

function periodOf(count: string, letter: string): string {
  if (letter === "s") return `${count || 1} seconds`;
  if (letter !== "") return Number(count || 1) === 1 ? (LETTERS[letter] as string) : `${count}${letter.toUpperCase()}`;
  return timeframeOfMinutes(Number(count)) ?? `${count} minutes`;
}

/**
 * Chart data of TradingView: `time,open,high,low,close,Volume`, then the values of indicators, whose names can be any. The time is
 * in Unix seconds or ISO 8601 with an offset.
 */
export const tradingView: Format = {
  id: "tradingview",
  title: "TradingView export",
  recognise({ fileName, lines: [header = "", ...lines] }) {
    const [, count = "", letter = ""] = NAME.exec(fileName) ?? [];
    const names = cellTexts(header, ",").map(plainName);
    if ((count === "" && letter === "") || !NEEDED.every((name, column) => names[column] === name)) return null;
    const rows = lines.map((line) => cellTexts(line, ","));
    const time = rows[0]?.[0] ?? "";
    const zoned = /^\d{4}-.*T/.test(time) && hasOffset(time);
    if (!zoned && !/^([3-9]\d{7}|\d{9,10})$/.test(time)) return null;
    const roles = names.map((name, column): Role | null => {
      if (column === 0) return zoned ? "dateTime" : "epoch";
      return column < NEEDED.length ? (NEEDED[column] as Role) : name === "volume" ? name : null;
    });
    const period = periodOf(count, letter);
    const timeframe = TIMEFRAMES.find((known) => known === period);
    const refusal = timeframe === undefined ? `klines of ${period}: import a chart of one minute` : null;
    const layout = {
      kind: "klines",
      separator: ",",
      headerLines: 1,
      roles,
      dateStyle: "ymd",
      zoned,
      epochUnit: "s",
    } as const;
    return { ...delimited(layout, UTC_CLOCK, refusal), ...(timeframe && { timeframe }) };
  },
};
