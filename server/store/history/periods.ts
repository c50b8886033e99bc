import type { Timeframe } from "#lib/contract/primitives";
import { joinColumns, type KlineColumns } from "#lib/domain/columns";
import { FEED_LAYER, type Folded, joinStatements, type Statements } from "#lib/domain/fold";
import type { Period } from "#lib/domain/period";
import { DAY_S, MINUTE_S, SECOND_MS } from "#lib/units";
import type { Queries } from "#server/store/segments/segment-store";
import type { Segments } from "#server/store/segments/segments";
import { foldedStatements, foldSwitched, type LayerRow, VISIBLE_ROW, type VisibleRow, visibleStatements } from "./layers";
import { TAIL_OF, type TailRow } from "./minutes";
import { foldPast } from "./past-thread";

/** Longer than any interval: MN1 has 31 days and an hour. */
const INTERVAL_MAX_S = 32 * DAY_S;

/** A period of a series, and which it is. */
export interface PeriodRow extends VisibleRow {
  readonly timeframe: Timeframe;
  /** At most so many, where they are folded for this read. */
  readonly rows: number;
  /** What is folded to know what showed; null where the row says it. */
  readonly layers?: readonly PastLayer[] | null;
  /** Folds the period for this read; null where the row already has the result. */
  readonly folded: (() => Promise<Folded>) | null;
}

/** The periods of some timeframes of a ticker, and its tail. */
export interface PeriodsQuery {
  readonly ticker: string;
  readonly timeframes: readonly Timeframe[];
  /** Months in it, and all periods of longer timeframes before its end. */
  readonly range: Period;
}

/** What is stored of a ticker as of one moment, before its segments are read. */
export interface Periods {
  /** Ascending, by timeframe. */
  readonly periods: readonly PeriodRow[];
  /** Ascending. */
  readonly tail: readonly TailRow[];
}

/** More statements would have to be folded than a read may. */
export class TooManyStatements extends Error {
  override readonly name = "TooManyStatements";
}

/** An instant in the past, and how much may be done to know what showed then. */
export interface PastInstant {
  /** Unix seconds. */
  readonly atS: number;
  /** Statements to fold at most. */
  readonly maxStatements: number;
}

type Row = VisibleRow & TailRow & { readonly timeframe: Timeframe; readonly layers?: readonly PastLayer[] | null };

interface PastLayer extends LayerRow {
  readonly rows: number;
}

/** One statement is one snapshot. */
const NOW = `SELECT timeframe, ${VISIBLE_ROW}, NULL::float8[] AS tail
    FROM history_visible WHERE ticker = $1 AND timeframe = ANY($2) AND start < $4 AND (start >= $3 OR timeframe <> 'M1')
  UNION ALL SELECT 'M1', time::float8, NULL, 0, 0, '{}', '{}', '{}', ${TAIL_OF} FROM kline_tail WHERE ticker = $1 AND time >= $3 AND time < $4`;

const OF_LAYER = `SELECT timeframe, start::float8 FROM history_layer
  WHERE ticker = $1 AND timeframe = ANY($2) AND start < $4 AND (start >= $3 OR timeframe <> 'M1') AND layer = $5`;

/**
 * The same at an instant. A layer counted if its import had begun, and if the last change before the instant did not undo it. Where the layers that counted are those that count, and said all before the instant,
 * what shows is what showed.
 */
const THEN = `WITH said AS (
    SELECT s.timeframe, s.start, s.layer, s.content, s.rows, s.last, s.known,
      coalesce(b.by_operator, false) AS by_operator, b.undone_at IS NULL AS counts,
      CASE WHEN s.layer = ${FEED_LAYER} THEN s.start < $5::bigint
        ELSE coalesce(b.started_at <= to_timestamp($5::bigint), true) AND NOT coalesce(
          (SELECT c.undone FROM history_change c WHERE c.layer = s.layer AND c.at <= to_timestamp($5::bigint) ORDER BY c.id DESC LIMIT 1),
          (SELECT NOT c.undone FROM history_change c WHERE c.layer = s.layer ORDER BY c.id LIMIT 1), b.pending, false) END AS counted
    FROM history_layer s LEFT JOIN backfill b ON b.number = s.layer
    WHERE s.ticker = $1 AND s.timeframe = ANY($2) AND s.start < $4 AND (s.start >= $3 OR s.timeframe <> 'M1')
  ), past AS (
    SELECT timeframe, start,
      bool_or(counts <> counted OR counted AND (known > $5::bigint * ${SECOND_MS} OR layer = ${FEED_LAYER}
        AND last > $5::bigint - CASE WHEN timeframe = 'M1' THEN ${MINUTE_S} ELSE ${INTERVAL_MAX_S} END)) AS changed,
      json_agg(json_build_object('layer', layer, 'content', content, 'rows', rows, 'by_operator', by_operator) ORDER BY layer)
        FILTER (WHERE counted) AS layers
    FROM said GROUP BY timeframe, start
  )
  SELECT timeframe, ${VISIBLE_ROW}, NULL::float8[] AS tail, CASE WHEN changed THEN coalesce(layers, '[]') END AS layers
    FROM history_visible JOIN past USING (timeframe, start) WHERE ticker = $1
  UNION ALL SELECT 'M1', time::float8, NULL, 0, 0, '{}', '{}', '{}', ${TAIL_OF}, NULL FROM kline_tail
    WHERE ticker = $1 AND time >= $3 AND time < $4 AND time <= $5::bigint - ${MINUTE_S}`;

/** Months of an instant that a read keeps while it counts them, 4 MB each: more would be all of a read's memory. */
const FOLDED_KEPT_COUNT = 4;

