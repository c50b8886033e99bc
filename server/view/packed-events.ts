import { Kline } from "#lib/contract/kline";
import { Quote } from "#lib/contract/quote";
import { Snapshot } from "#lib/contract/snapshot";
import type { KlineEvent, MarketEvent } from "#server/events/event";

/** What all events of a topic have in common is not among their numbers. */
const SHARED: ReadonlySet<string> = new Set(["type", "ticker", "timeframe"]);
const numbersOf = ({ shape }: { readonly shape: object }) => Object.keys(shape).filter((field) => !SHARED.has(field));
/** The fields of each record that are packed, in this order: numbers, or null. */
const FIELDS = { quote: numbersOf(Quote), snapshot: numbersOf(Snapshot), kline: numbersOf(Kline) };
type Numbers<Rec> = Omit<Rec, "type" | "ticker" | "timeframe">;

/** Before the numbers of the record: when the event came, its sequence, how many it replaces, and its flags. */
const RECORD_AT = 4;
const RESTORED = 1;
const CLOSED = 2;
const CORRECTED = 4;
const REMOVED = 8;

function flagsOf(event: MarketEvent): number {
  const flags = event.restored ? RESTORED : 0;
  if (event.type !== "kline") return flags;
  return flags + (event.closed ? CLOSED : 0) + (event.corrected ? CORRECTED : 0) + (event.removed ? REMOVED : 0);
}

const numberOf = (value: number | null) => value ?? Number.NaN;

function packQuote({ time_msc, bid, ask, mid, spread }: Numbers<Quote>, to: Float64Array, at: number): void {
  to[at] = time_msc;
  to[at + 1] = bid;
  to[at + 2] = ask;
  to[at + 3] = mid;
  to[at + 4] = spread;
}

/** The fields of the day follow those of the quote. */
function packDay(record: Numbers<Snapshot>, to: Float64Array, at: number): void {
  to[at] = numberOf(record.bid_high);
  to[at + 1] = numberOf(record.bid_low);
  to[at + 2] = numberOf(record.ask_high);
  to[at + 3] = numberOf(record.ask_low);
  to[at + 4] = numberOf(record.last);
  to[at + 5] = numberOf(record.last_high);
  to[at + 6] = numberOf(record.last_low);
  to[at + 7] = numberOf(record.open);
  to[at + 8] = numberOf(record.close);
  to[at + 9] = numberOf(record.change);
  to[at + 10] = numberOf(record.change_pct);
}

function packKline(record: Numbers<KlineEvent["record"]>, to: Float64Array, at: number): void {
  to[at] = record.time;
  to[at + 1] = record.open;
  to[at + 2] = record.high;
  to[at + 3] = record.low;
  to[at + 4] = record.close;
  to[at + 5] = record.tick_volume;
  to[at + 6] = numberOf(record.real_volume);
  to[at + 7] = numberOf(record.spread);
}

/** How many numbers an event of this type takes. */
export const packedLength = (type: MarketEvent["type"]) => RECORD_AT + FIELDS[type].length;

/** Writes an event that came at `nowMs` as numbers, from `at` on; field by field, because a loop over names costs more. */
export function pack(event: MarketEvent, nowMs: number, to: Float64Array, at: number): void {
  to[at] = nowMs;
  to[at + 1] = event.seq;
  to[at + 2] = event.merged ?? 0;
  to[at + 3] = flagsOf(event);
  if (event.type === "kline") packKline(event.record, to, at + RECORD_AT);
  else packQuote(event.record, to, at + RECORD_AT);
  if (event.type === "snapshot") packDay(event.record, to, at + RECORD_AT + FIELDS.quote.length);
}

/** When the event that was packed there came, Unix milliseconds. */
export const arrivalOf = (from: Float64Array, at: number) => from[at] as number;

/** The event that was packed there. @param sibling any event of its topic and epoch, for what they have in common */
export function unpack(sibling: MarketEvent, from: Float64Array, at: number): MarketEvent {
  const [, seq = 0, merged = 0, flags = 0] = from.subarray(at, at + RECORD_AT);
  const { type, topic, epoch } = sibling;
  // A copy, so that the fields keep their order and the JSON is the same.
  const record: Record<string, unknown> = { ...sibling.record };
  FIELDS[type].forEach((field, index) => {
    const value = from[at + RECORD_AT + index] as number;
    record[field] = Number.isNaN(value) ? null : value;
  });
  return {
    type,
    topic,
    record,
    epoch,
    seq,
    ...(type === "kline" && { closed: (flags & CLOSED) !== 0 }),
    ...(merged > 0 && { merged }),
    ...(flags & RESTORED && { restored: true }),
    ...(flags & CORRECTED && { corrected: true }),
    ...(flags & REMOVED && { removed: true }),
  } as unknown as MarketEvent;
}
