import { FEED_LAYER } from "#lib/domain/fold";
import {
  chainTicks,
  foldTicks,
  NO_TICKS,
  pickTicks,
  sliceTicks,
  sortTicks,
  TAKEN,
  type TickColumns,
} from "#lib/domain/tick-columns";
import { DAY_MS, DAY_S, MINUTE_MS } from "#lib/units";
import type { Queries } from "#server/store/segments/segment-store";
import type { Segments } from "#server/store/segments/segments";
import { digitsOf } from "./layers";

/**
 * Ticks of a segment while ticks of its day still come: each hour the last one is written again, and more would take too long. Days that are
 * over are joined (store/files/joined-days.ts).
 */
export const TICK_SEGMENT_MAX_ROWS = 100_000;

/** taken: what the service took, by its time; held: what it did not take, by its arrival. */
export type TickKind = "taken" | "held";

const PARTS = `SELECT part, content, rows, first::float8 AS first, last::float8 AS last FROM tick_segment
  WHERE ticker = $1 AND kind = $2 AND day = $3 AND layer = $4 ORDER BY part`;
const DROP_PARTS = "DELETE FROM tick_segment WHERE ticker = $1 AND kind = $2 AND day = $3 AND layer = $4";
const STORE = `INSERT INTO tick_segment (ticker, kind, day, layer, part, content, rows, bytes, first, last)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
  ON CONFLICT (ticker, kind, day, layer, part) DO UPDATE SET (content, rows, bytes, first, last) = ($6, $7, $8, $9, $10)`;

/** Rows of ticks, ascending by number. Those of a day mostly follow each other, and need no copy. */
function cutRows(ticks: TickColumns, rows: readonly number[]): TickColumns {
  const [first = 0, last = -1] = [rows[0], rows.at(-1)];
  return last - first === rows.length - 1 ? sliceTicks(ticks, first, last + 1) : pickTicks(ticks, rows);
}

/** The UTC day of an instant. @param ms Unix milliseconds @returns its begin, Unix seconds */
export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_S;

/** Rows by the day that they belong to, Unix seconds; ascending. */
function daysOf(times: Float64Array, rows: readonly number[]): Map<number, number[]> {
  const days = new Map<number, number[]>();
  for (const row of rows) {
    const day = dayOf(times[row] as number);
    const known = days.get(day);
    if (known === undefined) days.set(day, [row]);
    else known.push(row);
  }
  return days;
}

interface Place {
  readonly ticker: string;
  readonly layer: number;
}

/** A day of a layer that has ticks which were taken. */
export interface LayerDay extends Place {
  /** Its begin, Unix seconds. */
  readonly day: number;
}

/** A segment of a day. */
interface DayPart {
  readonly part: number;
  readonly content: string;
  readonly rows: number;
  /** Of its ticks, Unix milliseconds. */
  readonly first: number;
  readonly last: number;
}

/** Whether parts of a day may have ticks of the minutes that these are of. @param ticks ascending */
function meets(parts: readonly DayPart[], { time }: TickColumns): boolean {
  const [from, to] = [time[0] as number, time.at(-1) as number].map((at) => Math.floor(at / MINUTE_MS)) as [number, number];
  return parts.some(({ first, last }) => Math.floor(last / MINUTE_MS) >= from && Math.floor(first / MINUTE_MS) <= to);
}

/** Adds ticks of a kind and day, ascending, to those that a layer has. */
async function storeDay(
  client: Queries,
  segments: Segments,
  { ticker, layer }: Place,
  [kind, day]: readonly [TickKind, number],
  ticks: TickColumns,
): Promise<void> {
  const key = [ticker, kind, day, layer];
  const digits = await digitsOf(client, ticker);
  const { rows: parts } = await client.query<DayPart>(PARTS, key);
  let { part, content = "", rows: count = 0 } = parts.at(-1) ?? { part: 0 };
  let left = ticks;
  // When two files of an import have ticks of the same minute, those of the later file replace the others, as with klines. Ticks of the
  // feed are only added: a minute can come in several parts.
  if (layer !== FEED_LAYER && meets(parts, ticks)) {
    const stored = await segments.readTicks(
      client,
      parts.map((one) => one.content),
    );
    left = foldTicks([chainTicks(parts.map((one) => stored.get(one.content) as TickColumns)), ticks]);
    await client.query(DROP_PARTS, key);
    [part, count] = [0, 0];
  }
  while (left.time.length > 0) {
    const room = TICK_SEGMENT_MAX_ROWS - count;
    if (room > 0) {
      const known = count === 0 ? NO_TICKS : (await segments.readTicks(client, [content])).get(content);
      const whole = sortTicks(chainTicks([known ?? NO_TICKS, sliceTicks(left, 0, room)]));
      const { id, bytes } = await segments.writeTicks(client, whole, ticker, digits);
      const { time } = whole;
      await client.query(STORE, [
        ...key,
        part,
        id,
        time.length,
        bytes,
        Math.floor(time[0] as number),
        Math.floor(time.at(-1) as number),
      ]);
      left = sliceTicks(left, room, left.time.length);
    }
    part += 1;
    count = 0;
  }
}

