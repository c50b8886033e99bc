import { rowFrom } from "#lib/domain/columns";
import { FEED_LAYER } from "#lib/domain/fold";
import { chainTicks, foldTicks, pickTicks, sliceTicks, TAKEN, type TickColumns } from "#lib/domain/tick-columns";
import { DAY_MS, DAY_S, SECOND_MS } from "#lib/units";
import type { Queries } from "#server/store/segments/segment-store";
import type { Segments } from "#server/store/segments/segments";
import { untilFound } from "./minutes";
import { dayOf, type TickKind } from "./tick-days";
import { type TailChunk, tailTicks } from "./tick-tail";

/** Days that one statement looks up. */
const DAYS_COUNT = 32;

/** Where ticks are read from: a pool, or the connection of a transaction. */
interface Stored {
  readonly client: Queries;
  readonly segments: Segments;
}

/** The UTC days of a chunk, Unix seconds. */
const daysBetween = (first: string, last: string) => `generate_series(${first} / ${DAY_MS}, ${last} / ${DAY_MS}) * ${DAY_S}`;
/** The first days from one end of a range that have ticks, Unix seconds. */
const daysText = (order: "ASC" | "DESC") => `SELECT day::float8 FROM (
    SELECT t.day FROM tick_segment t LEFT JOIN backfill b ON b.number = t.layer
      WHERE t.ticker = $1 AND t.kind = 'taken' AND t.last >= $2 AND t.first < $3 AND b.undone_at IS NULL
    UNION SELECT ${daysBetween("first", "last")} FROM tick_tail WHERE ticker = $1 AND last >= $2 AND first < $3
  ) days ORDER BY day ${order} LIMIT ${DAYS_COUNT}`;
const DAYS = { oldest: daysText("ASC"), newest: daysText("DESC") } as const;

const ALL_DAYS = `SELECT day::float8 FROM (
    SELECT t.day FROM tick_segment t LEFT JOIN backfill b ON b.number = t.layer WHERE t.ticker = $1 AND b.undone_at IS NULL
    UNION SELECT ${daysBetween("first", "last")} FROM tick_tail WHERE ticker = $1
    UNION SELECT ${daysBetween("came_first", "came_last")} FROM tick_tail WHERE ticker = $1
  ) days WHERE day + ${DAY_S} > $2 AND day < $3 ORDER BY day`;

/** The segments of a day, and the chunks that may have ticks of it: as of one moment, because one statement is one snapshot. */
const DAY = `SELECT * FROM (
    SELECT t.layer, t.part::bigint AS place, t.kind, t.content, t.rows, NULL AS source, NULL::bytea AS ticks, NULL AS outcomes
      FROM tick_segment t LEFT JOIN backfill b ON b.number = t.layer
      WHERE t.ticker = $1 AND t.kind = ANY($3) AND t.day = $2 AND b.undone_at IS NULL
    UNION ALL SELECT ${FEED_LAYER}, id, NULL, NULL, 0, source, ticks, outcomes FROM tick_tail
      WHERE ticker = $1 AND (last >= $2::bigint * ${SECOND_MS} AND first < ($2::bigint + ${DAY_S}) * ${SECOND_MS} OR 'held' = ANY($3)
        AND came_last >= $2::bigint * ${SECOND_MS} AND came_first < ($2::bigint + ${DAY_S}) * ${SECOND_MS})
  ) stored ORDER BY layer, content IS NULL, place`;

/** The days of a range that have ticks that were taken: how many segments, what the only one is, and whether the tail may have more. */
const LISTED = `SELECT day::float8, count(content)::int AS segments, max(content) AS content, sum(rows)::int AS rows,
    sum(bytes)::float8 AS bytes, bool_or(content IS NULL) AS open FROM (
    SELECT t.day, t.content, t.rows, t.bytes FROM tick_segment t LEFT JOIN backfill b ON b.number = t.layer
      WHERE t.ticker = $1 AND t.kind = 'taken' AND b.undone_at IS NULL
    UNION ALL SELECT ${daysBetween("first", "last")}, NULL, 0, 0 FROM tick_tail
      WHERE ticker = $1 AND last >= $2::bigint * ${SECOND_MS} AND first < $3::bigint * ${SECOND_MS}
  ) days WHERE day >= $2 AND day < $3 GROUP BY day ORDER BY day LIMIT $4`;

/** A part of what is stored of a day: a segment, or a chunk of the tail, where `content` and `kind` are null. */
export type DayPart = TailChunk & {
  readonly layer: number;
  readonly kind: TickKind | null;
  /** The name of a segment, and the number of its ticks. */
  readonly content: string | null;
  readonly rows: number;
};

/** The ticks of the tail that are of a kind and a day. */
function tailOfDay(tail: TickColumns, kind: TickKind, day: number): TickColumns {
  const times = kind === "taken" ? tail.time : tail.received;
  const isOfDay = (row: number) => dayOf(times[row] as number) === day;
  const isOfKind = (row: number) => (tail.outcome[row] === TAKEN) === (kind === "taken");
  return pickTicks(
    tail,
    [...times.keys()].filter((row) => isOfKind(row) && isOfDay(row)),
  );
}

/** What is stored of a UTC day, the parts of a layer in their order. @param day its begin, Unix seconds */
export async function partsOfDay(client: Queries, ticker: string, day: number, kinds: readonly TickKind[]): Promise<DayPart[]> {
  const { rows } = await client.query<DayPart>(DAY, [ticker, day, kinds]);
  return rows;
}

