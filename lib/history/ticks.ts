import { rowFrom } from "#lib/domain/columns";
import { FEED_LAYER } from "#lib/domain/fold";
import { chainTicks, foldTicks, pickTicks, sliceTicks, TAKEN, type TickColumns } from "#lib/domain/tick-columns";
import type { Queries } from "#lib/segments/segment-store";
import type { Segments } from "#lib/segments/segments";
import { DAY_MS, DAY_S, SECOND_MS } from "#lib/units";
import { untilFound } from "./minutes";
import type { TickKind } from "./tick-days";
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
const DAY = `SELECT t.layer, t.part::bigint AS place, t.kind, t.content, NULL AS source, NULL::bytea AS ticks, NULL AS outcomes
    FROM tick_segment t LEFT JOIN backfill b ON b.number = t.layer
    WHERE t.ticker = $1 AND t.kind = ANY($3) AND t.day = $2 AND b.undone_at IS NULL
  UNION ALL SELECT ${FEED_LAYER}, id, NULL, NULL, source, ticks, outcomes FROM tick_tail
    WHERE ticker = $1 AND (last >= $2::bigint * ${SECOND_MS} AND first < ($2::bigint + ${DAY_S}) * ${SECOND_MS} OR 'held' = ANY($3)
      AND came_last >= $2::bigint * ${SECOND_MS} AND came_first < ($2::bigint + ${DAY_S}) * ${SECOND_MS})
  ORDER BY layer, content NULLS LAST, place`;

type DayRow = TailChunk & { readonly layer: number; readonly kind: TickKind | null; readonly content: string | null };

/** The ticks of the tail that are of a kind and a day. */
function tailOfDay(tail: TickColumns, kind: TickKind, day: number): TickColumns {
  const times = kind === "taken" ? tail.time : tail.received;
  const isOfDay = (row: number) => Math.floor((times[row] as number) / DAY_MS) * DAY_S === day;
  const isOfKind = (row: number) => (tail.outcome[row] === TAKEN) === (kind === "taken");
  return pickTicks(
    tail,
    [...times.keys()].filter((row) => isOfKind(row) && isOfDay(row)),
  );
}

async function dayOnce(
  { client, segments }: Stored,
  ticker: string,
  day: number,
  kinds: readonly TickKind[],
): Promise<TickColumns[]> {
  const { rows } = await client.query<DayRow>(DAY, [ticker, day, kinds]);
  const contents = await segments.readTicks(
    client,
    rows.flatMap(({ content }) => content ?? []),
  );
  const tail = tailTicks(rows.filter(({ content }) => content === null));
  return kinds.map((kind) => {
    const layers = new Map<number, TickColumns[]>([[FEED_LAYER, []]]);
    for (const { layer, content, kind: stored } of rows)
      if (content !== null && stored === kind)
        layers.set(layer, [...(layers.get(layer) ?? []), contents.get(content) as TickColumns]);
    layers.get(FEED_LAYER)?.push(tailOfDay(tail, kind, day));
    return foldTicks([...layers].sort(([a], [b]) => a - b).map(([, parts]) => chainTicks(parts)));
  });
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