/**
 * Adds ticks to those that a layer has, in the caller's transaction, which must hold the lock of the ticker. Those that were taken belong to
 * the UTC day of their time, others to that of their arrival.
 * @throws as Segments.readTicks
 */
export async function storeTicks(client: Queries, segments: Segments, place: Place, given: TickColumns): Promise<void> {
  const ticks = sortTicks(given);
  const kinds: Record<TickKind, number[]> = { taken: [], held: [] };
  for (const [row, outcome] of ticks.outcome.entries()) kinds[outcome === TAKEN ? "taken" : "held"].push(row);
  for (const [day, rows] of daysOf(ticks.time, kinds.taken))
    await storeDay(client, segments, place, ["taken", day], cutRows(ticks, rows));
  for (const [day, rows] of daysOf(ticks.received, kinds.held))
    await storeDay(client, segments, place, ["held", day], cutRows(ticks, rows));
}

/** Days that one call gives: of a long history, the next ones follow an hour later. */
const SCATTERED_MAX_COUNT = 200;
const SCATTERED = `SELECT ticker, day::float8, layer FROM tick_segment WHERE kind = 'taken' AND day < $1
  GROUP BY ticker, day, layer HAVING count(*) > 1 AND sum(rows) <= $2 ORDER BY day DESC, ticker, layer LIMIT ${SCATTERED_MAX_COUNT}`;

/** Days before another one, the newest first, of which a layer has several segments. @param rows the most ticks of a day */
export async function scatteredDays(client: Queries, before: number, rows: number): Promise<LayerDay[]> {
  return (await client.query<LayerDay>(SCATTERED, [before, rows])).rows;
}

/** The segments of a day, in their order. */
export async function segmentsOfDay(client: Queries, { ticker, day, layer }: LayerDay): Promise<DayPart[]> {
  return (await client.query<DayPart>(PARTS, [ticker, "taken", day, layer])).rows;
}

/** Puts one segment in the place of those of a day, in the caller's transaction, which must hold the lock of the ticker. */
export async function replaceDay(
  client: Queries,
  { ticker, day, layer }: LayerDay,
  whole: DayPart,
  bytes: number,
): Promise<void> {
  const key = [ticker, "taken", day, layer];
  const { part, content, rows, first, last } = whole;
  await client.query(DROP_PARTS, key);
  await client.query(STORE, [...key, part, content, rows, bytes, first, last]);
}

const OF_LAYERS = `SELECT layer, ticker, sum(rows)::float8 AS ticks FROM tick_segment
  WHERE layer = ANY($1::integer[]) GROUP BY layer, ticker`;

/** How many ticks are kept of each ticker that layers have ticks of. */
export async function ticksOfLayers(
  client: Queries,
  layers: readonly number[],
): Promise<readonly { readonly layer: number; readonly ticker: string; readonly ticks: number }[]> {
  return (await client.query<{ layer: number; ticker: string; ticks: number }>(OF_LAYERS, [layers])).rows;
}

const DROP_OLD = "DELETE FROM tick_segment WHERE day < $1";
const DROP_BEYOND = `WITH days AS (SELECT day, sum(sum(bytes)) OVER (ORDER BY day DESC) AS total FROM tick_segment GROUP BY day)
  DELETE FROM tick_segment WHERE day <= (SELECT max(day) FROM days WHERE total > $1)`;

/** How many ticks are kept; null for no bound. */
interface TickBounds {
  readonly days: number | null;
  readonly bytes: number | null;
}

/** Deletes whole days of ticks, the oldest first, until what is left is within the bounds. @returns how many segments were deleted */
export async function dropTicks(client: Queries, nowMs: number, { days, bytes }: TickBounds): Promise<number> {
  let dropped = 0;
  if (days !== null) dropped += (await client.query(DROP_OLD, [dayOf(nowMs - days * DAY_MS)])).rowCount ?? 0;
  if (bytes !== null) dropped += (await client.query(DROP_BEYOND, [bytes])).rowCount ?? 0;
  return dropped;
}

/** What the stored ticks of a ticker take. */
interface StoredTicks {
  readonly bytes: number;
  /** Bytes of the thirty days before now. */
  readonly month_bytes: number;
}

const STORED = `SELECT coalesce(sum(bytes), 0)::float8 AS bytes,
  coalesce(sum(bytes) FILTER (WHERE day >= $2), 0)::float8 AS month_bytes FROM tick_segment WHERE ticker = $1`;

/** Sums up the stored ticks of a ticker, all layers, also those that were not taken, without those of the running hour. */
export async function storedTicks(client: Queries, ticker: string, nowMs: number): Promise<StoredTicks> {
  const { rows } = await client.query<StoredTicks>(STORED, [ticker, Math.floor((nowMs - 30 * DAY_MS) / 1_000)]);
  return rows[0] as StoredTicks;
}
