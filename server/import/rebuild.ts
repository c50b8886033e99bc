import type { Clock } from "#lib/clock";
import type { Timeframe } from "#lib/contract/primitives";
import { isClosed, type Kline } from "#lib/domain/kline";
import { createAlignment, type TradingAlignment } from "#lib/domain/timeframe";
import { createAggregation, type Level, MADE_OF } from "#lib/market/aggregation";
import type { KlineTable } from "#lib/market/kline-store";

/** Rows read at once. */
const PAGE_ROWS = 50_000;
/**
 * Klines of longer timeframes that wait: those of more than a year of minutes. Until they are written, the minutes of a year are
 * appended to the index of its partition; after that, PostgreSQL searches the place of each.
 */
const WAITING_MAX_KLINES = 200_000;

type Store = Pick<KlineTable, "read" | "copyKlines">;
/** Receives the share of a range that was read, 0 to 1, and the number of rows. */
type OnPage = (share: number, rows: number) => void;

/** A range of M1 klines: open times in Unix seconds, both inclusive. */
export interface Touched {
  readonly first: number;
  readonly last: number;
}

/** The complete weeks and months around a range, Unix seconds, `to` exclusive. */
function widened(alignment: TradingAlignment, { first, last }: Touched): { from: number; to: number } {
  return {
    from: Math.min(alignment.openTime("W1", first), alignment.openTime("MN1", first)),
    to: Math.max(alignment.nextOpenTime("W1", last), alignment.nextOpenTime("MN1", last)),
  };
}

/** Calls `take` with the stored M1 rows of [from, to), ascending. */
async function readMinutes(
  store: Store,
  ticker: string,
  from: number,
  to: number,
  take: (rows: readonly Kline[]) => Promise<void>,
) {
  for (let next = from; next < to; ) {
    const page = await store.read({ ticker, timeframe: "M1", from: next, to, limit: PAGE_ROWS, end: "oldest" });
    next = page.length < PAGE_ROWS ? to : (page[page.length - 1] as Kline).time + 1;
    await take(page);
  }
}

/** Klines of longer timeframes waiting to be written, in the order the store writes fastest. */
function createWriteBuffer(store: Store) {
  const waiting = new Map<Timeframe, Kline[]>(MADE_OF.map(([timeframe]) => [timeframe, []]));
  let size = 0;
  let written = 0;
  return {
    put(kline: Kline): void {
      waiting.get(kline.timeframe)?.push(kline);
      size += 1;
    },
    full: () => size >= WAITING_MAX_KLINES,
    written: () => written,
    async write(): Promise<void> {
      const klines = [...waiting.values()].flat();
      for (const timeframe of waiting.keys()) waiting.set(timeframe, []);
      size = 0;
      await store.copyKlines(klines);
      written += klines.length;
    },
  };
}

type WriteBuffer = ReturnType<typeof createWriteBuffer>;

/** An aggregation that sends closed klines with an imported minute to the outbox; open ones belong to the running service. */
function createWritingAggregation(
  outbox: WriteBuffer,
  alignment: TradingAlignment,
  touched: () => Touched,
  clock: Pick<Clock, "now">,
): Level {
  return createAggregation(alignment, (kline) => {
    const { first, last } = touched();
    // Rows around the range are read only to complete its weeks and months; shorter intervals outside it do not change.
    const holds = kline.time >= alignment.openTime(kline.timeframe, first) && kline.time <= last;
    if (holds && isClosed(kline, clock.now(), alignment)) outbox.put(kline);
  });
}

/**
 * Rebuilds M5 to MN1 of one ticker wherever an interval contains an imported minute.
 *
 * Batches that do not overlap stored rows are aggregated directly. When one overlaps or goes back in time, the whole range is
 * read from the store at the end instead. Either way the result is the aggregation of the stored M1 rows.
 */
export interface Rebuilder {
  /** M1 klines that are about to be stored. */
  follow(klines: readonly Kline[]): Promise<void>;
  /** Adds a range that an earlier, unfinished run stored. */
  include(touched: Touched): void;
  /** Writes the complete klines once there are enough of them. */
  writeSome(): Promise<void>;
  /** Writes the rest, once all M1 rows are stored. @returns klines written in all */
  finish(onPage: OnPage): Promise<number>;
}

/** Whether a batch can be aggregated directly: it must be strictly ascending. */
function ascends(klines: readonly Kline[], after: number): boolean {
  let last = after;
  for (const { time } of klines) {
    if (time <= last) return false;
    last = time;
  }
  return true;
}

/** Klines that are still open when their last row is known are not written. */
export function createRebuilder(store: Store, ticker: string, clock: Pick<Clock, "now">): Rebuilder {
  const alignment = createAlignment();
  const outbox = createWriteBuffer(store);
  let touched: Touched | null = null;
  /** The aggregation of direct batches; null before the first, undefined once it is no longer valid. */
  let passing: Level | null | undefined = null;

  const current = () => touched ?? { first: 0, last: 0 };
  function widen({ first, last }: Touched): void {
    touched = { first: Math.min(first, touched?.first ?? first), last: Math.max(last, touched?.last ?? last) };
  }

  async function startPassing(first: number): Promise<Level> {
    const aggregation = createWritingAggregation(outbox, alignment, current, clock);
    const { from } = widened(alignment, { first, last: first });
    await readMinutes(store, ticker, from, first, async (rows) => rows.forEach(aggregation.push));
    return aggregation;
  }

  async function meetsStored(from: number, last: number): Promise<boolean> {
    const found = await store.read({ ticker, timeframe: "M1", from, to: last + 1, limit: 1, end: "oldest" });
    return found.length > 0;
  }

  async function readAgain(onPage: OnPage): Promise<void> {
    const { from, to } = widened(alignment, current());
    const aggregation = createWritingAggregation(outbox, alignment, current, clock);
    let count = 0;
    await readMinutes(store, ticker, from, to, async (rows) => {
      rows.forEach(aggregation.push);
      count += rows.length;
      onPage(((rows[rows.length - 1]?.time ?? to) - from) / (to - from), count);
      if (outbox.full()) await outbox.write();
    });
    aggregation.finish();
  }

  return {
    async follow(klines) {
      const [first, last] = [klines[0]?.time, klines[klines.length - 1]?.time];
      if (first === undefined || last === undefined) return;
      const after = touched?.last ?? first - 1;
      if (passing !== undefined && (!ascends(klines, after) || (await meetsStored(after + 1, last)))) passing = undefined;
      if (passing === null) passing = await startPassing(first);
      // All rows, not only the ends: a batch need not be ascending.
      widen({
        first: klines.reduce((min, { time }) => Math.min(min, time), first),
        last: klines.reduce((max, { time }) => Math.max(max, time), last),
      });
      if (passing) klines.forEach(passing.push);
    },
    include(stretch) {
      passing = undefined;
      widen(stretch);
    },
    async writeSome() {
      if (outbox.full()) await outbox.write();
    },
    async finish(onPage) {
      if (touched === null) return 0;
      if (passing) {
        const { first, last } = current();
        const aggregation = passing;
        await readMinutes(store, ticker, last + 1, widened(alignment, { first, last }).to, async (rows) =>
          rows.forEach(aggregation.push),
        );
        aggregation.finish();
      } else await readAgain(onPage);
      await outbox.write();
      return outbox.written();
    },
  };
}
