import { SECOND_MS } from "#lib/units";

/** Fields that are prices, and how many more decimals than the instrument they have. */
const PRICES: ReadonlyMap<string, number> = new Map([
  ...["bid", "ask", "spread", "bid_high", "bid_low", "ask_high", "ask_low", "last", "last_high", "last_low"].map(exact),
  ...["open", "high", "low", "close", "change"].map(exact),
  ["mid", 1],
]);
/** Fields that are instants, with the milliseconds of their unit. */
const INSTANTS: ReadonlyMap<string, number> = new Map([
  ["time", SECOND_MS],
  ["time_msc", 1],
]);
const DECIMALS_MAX_COUNT = 10;

type Row = Readonly<Record<string, unknown>>;

function exact(name: string): readonly [string, number] {
  return [name, 0];
}

/** Decimals of a price as it is written. */
export const decimalsOf = (value: number) => Math.min(DECIMALS_MAX_COUNT, String(value).split(".")[1]?.length ?? 0);

/**
 * Decimals of the prices of each ticker: those of the instrument where it is known, otherwise those of its most precise price here.
 * @param known digits by ticker
 */
export function priceDigits(rows: readonly Row[], known: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const digits = new Map<string, number>();
  for (const row of rows) {
    const { ticker } = row;
    if (typeof ticker !== "string") continue;
    for (const [name, value] of Object.entries(row)) {
      if (typeof value === "number" && PRICES.get(name) === 0)
        digits.set(ticker, Math.max(digits.get(ticker) ?? 0, decimalsOf(value)));
    }
  }
  return new Map([...digits].map(([ticker, found]) => [ticker, known.get(ticker) ?? found]));
}

/** An instant of a field in UTC as `2026-01-01 00:00:00`, with milliseconds where the field has them; undefined for other fields. */
export function instantText(name: string, value: unknown): string | undefined {
  const unitMs = INSTANTS.get(name);
  if (unitMs === undefined || typeof value !== "number") return undefined;
  const at = new Date(value * unitMs);
  if (Number.isNaN(at.getTime())) return undefined;
  const text = at.toISOString().replace("T", " ");
  return unitMs === 1 ? text.slice(0, -1) : text.replace(/\.\d+Z$/, "");
}

/** A price with all decimals of its instrument, so that columns line up; undefined for what is no price. */
export function priceText(name: string, value: unknown, digits: number | undefined): string | undefined {
  const more = PRICES.get(name);
  if (more === undefined || digits === undefined || typeof value !== "number") return undefined;
  return value.toFixed(Math.max(digits + more, decimalsOf(value)));
}
