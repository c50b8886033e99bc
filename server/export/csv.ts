import type { Kline } from "#lib/domain/kline";
import { EXPORT_COLUMNS } from "#server/import/formats/spotwire";

/** Doubles have no more significant decimals at the size of prices. */
const DECIMALS_MAX_COUNT = 15;

/** The shortest decimal text of a number with at least `digits` decimals, so that prices never look like whole points. */
function decimalText(value: number, digits: number): string {
  for (let decimals = digits; decimals <= DECIMALS_MAX_COUNT; decimals += 1) {
    const text = value.toFixed(decimals);
    if (Number(text) === value) return text;
  }
  return String(value);
}

/** The header line of an export. */
export const CSV_HEAD = `${EXPORT_COLUMNS.join(",")}\n`;

/** The line of a kline. What is unknown is empty. */
export function csvLine(kline: Kline, digits: number): string {
  const { ticker, timeframe, time, tick_volume, real_volume, spread } = kline;
  const at = new Date(time * 1_000).toISOString().replace(".000Z", "Z");
  const [open, high, low, close] = [kline.open, kline.high, kline.low, kline.close].map((price) => decimalText(price, digits));
  const known = spread === null ? "" : decimalText(spread, digits);
  return `${ticker},${timeframe},${at},${open},${high},${low},${close},${tick_volume},${real_volume ?? ""},${known}\n`;
}
