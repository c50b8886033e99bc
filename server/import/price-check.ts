import type { Kline } from "#lib/domain/kline";
import type { KlineTable } from "#lib/market/kline-store";
import { DAY_S } from "#lib/units";
import { ImportFailure } from "./failure";
import type { ImportListing } from "./identify";
import { plausibleRange } from "./price-ranges";

/** How far prices may be from a stored day, as a factor, by how many days lie between. Further days say nothing. */
const STORED_FACTORS: readonly { readonly days: number; readonly factor: number }[] = [
  { days: 3, factor: 1.1 },
  { days: 30, factor: 1.3 },
];
const FURTHEST_DAYS = 30;
/** Stored days that are compared: more than the minutes of one write cover. */
const STORED_MAX_DAYS = 1_000;

const dayOf = ({ time }: Kline) => Math.floor(time / DAY_S);

/** The last kline of each day. */
function lastOfDays(klines: readonly Kline[]): Kline[] {
  const days = new Map<number, Kline>();
  for (const kline of klines) if (kline.time >= (days.get(dayOf(kline))?.time ?? 0)) days.set(dayOf(kline), kline);
  return [...days.values()];
}

const middleOf = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

function nearest(day: Kline, stored: readonly Kline[]): Kline | undefined {
  const distance = (other: Kline) => Math.abs(other.time - day.time);
  return stored.reduce<Kline | undefined>((best, other) => (best && distance(best) <= distance(other) ? best : other), undefined);
}

/** Why the prices do not fit the days that are stored next to them; null when they do. Half of the days may be off. */
function offStored(days: readonly Kline[], stored: readonly Kline[]): string | null {
  const excesses: { ratio: number; factor: number; excess: number; text: string }[] = [];
  for (const day of days) {
    const other = nearest(day, stored);
    if (other === undefined) continue;
    // A stored day has the time of its start and the price of its end.
    const apart = Math.abs(dayOf(other) - dayOf(day));
    const factor = STORED_FACTORS.find((step) => apart <= step.days)?.factor;
    if (factor === undefined) continue;
    const ratio = Math.max(day.close / other.close, other.close / day.close);
    const text = `${day.close} where ${other.close} is stored for ${new Date(other.time * 1000).toISOString().slice(0, 10)}`;
    excesses.push({ ratio, factor, excess: ratio / factor, text });
  }
  const middle = middleOf(excesses.map(({ excess }) => excess));
  const example = excesses.find(({ excess }) => excess === middle);
  return example === undefined || example.excess <= 1 ? null : `${example.text}, off by more than a factor of ${example.factor}`;
}

/**
 * Refuses klines of another instrument by their prices: they must be near those of the stored days around them and possible for
 * the pair.
 * @param klines that a file would store next
 * @param isFirst whether they are its first: those after them are not compared with days before theirs, which may be of this file
 * @throws ImportFailure that says what is off
 */
export async function checkPrices(
  klines: readonly Kline[],
  isFirst: boolean,
  { ticker, base, quote }: ImportListing,
  store: Pick<KlineTable, "read">,
): Promise<void> {
  const days = lastOfDays(klines);
  const price = middleOf(days.map(({ close }) => close));
  if (price === undefined) return;
  const range = plausibleRange(base, quote);
  const insist = "--force imports it anyway";
  if (range !== null && (price < range.low || price > range.high))
    throw new ImportFailure(
      `a price of ${price} is not one of ${ticker}, which is between ${Number(range.low.toPrecision(2))} and ${Number(range.high.toPrecision(2))}: another instrument, or --point-digits is missing. ${insist}`,
    );
  const times = days.map(({ time }) => time);
  const from = Math.min(...times) - (isFirst ? FURTHEST_DAYS * DAY_S : 0);
  const around = { from, to: Math.max(...times) + FURTHEST_DAYS * DAY_S };
  const stored = await store.read({ ticker, timeframe: "D1", ...around, limit: STORED_MAX_DAYS, end: "oldest" });
  const reason = offStored(days, stored);
  if (reason !== null) throw new ImportFailure(`it is probably not ${ticker}: ${reason}. ${insist}`);
}
