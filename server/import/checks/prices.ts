import type { Timeframe } from "#lib/contract/primitives";
import { ascending, columnsOf, type KlineColumns } from "#lib/domain/columns";
import { TIME_MAX_S } from "#lib/domain/period";
import { plausibleRange } from "#lib/domain/price-ranges";
import { TIMEFRAME_SECONDS } from "#lib/domain/timeframe";
import { DAY_S, isoDate, SECOND_MS } from "#lib/units";
import { minuteText } from "#server/cli/words";
import { ImportFailure } from "#server/import/failure";
import type { ImportListing } from "#server/import/survey/identify";
import type { KlineTable } from "#server/store/klines/kline-store";

/** How far prices may be from a stored day, as a factor, by how many days lie between. Further days say nothing. */
const STORED_FACTORS: readonly { readonly days: number; readonly factor: number }[] = [
  { days: 3, factor: 1.1 },
  { days: 30, factor: 1.3 },
];
const FURTHEST_DAYS = 30;
/** Stored klines of a timeframe that are read to be compared: the hours of fifty years. */
const STORED_MAX_ROWS = 450_000;

/** The price that an instrument had at a time, Unix seconds. */
interface Priced {
  readonly time: number;
  readonly price: number;
}

const dayOf = ({ time }: Pick<Priced, "time">) => Math.floor(time / DAY_S);

/** The last price of each day. */
function lastOfDays(klines: KlineColumns, timeframe: Timeframe): Priced[] {
  const { time, open, close } = ascending(klines);
  // Weeks and months end long after their time.
  const prices = TIMEFRAME_SECONDS[timeframe] > DAY_S ? open : close;
  const days: Priced[] = [];
  for (let row = 0; row < time.length; row += 1) {
    const [own, next = Number.POSITIVE_INFINITY] = [time[row] as number, time[row + 1]];
    if (Math.floor(next / DAY_S) !== Math.floor(own / DAY_S)) days.push({ time: own, price: prices[row] as number });
  }
  return days;
}

const middleOf = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

function nearest(day: Priced, known: readonly Priced[]): Priced | undefined {
  const distance = (other: Priced) => Math.abs(other.time - day.time);
  return known.reduce<Priced | undefined>((best, other) => (best && distance(best) <= distance(other) ? best : other), undefined);
}

/** Why the prices do not fit the known days next to them; null when they do. Half of the days may be off. */
function offKnown(days: readonly Priced[], known: readonly Priced[]): string | null {
  const excesses: { factor: number; excess: number; text: string }[] = [];
  for (const day of days) {
    const other = nearest(day, known);
    if (other === undefined) continue;
    // A stored day has the time of its start and the price of its end.
    const apart = Math.abs(dayOf(other) - dayOf(day));
    const factor = STORED_FACTORS.find((step) => apart <= step.days)?.factor;
    if (factor === undefined) continue;
    const ratio = Math.max(day.price / other.price, other.price / day.price);
    const text = `${day.price} where ${other.price} is stored for ${isoDate(other.time * SECOND_MS)}`;
    excesses.push({ factor, excess: ratio / factor, text });
  }
  const middle = middleOf(excesses.map(({ excess }) => excess));
  const example = excesses.find(({ excess }) => excess === middle);
  return example === undefined || example.excess <= 1 ? null : `${example.text}, off by more than a factor of ${example.factor}`;
}

type Store = Pick<KlineTable, "read">;

/** The prices that are stored for a range, Unix seconds. @param own the timeframe of what they are compared with */
type StoredPrices = (ticker: string, own: Timeframe, from: number, to: number) => Promise<Priced[]>;

/**
 * Reads prices of days; where there are none, of shorter klines that were imported as such. Minutes are not read: their days are computed.
 * Each timeframe is read once, before this run stores anything: its own days are known.
 */
function createStoredPrices(store: Store): StoredPrices {
  const kept = new Map<string, Promise<Priced[]>>();
  async function read(ticker: string, timeframe: Timeframe): Promise<Priced[]> {
    const found = await store.read({ ticker, timeframe, from: 0, to: TIME_MAX_S, limit: STORED_MAX_ROWS, end: "newest" });
    return lastOfDays(columnsOf(found), timeframe);
  }
  return async (ticker, own, from, to) => {
    for (const timeframe of new Set<Timeframe>(["D1", "H4", "H1", own])) {
      if (timeframe === "M1") continue;
      const key = `${ticker} ${timeframe}`;
      const all = kept.get(key) ?? read(ticker, timeframe);
      kept.set(key, all);
      const within = (await all).filter(({ time }) => time >= from && time < to);
      if (within.length > 0) return within;
    }
    return [];
  };
}

/** Checks what the files of a run would store, in the order in which they do. */
export interface PriceCheck {
  check(klines: KlineColumns, timeframe: Timeframe, listing: ImportListing): Promise<void>;
  trial(): Pick<PriceCheck, "check">;
}

/** Days by ticker and day. */
type Days = ReadonlyMap<string, ReadonlyMap<number, Priced>>;

