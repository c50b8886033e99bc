import { FEED_LAYER } from "#lib/domain/fold";
import { TAKEN, type TickColumns } from "#lib/domain/tick-columns";
import type { Database } from "#server/store/database/db";
import type { Queries } from "#server/store/segments/segment-store";
import type { Segments } from "#server/store/segments/segments";
import { lockTicker } from "./lock";
import { storeTicks } from "./tick-days";
import { inTransaction } from "./transaction";

/** Numbers of a tick in a chunk. */
const TICK_NUMBERS_COUNT = 5;
/** Where its arrival is among them: at the end. */
const ARRIVAL_PLACE = TICK_NUMBERS_COUNT - 1;
const TICK_BYTES = TICK_NUMBERS_COUNT * Float64Array.BYTES_PER_ELEMENT;
/** Chunks that one transaction seals: those of more than an hour, unless ticks come in floods. */
const SEALED_MAX_CHUNKS = 1_000;

/** Ticks of one ticker and source, in the order in which they came. */
export interface TickChunk {
  /** A UUID: a write that is repeated stores them once. */
  readonly id: string;
  readonly ticker: string;
  readonly source: string;
  /** Time, bid, ask, volume and arrival of each tick, one after the other; NaN for no volume. */
  readonly numbers: number[];
  /** TAKEN, or why a tick was not. */
  readonly outcomes: string[];
}

/** Adds a tick to a chunk. */
export function addTick(
  { numbers, outcomes }: TickChunk,
  {
    time_msc,
    bid,
    ask,
    volume,
  }: { readonly time_msc: number; readonly bid: number; readonly ask: number; readonly volume?: number | undefined },
  receivedMs: number,
  outcome: string,
): void {
  numbers.push(time_msc, bid, ask, volume ?? Number.NaN, receivedMs);
  outcomes.push(outcome);
}

const COLUMNS = ["chunk", "ticker", "source", "first", "last", "came_first", "came_last", "outcomes"].join();
/** Of the parameters: a list for each column, where the ticks of each chunk begin and how long they are; and the bytes of all. */
const TYPES = ["uuid[]", "text[]", "text[]", "bigint[]", "bigint[]", "bigint[]", "bigint[]", "text[]", "int[]", "int[]", "bytea"];

/** Stores chunks where a condition is met. @param from the number of the first of the parameters, whose values chunkValues returns */
export function INSERT_CHUNKS(from: number, condition: string): string {
  const given = TYPES.map((type, at) => `$${from + at}::${type}`);
  const bytes = given.pop();
  return `
  INSERT INTO tick_tail (${COLUMNS}, ticks) SELECT ${COLUMNS}, substring(${bytes} FROM begin FOR length)
    FROM unnest(${given.join()}) WITH ORDINALITY AS given (${COLUMNS}, begin, length, place)
    WHERE ${condition} ORDER BY place
  ON CONFLICT (chunk) DO NOTHING`;
}

/**
 * The chunks as values of INSERT_CHUNKS. The ticks of all are one value, because a list of bytes is sent as text, which takes twice
 * the bytes and several times the processor time.
 */
export function chunkValues(chunks: readonly TickChunk[]): unknown[] {
  const takenTimes = chunks.map(({ numbers, outcomes }) => {
    let [first, last]: [number | null, number | null] = [null, null];
    for (const [row, outcome] of outcomes.entries()) {
      if (outcome !== TAKEN) continue;
      const time = Math.floor(numbers[row * TICK_NUMBERS_COUNT] as number);
      first = Math.min(first ?? time, time);
      last = Math.max(last ?? time, time);
    }
    return { first, last };
  });
  const ticks = chunks.map(({ numbers }) => Buffer.from(Float64Array.from(numbers).buffer));
  let end = 1;
  const begins = ticks.map(({ length }) => {
    end += length;
    return end - length;
  });
  return [
    chunks.map(({ id }) => id),
    chunks.map(({ ticker }) => ticker),
    chunks.map(({ source }) => source),
    takenTimes.map(({ first }) => first),
    takenTimes.map(({ last }) => last),
    chunks.map(({ numbers }) => numbers[ARRIVAL_PLACE]),
    chunks.map(({ numbers }) => numbers.at(-1)),
    chunks.map(({ outcomes }) => (outcomes.every((outcome) => outcome === TAKEN) ? null : outcomes.join())),
    begins,
    ticks.map(({ length }) => length),
    Buffer.concat(ticks),
  ];
}

