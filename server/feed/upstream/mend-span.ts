import type { Clock } from "#lib/clock";
import type { Listing } from "#lib/domain/instrument";
import type { Kline } from "#lib/domain/kline";
import { roundTo } from "#lib/domain/price";
import type { Logger } from "#lib/log";
import type { Minutes } from "#lib/market/coverage";
import type { Mended, Mending } from "#lib/market/mending";
import { MINUTE_S } from "#lib/units";
import { REPAIR_LABEL } from "#server/store/market/backfills";
import { problemOf } from "./hide";
import type { Minute, Upstream } from "./port";

/** Rows stored at once: few, because live ticks wait meanwhile. */
const STORED_ROWS = 5_000;

/** A repair as operators see it. */
export interface RepairReport {
  /** Begins it. @returns the number of its import */
  begin(label: string, tickers: number): Promise<number>;
  note(done: number, ticker: string, minutes: number): Promise<void>;
  end(problem: string | null, tickers: readonly string[]): Promise<void>;
}

/** What a repair works with. */
export interface SpanOptions {
  readonly upstream: Pick<Upstream, "name" | "minutes" | "declares" | "secrets">;
  /** The minutes of a span that history can mend. */
  readonly mendable: (ticker: string, span: Minutes) => Promise<readonly Minutes[]>;
  readonly mend: (klines: readonly Kline[], mending: Mending) => Promise<Mended>;
  readonly report: () => RepairReport;
  readonly repaired: (minutes: number) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A minute as a kline of the listing. */
function toKline({ ticker, digits }: Listing, { volume, spread, ...minute }: Minute): Kline {
  return {
    type: "kline",
    ticker,
    timeframe: "M1",
    time: minute.time,
    open: roundTo(minute.open, digits),
    high: roundTo(minute.high, digits),
    low: roundTo(minute.low, digits),
    close: roundTo(minute.close, digits),
    tick_volume: volume,
    real_volume: null,
    spread: spread === null ? null : roundTo(spread, digits + 1),
  };
}

const isSound = ({ time, open, high, low, close }: Kline) =>
  time % MINUTE_S === 0 && low > 0 && low <= Math.min(open, close) && high >= Math.max(open, close);

/** Ranges that one request after the other covers: those closer than a page are asked for together. */
function requestsFor(ranges: readonly Minutes[], pageRows: number): Minutes[] {
  const found: { from: number; to: number }[] = [];
  for (const { from, to } of ranges) {
    const last = found.at(-1);
    if (last !== undefined && to - last.from <= pageRows * MINUTE_S) last.to = to;
    else found.push({ from, to });
  }
  // The newest first.
  return found.reverse();
}

/** Asks for ranges of one symbol, one request after the other. @throws what the upstream throws */
async function fetchMinutes(
  { upstream, clock }: SpanOptions,
  symbol: string,
  listing: Listing,
  ranges: readonly Minutes[],
  signal: AbortSignal,
): Promise<Kline[]> {
  const found = new Map<number, Kline>();
  const wanted = new Set<number>();
  for (const { from, to } of ranges) for (let time = from; time < to; time += MINUTE_S) wanted.add(time);
  for (const { from, to } of requestsFor(ranges, upstream.declares.minutes?.pageRows ?? 1))
    for await (const page of upstream.minutes?.(symbol, from, to, { signal, clock }) ?? [])
      for (const minute of page) {
        const kline = toKline(listing, minute);
        if (wanted.has(kline.time) && isSound(kline)) found.set(kline.time, kline);
      }
  return [...found.values()].sort((a, b) => a.time - b.time);
}

/**
 * Tries to mend a span of all tickers, as one import.
 * @returns whether minutes are still missing
 * @throws what upstream and store throw
 */
export async function mendSpan(
  options: SpanOptions,
  listings: ReadonlyMap<string, Listing>,
  span: Minutes,
  signal: AbortSignal,
): Promise<boolean> {
  const { upstream, mendable, mend, repaired, log } = options;
  const report = options.report();
  const tickers: string[] = [];
  let number: number | undefined;
  let [done, minutes, missing] = [0, 0, false];

  async function store(klines: readonly Kline[], { ticker }: Listing): Promise<void> {
    number ??= await report.begin(`${REPAIR_LABEL}${upstream.name}`, listings.size);
    const { outcomes } = await mend(klines, { replace: "gaps", by: { number } });
    const stored = outcomes.filter((outcome) => outcome === null).length;
    if (stored > 0 && tickers.at(-1) !== ticker) tickers.push(ticker);
    minutes += stored;
    repaired(stored);
  }

  try {
    for (const [symbol, listing] of listings) {
      signal.throwIfAborted();
      const ranges = await mendable(listing.ticker, span);
      const klines = ranges.length > 0 ? await fetchMinutes(options, symbol, listing, ranges, signal) : [];
      if (klines.length < ranges.reduce((sum, { from, to }) => sum + (to - from) / MINUTE_S, 0)) missing = true;
      // The newest first.
      for (let end = klines.length; end > 0; end -= STORED_ROWS)
        await store(klines.slice(Math.max(0, end - STORED_ROWS), end), listing);
      done += 1;
      if (number !== undefined) await report.note(done, listing.ticker, minutes);
    }
  } catch (error) {
    if (number !== undefined) await report.end(signal.aborted ? "stopped" : problemOf(options.upstream, error), tickers);
    throw error;
  }
  if (number === undefined) return missing;
  await report.end(null, tickers);
  log.info({ feed: upstream.name, import: number, minutes, tickers: tickers.length }, "missing minutes are mended");
  return missing;
}