const statementsOf = (layers: readonly PastLayer[]) => layers.reduce((sum, { rows }) => sum + rows, 0);

const byStart = (a: { readonly start: number }, b: { readonly start: number }) => a.start - b.start;

const AS_STORED = { folded: null };

function periodsOf(rows: readonly Row[], foldingOf: (row: Row) => Pick<PeriodRow, "folded"> & Partial<PeriodRow>): Periods {
  const periods = rows.filter(({ tail }) => tail === null).map((row) => ({ ...row, ...foldingOf(row) }));
  return { periods: periods.sort(byStart), tail: rows.filter(({ tail }) => tail !== null).sort(byStart) };
}

const valuesOf = ({ ticker, timeframes, range }: PeriodsQuery) => [ticker, timeframes, range.from, range.to];

function once(fold: () => Promise<Folded>): () => Promise<Folded> {
  let folded: Promise<Folded> | undefined;
  return () => {
    folded ??= fold();
    return folded;
  };
}

/** The periods as they show. */
export async function periodsNow(client: Queries, query: PeriodsQuery): Promise<Periods> {
  const { rows } = await client.query<Row>(NOW, valuesOf(query));
  return periodsOf(rows, () => AS_STORED);
}

const UNREAD = { content: null, rows: Number.POSITIVE_INFINITY, sides: 0, sources: [], struck: [], struck_by: [] };

/** The periods as they would show with a layer that does not count yet. */
export async function periodsWith(client: Queries, segments: Segments, query: PeriodsQuery, layer: number): Promise<Periods> {
  const { periods, tail } = await periodsNow(client, query);
  const { rows } = await client.query<{ timeframe: Timeframe; start: number }>(OF_LAYER, [...valuesOf(query), layer]);
  const ofLayer = rows.map((row): PeriodRow => {
    const series = { ticker: query.ticker, timeframe: row.timeframe };
    const fold = () => foldSwitched(client, segments, series, row.start, { layer, counts: true });
    return { ...UNREAD, ...row, folded: once(fold) };
  });
  const isOther = ({ timeframe, start }: PeriodRow) => !rows.some((row) => row.timeframe === timeframe && row.start === start);
  return { periods: [...periods.filter(isOther), ...ofLayer].sort(byStart), tail };
}

/**
 * The periods as they showed at an instant: what imports had said by then, unless they were undone then, and the feed's klines that had
 * ended. Folding more than `maxStatements` throws TooManyStatements.
 */
export async function periodsThen(
  client: Queries,
  segments: Segments,
  query: PeriodsQuery,
  { atS, maxStatements }: PastInstant,
): Promise<Periods> {
  const { rows } = await client.query<Row>(THEN, [...valuesOf(query), atS]);
  const kept = new Map<Row, Promise<Folded>>();
  const counted = new Set<Row>();
  let left = maxStatements;

  async function fold(timeframe: Timeframe, counting: readonly PastLayer[]): Promise<Folded> {
    const contents = await segments.bytes(
      client,
      counting.map(({ content }) => content),
    );
    const layers = counting.map(({ layer, by_operator, content }) => ({
      layer,
      by_operator,
      bytes: contents.get(content) as Uint8Array,
    }));
    return foldPast({ timeframe, atMs: atS * SECOND_MS, layers });
  }

  async function foldedOf(row: Row, layers: readonly PastLayer[]): Promise<Folded> {
    if (!counted.has(row)) left -= statementsOf(layers);
    counted.add(row);
    if (left < 0) throw new TooManyStatements();
    const folding = kept.get(row) ?? fold(row.timeframe, layers);
    kept.set(row, folding);
    const [oldest] = kept.keys();
    if (kept.size > FOLDED_KEPT_COUNT && oldest !== undefined) kept.delete(oldest);
    return folding;
  }

  const some = rows.filter(({ layers }) => layers?.length !== 0);
  return periodsOf(some, (row) => {
    const { layers } = row;
    return layers ? { rows: statementsOf(layers), folded: () => foldedOf(row, layers) } : AS_STORED;
  });
}

/** Whether a period is read as it shows now. */
export const isAsNow = ({ folded }: PeriodRow) => folded === null;

function readShown(client: Queries, segments: Segments, periods: readonly PeriodRow[]) {
  return segments.read(
    client,
    periods.filter(isAsNow).flatMap(({ content }) => content ?? []),
  );
}

/** The klines of each of some periods that has any, one after the other: those of an instant are held by nobody else. */
export async function* columnsOfEach(
  client: Queries,
  segments: Segments,
  periods: readonly PeriodRow[],
): AsyncGenerator<KlineColumns> {
  const found = await readShown(client, segments, periods);
  for (const { folded, content } of periods) {
    const columns = folded === null ? found.get(content ?? "") : (await folded()).rows;
    if (columns !== undefined) yield columns;
  }
}

/** The klines of consecutive periods. */
export async function columnsShown(client: Queries, segments: Segments, periods: readonly PeriodRow[]): Promise<KlineColumns> {
  const parts: KlineColumns[] = [];
  for await (const columns of columnsOfEach(client, segments, periods)) parts.push(columns);
  return joinColumns(parts);
}

/** The klines of periods, with what was taken out. */
export async function statementsShown(client: Queries, segments: Segments, periods: readonly PeriodRow[]): Promise<Statements> {
  const found = await readShown(client, segments, periods);
  const parts: Statements[] = [];
  for (const period of periods)
    parts.push(
      period.folded === null
        ? visibleStatements(period, found.get(period.content ?? ""))
        : foldedStatements(await period.folded()),
    );
  return joinStatements(parts);
}
