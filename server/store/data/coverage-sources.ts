import type { CoverageSource } from "#lib/contract/coverage";
import { FEED_LAYER } from "#lib/domain/fold";
import { REPAIR_LABEL } from "#server/store/market/backfills";
import type { Queries } from "#server/store/segments/segment-store";

/** What an import is, as SQL of the layer `s` and its import `b`. */
export const LAYER_KIND = `CASE WHEN s.layer = ${FEED_LAYER} THEN 'feed' WHEN b.by_operator THEN 'correction' WHEN b.pushed_by IS NOT NULL THEN 'push'
  WHEN starts_with(b.file, '${REPAIR_LABEL}') THEN 'repair' ELSE 'import' END`;

/**
 * The layers of the klines that show, by kind and provider. A file's path is nobody's business: a repair names its provider, and the format
 * of a file who made it.
 */
const SOURCES = `WITH shown AS (
    SELECT start, sources[at] AS layer, sources[at + 1] AS rows
      FROM history_visible, generate_series(1, cardinality(sources), 2) AS at WHERE ticker = $1 AND timeframe = 'M1'
    UNION ALL SELECT extract(epoch FROM date_trunc('month', to_timestamp(time), 'UTC')), ${FEED_LAYER}, 1 FROM kline_tail WHERE ticker = $1
  )
  SELECT ${LAYER_KIND} AS kind, CASE WHEN starts_with(b.file, '${REPAIR_LABEL}') THEN substr(b.file, ${REPAIR_LABEL.length + 1})
      ELSE nullif(array_to_string(b.formats, ', '), '') END AS provider,
    sum(s.rows)::float8 AS rows, count(DISTINCT b.number)::integer AS count, to_char(to_timestamp(min(s.start)) AT TIME ZONE 'UTC', 'YYYY-MM') AS first_month,
    to_char(to_timestamp(max(s.start)) AT TIME ZONE 'UTC', 'YYYY-MM') AS last_month, max(b.started_at) AS last
  FROM shown s LEFT JOIN backfill b ON b.number = s.layer GROUP BY 1, 2 ORDER BY rows DESC, kind`;

type SourceRow = Omit<CoverageSource, "count" | "last_at"> & { readonly count: number; readonly last: Date | null };

/** What the klines of a ticker of the live venue are from. Reads no segment. */
export async function readSources(client: Queries, ticker: string): Promise<CoverageSource[]> {
  const { rows } = await client.query<SourceRow>(SOURCES, [ticker]);
  return rows.map(({ last, count, ...source }) => ({
    ...source,
    count: source.kind === "feed" ? null : count,
    last_at: last?.toISOString() ?? null,
  }));
}
