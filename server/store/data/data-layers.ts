import { BACKFILL_SILENT_S } from "#lib/contract/portal-admin";
import { DATA_LAYERS_MAX_COUNT, type DataLayer, type DataLayers, type SourceKind } from "#lib/contract/portal-data";
import { FEED_LAYER } from "#lib/domain/fold";
import { isoOf, yearSpan } from "#lib/market/data-reads";
import { SECOND_MS } from "#lib/units";
import type { Queries } from "#server/store/segments/segment-store";
import type { Segments } from "#server/store/segments/segments";
import { LAYER_KIND } from "./coverage-sources";

/** What layers said of the months of a span, without imports that are not complete; `shown` are the rows of them that show, or take a kline out. */
const LAYERS = `SELECT s.layer, s.start::float8, s.content, s.rows, s.first::float8, s.last::float8, ${LAYER_KIND} AS kind,
    coalesce(b.file, '') AS label, b.started_at, b.undone_at, (b.state = 'running' AND b.updated_at >= $4) AS fixed,
    coalesce((SELECT sum(v.sources[at + 1]) FROM generate_series(1, cardinality(v.sources), 2) AS at WHERE v.sources[at] = s.layer), 0)::float8
      + (SELECT count(*) FROM unnest(v.struck_by) AS by WHERE by = s.layer)::float8 AS shown
  FROM history_layer s LEFT JOIN backfill b ON b.number = s.layer LEFT JOIN history_visible v USING (ticker, timeframe, start)
  WHERE s.ticker = $1 AND s.timeframe = 'M1' AND s.start >= $2 AND s.start < $3 AND b.pending IS NOT TRUE ORDER BY s.start`;
const OPEN_ROWS = "SELECT count(*)::integer AS count FROM kline_tail WHERE ticker = $1 AND time >= $2 AND time < $3";
const CONTENTS = `SELECT content FROM history_layer WHERE ticker = $1
  UNION SELECT content FROM history_visible WHERE ticker = $1 AND content IS NOT NULL
  UNION SELECT content FROM history_derived WHERE ticker = $1`;
/** From when on anything was known of a ticker: the feed's first minute ended, or its first import began. */
const BEGINNING = `SELECT least(
    (SELECT min(CASE WHEN s.layer = ${FEED_LAYER} THEN s.first + 60 ELSE ceil(extract(epoch FROM b.started_at)) END)
      FROM history_layer s LEFT JOIN backfill b ON b.number = s.layer WHERE s.ticker = $1 AND s.timeframe = 'M1'),
    (SELECT min(time) + 60 FROM kline_tail WHERE ticker = $1))::float8 AS known,
  least((SELECT min(first) FROM history_layer WHERE ticker = $1 AND timeframe = 'M1'), (SELECT min(time) FROM kline_tail WHERE ticker = $1))::float8 AS first,
  greatest((SELECT max(last) FROM history_layer WHERE ticker = $1 AND timeframe = 'M1'), (SELECT max(time) FROM kline_tail WHERE ticker = $1))::float8 AS last`;

interface LayerMonthRow {
  readonly layer: number;
  readonly start: number;
  readonly content: string;
  readonly rows: number;
  readonly first: number;
  readonly last: number;
  readonly kind: SourceKind;
  readonly label: string;
  readonly started_at: Date | null;
  readonly undone_at: Date | null;
  readonly fixed: boolean | null;
  readonly shown: number;
}

/** What was ever said of the minutes of a ticker, whether it shows or not; Unix seconds. */
export interface Said {
  /** From when on anything of it was known. */
  readonly known: number;
  /** The first and the last minute of which something is said. */
  readonly first: number;
  readonly last: number;
}

/** Null where nothing was ever said. */
export async function readSaid(client: Queries, ticker: string): Promise<Said | null> {
  const { rows } = await client.query<{ [Name in keyof Said]: number | null }>(BEGINNING, [ticker]);
  const { known, first, last } = rows[0] ?? {};
  return known == null || first == null || last == null ? null : { known, first, last };
}

/** How many bytes the files of a ticker take, all timeframes and layers. */
export async function readBytes(client: Queries, segments: Segments, ticker: string): Promise<number> {
  const { rows } = await client.query<{ content: string }>(CONTENTS, [ticker]);
  const sizes = await segments.sizes(
    client,
    rows.map(({ content }) => content),
  );
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

const RANK: Readonly<Record<SourceKind, number>> = { correction: 0, import: 1, repair: 1, push: 1, feed: 2, formula: 2 };
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);

function toLayer(months: readonly LayerMonthRow[], sizes: ReadonlyMap<string, number>): DataLayer {
  const { layer, kind, label, started_at, undone_at, fixed } = months[0] as LayerMonthRow;
  const isFeed = layer === FEED_LAYER;
  return {
    number: isFeed ? null : layer,
    kind,
    label,
    started_at: started_at?.toISOString() ?? null,
    undone_at: undone_at?.toISOString() ?? null,
    change: isFeed || fixed === true ? null : undone_at === null ? "undo" : "redo",
    rows: sumOf(months.map(({ rows }) => rows)),
    shown: sumOf(months.map(({ shown }) => shown)),
    bytes: sumOf(months.map(({ content }) => sizes.get(content) ?? 0)),
    months: months.map(({ start, first, last, rows, shown }) => ({
      month: isoOf(start).slice(0, 7),
      first_at: isoOf(first),
      last_at: isoOf(last),
      rows,
      shown,
    })),
  };
}

/** Reads what each layer said of a UTC year; of segments no more than their size. */
export async function readLayers(
  client: Queries,
  segments: Segments,
  ticker: string,
  year: number,
  nowMs: number,
): Promise<DataLayers> {
  const { from, to } = yearSpan(year);
  // An import that has not reported for so long does not run any more.
  const silentSince = new Date(nowMs - BACKFILL_SILENT_S * SECOND_MS);
  const { rows } = await client.query<LayerMonthRow>(LAYERS, [ticker, from, to, silentSince]);
  const layers = new Map<number, LayerMonthRow[]>();
  for (const row of rows) layers.set(row.layer, [...(layers.get(row.layer) ?? []), row]);
  // As the fold has it: corrections over imports, the later one over the earlier one, and the feed below all.
  const ordered = [...layers.values()]
    .map((months) => ({ months, of: months[0] as LayerMonthRow }))
    .sort((a, b) => RANK[a.of.kind] - RANK[b.of.kind] || b.of.layer - a.of.layer);
  const listed = ordered.filter(({ of }, index) => index < DATA_LAYERS_MAX_COUNT || of.layer === FEED_LAYER);
  const sizes = await segments.sizes(
    client,
    listed.flatMap(({ months }) => months.map(({ content }) => content)),
  );
  const { rows: open } = await client.query<{ count: number }>(OPEN_ROWS, [ticker, from, to]);
  return {
    year,
    layers: listed.map(({ months }) => toLayer(months, sizes)),
    count: ordered.length,
    open_rows: open[0]?.count ?? 0,
  };
}