/** Makes the check of a run, before it stores anything. */
export function createPriceCheck(store: Store): PriceCheck {
  return checkAgainst(createStoredPrices(store), new Map());
}

/** @param known days that this run stored before */
function checkAgainst(storedPrices: StoredPrices, known: Days): PriceCheck {
  /** What this run stored of each ticker by day: its days are computed at its end. */
  const stored = new Map<string, Map<number, Priced>>();
  const trackers = new Map<string, ReturnType<typeof createJumpTracker>>();
  return {
    /**
     * Refuses klines of another instrument by their prices: they must be near those of the days around them, stored before or by
     * this run, possible for the pair, and not jump to another level.
     * @param klines that a file would store next
     * @throws ImportFailure that says what is off
     */
    async check(klines: KlineColumns, timeframe: Timeframe, { ticker, base, quote }: ImportListing): Promise<void> {
      const days = lastOfDays(klines, timeframe);
      const price = middleOf(days.map((day) => day.price));
      if (price === undefined) return;
      const range = plausibleRange(base, quote);
      const insist = "--force imports it anyway";
      if (range !== null && (price < range.low || price > range.high))
        throw new ImportFailure(
          `a price of ${price} is not one of ${ticker}, which is between ${Number(range.low.toPrecision(2))} and ${Number(range.high.toPrecision(2))}: another instrument, or --point-digits is missing. ${insist}`,
        );
      const times = days.map(({ time }) => time);
      const from = Math.min(...times) - FURTHEST_DAYS * DAY_S;
      const to = Math.max(...times) + FURTHEST_DAYS * DAY_S;
      const before = stored.get(ticker) ?? new Map<number, Priced>();
      stored.set(ticker, before);
      const ofRun = [...(known.get(ticker)?.values() ?? []), ...before.values()];
      const within = ofRun.filter(({ time }) => time >= from && time < to);
      const reason = offKnown(days, [...(await storedPrices(ticker, timeframe, from, to)), ...within]);
      if (reason !== null) throw new ImportFailure(`it is probably not ${ticker}: ${reason}. ${insist}`);
      const jumps = trackers.get(`${ticker} ${timeframe}`) ?? createJumpTracker(timeframe);
      trackers.set(`${ticker} ${timeframe}`, jumps);
      const jump = jumps.take(klines);
      if (jump !== null)
        throw new ImportFailure(
          `from ${minuteText(jump.time * SECOND_MS)} on it is probably not ${ticker}: ${jump.to} follows ${jump.from}, and the prices stay there. ${insist}`,
        );
      for (const day of days) before.set(dayOf(day), day);
    },
    /** A check of a file before it is stored, against the same days. What it checks does not count for other files. */
    trial: () => checkAgainst(storedPrices, stored),
  };
}

/** How far apart the close of a kline and the open of the next may be, as a factor: more than any weekend. */
const JUMP_FACTOR = 1.1;
/** Klines further apart than a long weekend do not follow each other. */
const FOLLOWING_MAX_S = 5 * DAY_S;
/** Klines at the other price before a jump is none of a single wrong quote. */
const LASTING_MIN_KLINES = 20;

/** A jump of prices: open time of the first kline after it (Unix seconds), and the prices before and after. */
interface Jump {
  readonly time: number;
  readonly from: number;
  readonly to: number;
}

const areApart = (a: number, b: number) => Math.max(a / b, b / a) > JUMP_FACTOR;

/** Where a part ended: its last kline, and a jump that is not known to last. */
interface Tail {
  readonly last: { readonly time: number; readonly close: number };
  readonly jump: Jump | null;
  /** Klines since the jump. */
  readonly count: number;
}

/** Looks for lasting jumps in klines of one series, part by part. Parts that go back in time begin anew. */
export function createJumpTracker(timeframe: Timeframe) {
  const followingMaxS = FOLLOWING_MAX_S + TIMEFRAME_SECONDS[timeframe];
  const nothing = { time: Number.NEGATIVE_INFINITY, close: Number.NaN };
  let tail: Tail = { last: nothing, jump: null, count: 0 };
  return {
    /** The first lasting jump in the next part; null when there is none. A part with a jump is not followed. */
    take(klines: KlineColumns): Jump | null {
      const { time, open, close } = ascending(klines);
      const begin = tail.last.time < (time[0] ?? 0) ? tail : { last: nothing, jump: null as Jump | null, count: 0 };
      let { jump, count } = begin;
      let { time: lastTime, close: lastClose } = begin.last;
      for (let row = 0; row < time.length; row += 1) {
        const at = time[row] as number;
        const ownOpen = open[row] as number;
        const ownClose = close[row] as number;
        if (at - lastTime > followingMaxS) jump = null;
        else if (jump !== null) {
          count += 1;
          if (!areApart(ownClose, jump.from)) jump = null;
        } else if (areApart(ownOpen, lastClose)) {
          jump = { time: at, from: lastClose, to: ownOpen };
          count = 1;
        }
        if (jump !== null && count >= LASTING_MIN_KLINES) return jump;
        lastTime = at;
        lastClose = ownClose;
      }
      tail = { last: { time: lastTime, close: lastClose }, jump, count };
      return null;
    },
  };
}
