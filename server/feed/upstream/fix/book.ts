import { SECOND_MS } from "#lib/units";
import { Upset } from "../../feed";
import type { OddReason, Received } from "../port";
import { type FixMessage, fieldOf, groupOf } from "./codec";
import type { Profile } from "./profiles";

/** The prices of one instrument beyond which its book is not believed. */
const BOOK_MAX_COUNT = 1_000;
/** The time of an entry is further from the time of its message only when it is stale. */
const ENTRY_TIME_MAX_DISTANCE_MS = 5 * SECOND_MS;

const TAG = {
  action: 279,
  entryId: 278,
  entryRef: 280,
  side: 269,
  position: 290,
  price: 270,
  size: 271,
  date: 272,
  time: 273,
  sendingTime: 52,
  entries: 268,
} as const;
/** What a message says of prices. */
export type Applied = { readonly received: readonly Received[] } | { readonly odd: OddReason };
type Entry = ReadonlyMap<number, string>;

interface Price {
  readonly side: string | undefined;
  readonly price: number | null;
  readonly size: number | null;
}

const TIMESTAMP = /^\d{8}-\d\d:\d\d:\d\d(\.\d{3,12})?$/;

/** A UTCTimestamp in Unix milliseconds; NaN when it is none. */
export function timestampMs(text: string | undefined): number {
  if (text === undefined || !TIMESTAMP.test(text)) return Number.NaN;
  const part = (from: number, to: number) => Number(text.slice(from, to));
  return Date.UTC(part(0, 4), part(4, 6) - 1, part(6, 8), part(9, 11), part(12, 14), part(15, 17), part(18, 21));
}

/** A decimal number of FIX, which has no exponent; null when it is none. */
const numberOf = (text: string | undefined) =>
  text !== undefined && /^-?\d{1,15}(\.\d{0,15})?$/.test(text) ? Number(text) : null;

/** The books of the instruments of one connection: W replaces one, X changes it. */
export function createBooks({ instrument, zeroSize, entryTimes }: Profile, symbols: ReadonlySet<string>) {
  const books = new Map<string, Map<string, Price>>();

  /** An entry is known by its id where it has one, else by its side and position. */
  const keyOf = (entry: Entry) => entry.get(TAG.entryId) ?? `${entry.get(TAG.side) ?? ""}/${entry.get(TAG.position) ?? ""}`;

  const isQuoted = (size: number | null) => size === null || size > 0 || zeroSize === "unknown";

  function best(book: ReadonlyMap<string, Price>, wanted: string, pick: (a: number, b: number) => number): number | null {
    let found: number | null = null;
    for (const { side, price, size } of book.values())
      if (side === wanted && price !== null && price > 0 && isQuoted(size)) found = found === null ? price : pick(found, price);
    return found;
  }

  function change(book: Map<string, Price>, entry: Entry): void {
    const key = keyOf(entry);
    const replaced = entry.get(TAG.entryRef);
    const before = book.get(key) ?? (replaced === undefined ? undefined : book.get(replaced));
    if (replaced !== undefined) book.delete(replaced);
    if (entry.get(TAG.action) === "2") {
      book.delete(key);
      return;
    }
    const size = entry.has(TAG.size) ? numberOf(entry.get(TAG.size)) : (before?.size ?? null);
    const price = entry.has(TAG.price) ? numberOf(entry.get(TAG.price)) : (before?.price ?? null);
    book.set(key, { side: entry.get(TAG.side) ?? before?.side, price, size });
    if (book.size > BOOK_MAX_COUNT) throw new Upset(`a book has more than ${BOOK_MAX_COUNT} prices`);
  }

  /** The newest time of the entries, where they have one near the time of the message; else that one. */
  function timeOf(entries: readonly Entry[], sentMs: number): number {
    let newest = Number.NaN;
    if (entryTimes)
      for (const entry of entries) {
        const time = entry.get(TAG.time);
        if (time === undefined || !time.includes(".")) continue;
        const ms = timestampMs(`${entry.get(TAG.date) ?? ""}-${time}`);
        if (Math.abs(ms - sentMs) <= ENTRY_TIME_MAX_DISTANCE_MS && !(newest >= ms)) newest = ms;
      }
    return Number.isNaN(newest) ? sentMs : newest;
  }

  const quoteOf = (symbol: string, timeMs: number): Received => {
    const book = books.get(symbol) ?? new Map<string, Price>();
    return { symbol, timeMs, bid: best(book, "0", Math.max), ask: best(book, "1", Math.min) };
  };
  const isSide = (entry: Entry) => entry.get(TAG.side) === "0" || entry.get(TAG.side) === "1";

  function snapshot(message: FixMessage, entries: readonly Entry[], sentMs: number): Received[] {
    const symbol = fieldOf(message, instrument.tag) ?? "";
    if (symbols.has(symbol)) {
      const book = new Map<string, Price>();
      // Several prices of a side without an id are so many prices.
      for (const entry of entries) if (isSide(entry)) change(book, unlike(book, entry));
      books.set(symbol, book);
    }
    return [quoteOf(symbol, timeOf(entries, sentMs))];
  }

  /** An entry whose key is free. */
  function unlike(book: ReadonlyMap<string, Price>, entry: Entry): Entry {
    return book.has(keyOf(entry)) ? new Map([...entry, [TAG.position, `#${book.size}`]]) : entry;
  }

  function increment(message: FixMessage, entries: readonly Entry[], sentMs: number): Received[] {
    // A symbol may be said once for several entries.
    let symbol = fieldOf(message, instrument.tag) ?? "";
    const changed = new Map<string, Entry[]>();
    for (const entry of entries) {
      symbol = entry.get(instrument.tag) ?? symbol;
      if (entry.has(TAG.side) && !isSide(entry)) continue;
      const of = changed.get(symbol);
      if (of === undefined) changed.set(symbol, [entry]);
      else of.push(entry);
      if (!symbols.has(symbol)) continue;
      const book = books.get(symbol) ?? new Map<string, Price>();
      books.set(symbol, book);
      change(book, entry);
    }
    return [...changed].map(([one, of]) => quoteOf(one, timeOf(of, sentMs)));
  }

  return {
    /**
     * The quotes after a message, one for each instrument that it changed.
     * @throws Upset when a book grows without bound
     */
    apply(message: FixMessage): Applied {
      const entries = groupOf(message, TAG.entries);
      if (entries === undefined) return { odd: "unreadable" };
      const sentMs = timestampMs(fieldOf(message, TAG.sendingTime));
      return { received: (message.type === "W" ? snapshot : increment)(message, entries, sentMs) };
    },
  };
}
