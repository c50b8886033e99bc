import type { Listing } from "#lib/domain/instrument";
import type { Tick } from "#lib/domain/tick";
import { DAY_MS, HOUR_MS, SECOND_MS } from "#lib/units";
import type { Database } from "#server/store/database/db";
import { daysWithTicks, everyTickOfDay, readTicks } from "#server/store/history/ticks";
import type { TickSources } from "./replay";

type Stored = Pick<Database, "pool" | "segments">;

/** Unix milliseconds, `to` excluded. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** A recorded tick, with when it arrived (Unix milliseconds) and its outcome. */
interface RecordedTick {
  readonly tick: Tick;
  readonly receivedMs: number;
  readonly outcome: string;
}

function tickOf(ticker: string, time_msc: number, bid: number, ask: number, volume: number): Tick {
  return { ticker, time_msc, bid, ask, ...(volume >= 0 && { volume }) };
}

/** The ticks of a ticker that were taken, by time. One hour of them is in memory: ticks of many tickers are read side by side. */
async function* takenTicks({ pool, segments }: Stored, ticker: string, { from, to }: Range): AsyncGenerator<Tick> {
  const db = { client: pool, segments };
  for (const day of await daysWithTicks(pool, ticker, from, to)) {
    const end = Math.min(to, day * SECOND_MS + DAY_MS);
    for (let hour = day * SECOND_MS; hour < end; hour += HOUR_MS) {
      const range = { from: Math.max(from, hour), to: Math.min(end, hour + HOUR_MS) };
      if (range.from >= range.to) continue;
      const found = await readTicks(db, { ticker, ...range, limit: Number.POSITIVE_INFINITY, end: "oldest" });
      // Copies: a part of a column keeps the day of it in memory.
      const [time, bid, ask, volume] = [found.time, found.bid, found.ask, found.volume].map((column) => column.slice());
      for (const [row, at] of time?.entries() ?? [])
        yield tickOf(ticker, at, bid?.[row] as number, ask?.[row] as number, volume?.[row] as number);
    }
  }
}

/**
 * Every tick of a ticker that came in a range, also those that were not taken, in the order in which they came; those of one UTC day
 * together.
 */
export async function* everyTick(
  { pool, segments }: Stored,
  ticker: string,
  { from, to }: Range,
): AsyncGenerator<readonly RecordedTick[]> {
  for (const day of await daysWithTicks(pool, ticker, from, to)) {
    const { time, bid, ask, volume, received, outcome } = await everyTickOfDay({ client: pool, segments }, ticker, day);
    const recorded: RecordedTick[] = [];
    for (const [row, at] of time.entries()) {
      const receivedMs = (received[row] || at) as number;
      if (receivedMs < from || receivedMs >= to) continue;
      const tick = tickOf(ticker, at, bid[row] as number, ask[row] as number, volume[row] as number);
      recorded.push({ tick, receivedMs, outcome: outcome[row] as string });
    }
    yield recorded;
  }
}

interface StoredOptions extends Range {
  readonly db: Stored;
  /** All that are listed, where it is empty. */
  readonly tickers: readonly string[];
  readonly listings: () => readonly Listing[];
}

/** The stored ticks of a range that were taken, as sources of a replay. */
export function storedSources({ db, tickers, listings, from, to }: StoredOptions): TickSources {
  return () => {
    const known = listings().map(({ ticker }) => ticker);
    const unknown = tickers.find((ticker) => !known.includes(ticker));
    if (unknown !== undefined) throw new Error(`REPLAY_TICKERS: ${unknown} is not listed`);
    return (tickers.length === 0 ? known : tickers).map((ticker) => takenTicks(db, ticker, { from, to }));
  };
}