/** A stored chunk. */
export interface TailChunk {
  readonly source: string;
  /** Numbers of a TickChunk as doubles, little-endian. */
  readonly ticks: Uint8Array;
  readonly outcomes: string | null;
}

/** Ticks of one source that were taken, of whose volume and arrival nothing is known, as a chunk that was stored. */
export function takenChunk({ time, bid, ask }: Pick<TickColumns, "time" | "bid" | "ask">, source: string): TailChunk {
  const numbers = new Float64Array(time.length * TICK_NUMBERS_COUNT).fill(Number.NaN);
  for (const [row, at] of time.entries()) numbers.set([at, bid[row] as number, ask[row] as number], row * TICK_NUMBERS_COUNT);
  return { source, ticks: new Uint8Array(numbers.buffer), outcomes: null };
}

/** The ticks of stored chunks, in their order. */
export function tailTicks(chunks: readonly TailChunk[]): TickColumns {
  const rows = chunks.reduce((sum, { ticks }) => sum + ticks.length / TICK_BYTES, 0);
  const columns = [0, 1, 2, 3, 4].map(() => new Float64Array(rows));
  const [source, outcome]: [string[], string[]] = [[], []];
  let at = 0;
  for (const chunk of chunks) {
    const count = chunk.ticks.length / TICK_BYTES;
    const outcomes = chunk.outcomes?.split(",");
    const numbers = new DataView(chunk.ticks.buffer, chunk.ticks.byteOffset);
    for (let row = 0; row < count; row += 1, at += 1) {
      for (const [index, column] of columns.entries())
        column[at] = numbers.getFloat64(row * TICK_BYTES + index * Float64Array.BYTES_PER_ELEMENT, true);
      source.push(chunk.source);
      outcome.push(outcomes?.[row] ?? TAKEN);
    }
  }
  const [time, bid, ask, volume, received] = columns as [Float64Array, Float64Array, Float64Array, Float64Array, Float64Array];
  return { time, bid, ask, volume, received, source, outcome };
}

const TAKE = `DELETE FROM tick_tail WHERE ticker = $1 AND id IN (
    SELECT id FROM tick_tail WHERE ticker = $1 AND came_last < $2 ORDER BY id LIMIT ${SEALED_MAX_CHUNKS}
  ) RETURNING id, source, ticks, outcomes`;

/** @returns how many chunks were sealed */
async function sealTicker(client: Queries, segments: Segments, ticker: string, beforeMs: number): Promise<number> {
  const { rows } = await client.query<TailChunk & { readonly id: string }>(TAKE, [ticker, beforeMs]);
  if (rows.length > 0)
    await storeTicks(
      client,
      segments,
      { ticker, layer: FEED_LAYER },
      tailTicks(rows.sort((a, b) => Number(a.id) - Number(b.id))),
    );
  return rows.length;
}

const WAITING = "SELECT DISTINCT ticker FROM tick_tail WHERE came_last < $1 ORDER BY ticker";

/**
 * Moves the ticks that came before an instant (Unix milliseconds) into segments of days, one ticker after the other, each part in a
 * transaction: a kill leaves a tick in the tail or in its day, never in both. Several nodes may do it at once; a ticker that is busy
 * is left for later.
 * @returns how many chunks were sealed
 */
export async function sealTicks({ pool, segments }: Pick<Database, "pool" | "segments">, beforeMs: number): Promise<number> {
  const { rows } = await pool.query<{ ticker: string }>(WAITING, [beforeMs]);
  let sealed = 0;
  for (const { ticker } of rows)
    for (let count = SEALED_MAX_CHUNKS; count === SEALED_MAX_CHUNKS; sealed += count)
      count = await inTransaction(pool, async (client) =>
        (await lockTicker(client, ticker, "transaction")) ? sealTicker(client, segments, ticker, beforeMs) : 0,
      );
  return sealed;
}