/** The ticks of a kind and a UTC day, ascending. @param contents those of each segment among the parts, by its name */
export function foldDay(
  parts: readonly DayPart[],
  contents: ReadonlyMap<string, TickColumns>,
  kind: TickKind,
  day: number,
): TickColumns {
  const layers = new Map<number, TickColumns[]>([[FEED_LAYER, []]]);
  for (const { layer, content, kind: stored } of parts)
    if (content !== null && stored === kind)
      layers.set(layer, [...(layers.get(layer) ?? []), contents.get(content) as TickColumns]);
  const tail = tailTicks(parts.filter(({ content }) => content === null));
  layers.get(FEED_LAYER)?.push(tailOfDay(tail, kind, day));
  return foldTicks([...layers].sort(([a], [b]) => a - b).map(([, ticks]) => chainTicks(ticks)));
}

async function dayOnce(
  { client, segments }: Stored,
  ticker: string,
  day: number,
  kinds: readonly TickKind[],
): Promise<TickColumns[]> {
  const parts = await partsOfDay(client, ticker, day, kinds);
  const contents = await segments.readTicks(
    client,
    parts.flatMap(({ content }) => content ?? []),
  );
  return kinds.map((kind) => foldDay(parts, contents, kind, day));
}

/** A UTC day that has ticks that were taken. */
interface ListedDay {
  /** Its begin, Unix seconds. */
  readonly day: number;
  /** Number of its segments; the name, ticks and bytes of one of them mean the day only where there is no other. */
  readonly segments: number;
  readonly content: string | null;
  readonly rows: number;
  readonly bytes: number;
  /** Whether ticks of it are in no segment yet. */
  readonly open: boolean;
}

/** The days that touch [from, to), Unix seconds, ascending, at most `limit`. Reads no ticks. */
export async function tickDays(
  client: Queries,
  ticker: string,
  { from, to, limit }: { readonly from: number; readonly to: number; readonly limit: number },
): Promise<ListedDay[]> {
  const whole = [Math.floor(from / DAY_S) * DAY_S, Math.ceil(to / DAY_S) * DAY_S];
  const { rows } = await client.query<ListedDay>(LISTED, [ticker, ...whole, limit]);
  return rows;
}

/** The ticks of [from, to), of ticks that ascend by time. */
function cut(ticks: TickColumns, from: number, to: number): TickColumns {
  return sliceTicks(ticks, rowFrom(ticks.time, from), rowFrom(ticks.time, to));
}

/**
 * The ticks of a UTC day that were taken, ascending by time, those of one time in the order in which they were taken.
 * @param day its begin, Unix seconds
 * @throws SegmentMissing, SegmentDamaged; pg's error when the database is unavailable
 */
export async function ticksOfDay(db: Stored, ticker: string, day: number): Promise<TickColumns> {
  const [taken] = await untilFound(() => dayOnce(db, ticker, day, ["taken"]));
  return taken as TickColumns;
}

/** All ticks of a UTC day, also those that were not taken, in the order in which they came. @throws as ticksOfDay */
export async function everyTickOfDay(db: Stored, ticker: string, day: number): Promise<TickColumns> {
  const ticks = chainTicks(await untilFound(() => dayOnce(db, ticker, day, ["taken", "held"])));
  const cameMs = (row: number) => (ticks.received[row] || ticks.time[row]) as number;
  return pickTicks(
    ticks,
    [...ticks.time.keys()].sort((a, b) => cameMs(a) - cameMs(b) || a - b),
  );
}

/** The UTC days of [from, to), Unix milliseconds, that have ticks, ascending, Unix seconds. */
export async function daysWithTicks(client: Queries, ticker: string, from: number, to: number): Promise<number[]> {
  const { rows } = await client.query<{ day: number }>(ALL_DAYS, [
    ticker,
    Math.floor(from / SECOND_MS),
    Math.ceil(to / SECOND_MS),
  ]);
  return rows.map(({ day }) => day);
}

/**
 * Ticks of [from, to), Unix milliseconds, that were taken, as ticksOfDay gives them: at most `limit` from one end of the range.
 * @throws as ticksOfDay
 */
export async function readTicks(
  db: Stored,
  {
    ticker,
    from,
    to,
    limit,
    end,
  }: {
    readonly ticker: string;
    readonly from: number;
    readonly to: number;
    readonly limit: number;
    readonly end: "oldest" | "newest";
  },
): Promise<TickColumns> {
  let found: TickColumns[] = [];
  let count = 0;
  let [first, last] = [from, to];
  while (first < last && count < limit) {
    const { rows } = await db.client.query<{ day: number }>(DAYS[end], [ticker, Math.ceil(first), Math.ceil(last)]);
    for (const { day } of rows) {
      if (count >= limit) break;
      const ticks = cut(await ticksOfDay(db, ticker, day), from, to);
      found = end === "oldest" ? [...found, ticks] : [ticks, ...found];
      count += ticks.time.length;
    }
    const furthest = rows.at(-1)?.day;
    if (rows.length < DAYS_COUNT || furthest === undefined) break;
    if (end === "oldest") first = (furthest + DAY_S) * SECOND_MS;
    else last = furthest * SECOND_MS;
  }
  const all = chainTicks(found);
  return end === "oldest" ? sliceTicks(all, 0, limit) : sliceTicks(all, Math.max(0, count - limit), count);
}
