import type { Timeframe } from "#lib/contract/primitives";
import { cutColumns, emptyColumns, haveSameRows, rowFrom, rowsBetween } from "#lib/domain/columns";
import { FEED_LAYER, type Folded, fold, joinStatements, RANKS, type RankOf, type Statements } from "#lib/domain/fold";
import { type Period, periodOf } from "#lib/domain/period";
import type { Queries } from "#server/store/segments/segment-store";
import { type Segments, saidBy } from "#server/store/segments/segments";

/** A series of stored klines. */
export interface Series {
  readonly ticker: string;
  readonly timeframe: Timeframe;
}

/** What a layer said of a period. */
export interface LayerRow {
  readonly layer: number;
  readonly content: string;
  readonly by_operator: boolean;
}

/** A period as it is stored. */
export interface VisibleRow {
  readonly start: number;
  readonly content: string | null;
  readonly rows: number;
  /** How many of the rows have ask and mid prices. */
  readonly sides: number;
  readonly sources: readonly number[];
  readonly struck: readonly number[];
  readonly struck_by: readonly number[];
}

/** The columns of VisibleRow. */
export const VISIBLE_ROW = "start::float8, content, rows, sides, sources, struck::float8[], struck_by";

const DIGITS = "SELECT digits FROM listing WHERE venue = 'live' AND ticker = $1";
const LAYERS = `SELECT s.layer, s.content, coalesce(b.by_operator, false) AS by_operator, s.rows, s.first::float8, s.last::float8,
    CASE WHEN s.plain = s.content THEN s.sides END AS sides
  FROM history_layer s LEFT JOIN backfill b ON b.number = s.layer
  WHERE s.ticker = $1 AND s.timeframe = $2 AND s.start = $3
    AND CASE WHEN s.layer = $4::integer THEN $5::boolean ELSE b.undone_at IS NULL END ORDER BY s.layer`;
const SAID = "SELECT content FROM history_layer WHERE ticker = $1 AND timeframe = $2 AND start = $3 AND layer = $4";
const SAID_WITHIN = `SELECT content FROM history_layer
  WHERE ticker = $1 AND timeframe = $2 AND layer = $3 AND start >= $4 AND start < $5 ORDER BY start`;
const LATEST = "SELECT max(known)::float8 AS known FROM history_layer WHERE ticker = $1 AND timeframe = $2 AND start = $3";
const SAY = `INSERT INTO history_layer (ticker, timeframe, start, layer, content, rows, first, last, known, plain, sides)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $5, $10)
  ON CONFLICT (ticker, timeframe, start, layer) DO UPDATE SET (content, rows, first, last, known, plain, sides)
    = ($5, $6, $7, $8, $9, $5, $10)`;
const SHOW = `INSERT INTO history_visible (ticker, timeframe, start, content, rows, first, last, sources, struck, struck_by, sides)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
  ON CONFLICT (ticker, timeframe, start) DO UPDATE SET (content, rows, first, last, sources, struck, struck_by, sides, changed_at)
    = ($4, $5, $6, $7, $8, $9, $10, $11, clock_timestamp())`;
const PERIODS = `SELECT ticker, timeframe, start::float8 AS start, first::float8 AS first, last::float8 AS last, rows
  FROM history_layer WHERE layer = $1 ORDER BY ticker, timeframe, start`;

/** Pairs of a layer and the number of rows in a row that it said. */
function runsOf(layer: Int32Array): number[] {
  const runs: number[] = [];
  for (const source of layer)
    if (runs.at(-2) === source) runs[runs.length - 1] = (runs.at(-1) as number) + 1;
    else runs.push(source, 1);
  return runs;
}

const NOTHING: Statements = saidBy(emptyColumns(0), FEED_LAYER, Number.NaN);

/** Statements that take out klines: rows of the named layers without prices. */
export function strikes(times: ArrayLike<number>, layers: ArrayLike<number>, knownMs: number): Statements {
  const columns = emptyColumns(times.length);
  columns.time.set(times);
  for (const column of Object.values(columns)) if (column !== columns.time) column.fill(Number.NaN);
  const said = saidBy(columns, 1, knownMs);
  said.layer.set(layers);
  return said;
}

/** What a fold shows, with what was taken out. */
export function foldedStatements({ rows, struck }: Folded): Statements {
  return struck.time.length === 0 ? rows : joinStatements([rows, strikes(struck.time, struck.layer, 0)]);
}

/** What shows of a stored period, with the layers of its rows and what was taken out. */
export function visibleStatements(row: VisibleRow, content: Statements | undefined): Statements {
  const parts: Statements[] = [];
  if (content !== undefined) {
    const layer = new Int32Array(row.rows);
    for (let run = 0, at = 0; run < row.sources.length; run += 2) {
      const end = at + (row.sources[run + 1] as number);
      layer.fill(row.sources[run] as number, at, end);
      at = end;
    }
    parts.push({ ...content, layer });
  }
  if (row.struck.length > 0) parts.push(strikes(row.struck, row.struck_by, 0));
  return parts.length === 0 ? NOTHING : joinStatements(parts);
}

/** The ranks of layers, where only the feed matters: what shows of the others is folded already. */
export const overFeed: RankOf = (layer) => (layer === FEED_LAYER ? RANKS.feed : RANKS.source);

/** How many rows have ask and mid prices. */
const sidesOf = ({ askClose }: Statements) => askClose.reduce((count, close) => count + (Number.isNaN(close) ? 0 : 1), 0);

/** Whether a file of these statements can be what shows: of one layer and instant, one kline for each time. */
function isPlain({ time, close, layer, known }: Statements): boolean {
  for (let row = 0; row < time.length; row += 1)
    if (layer[row] !== layer[0] || !Object.is(known[row], known[0]) || time[row] === time[row - 1] || Number.isNaN(close[row]))
      return false;
  return true;
}

/** Whether the file of what a layer said is what shows. */
const isShownAs = (said: Statements, shown: Statements) => haveSameRows(said, shown) && isPlain(said);

/** Digits after the point of the prices of an instrument; 0 of one that was deleted. */
export async function digitsOf(client: Queries, ticker: string): Promise<number> {
  const { rows } = await client.query<{ digits: number }>(DIGITS, [ticker]);
  return rows[0]?.digits ?? 0;
}

/** Stores statements of a series as a segment. @returns its name */
async function writeSegment(client: Queries, segments: Segments, series: Series, statements: Statements): Promise<string> {
  return segments.write(client, statements, series, await digitsOf(client, series.ticker));
}

async function readParts(client: Queries, segments: Segments, layers: readonly LayerRow[]): Promise<Statements[]> {
  const contents = await segments.read(
    client,
    layers.map(({ content }) => content),
  );
  return layers.map(({ content }) => contents.get(content) ?? NOTHING);
}

/** How much each of some layers counts in a series of a timeframe. */
export function ranksOf(timeframe: Timeframe, layers: readonly Pick<LayerRow, "layer" | "by_operator">[]): RankOf {
  const ofFeed = timeframe === "M1" ? RANKS.feed : RANKS.kept;
  const rankOf = ({ layer, by_operator }: Pick<LayerRow, "layer" | "by_operator">) =>
    layer === FEED_LAYER ? ofFeed : by_operator ? RANKS.operator : RANKS.source;
  const ranks = new Map(layers.map((row) => [row.layer, rankOf(row)]));
  return (layer) => ranks.get(layer) ?? RANKS.source;
}

/** What is known of a layer without reading it. */
interface KnownLayer extends LayerRow {
  readonly rows: number;
  readonly first: number;
  readonly last: number;
  /** How many of its rows have ask and mid prices, where it shows as it is if no other layer says anything; null where that is not known. */
  readonly sides: number | null;
}

/** A layer that is to count, or not to, whatever is stored of its import: what that changes can be seen before it is done. */
interface Switched {
  readonly layer: number;
  readonly counts: boolean;
}

/** The layers of a period that count. */
async function layersOf(client: Queries, key: readonly unknown[], switched: Switched | null): Promise<KnownLayer[]> {
  const values = [...key, switched?.layer ?? null, switched?.counts ?? null];
  return (await client.query<KnownLayer>(LAYERS, values)).rows;
}

/** What would show of a period if a layer was switched. */
export async function foldSwitched(
  client: Queries,
  segments: Segments,
  series: Series,
  start: number,
  switched: Switched,
): Promise<Folded> {
  const layers = await layersOf(client, [series.ticker, series.timeframe, start], switched);
  return fold(await readParts(client, segments, layers), ranksOf(series.timeframe, layers));
}

/**
 * Folds the layers of a period, and stores what shows, in the caller's transaction, which must hold the lock of the ticker.
 * @param start of the period, Unix seconds
 */
export async function show(
  client: Queries,
  segments: Segments,
  series: Series,
  start: number,
  switched: Switched | null = null,
): Promise<void> {
  const key = [series.ticker, series.timeframe, start];
  const layers = await layersOf(client, key, switched);
  const [only] = layers;
  if (layers.length === 1 && only !== undefined && only.sides !== null) {
    const { content, rows, first, last, layer, sides } = only;
    await client.query(SHOW, [...key, content, rows, first, last, [layer, rows], [], [], sides]);
    return;
  }
  const parts = await readParts(client, segments, layers);
  const { rows, struck } = fold(parts, ranksOf(series.timeframe, layers));
  // What shows keeps the file of the first layer that said all of it: a later one that says the same changes no file.
  let content = layers.find((_, at) => isShownAs(parts[at] as Statements, rows))?.content ?? null;
  if (content === null && rows.time.length > 0)
    content = await writeSegment(client, segments, series, saidBy(rows, FEED_LAYER, Number.NaN));
  const { time } = rows;
  await client.query(SHOW, [
    ...key,
    content,
    time.length,
    time[0] ?? null,
    time.at(-1) ?? null,
    runsOf(rows.layer),
    [...struck.time],
    [...struck.layer],
    sidesOf(rows),
  ]);
}

/** Statements that are known later than all others of their period, whatever the clock of this process says. */
async function inOrder(client: Queries, key: readonly unknown[], said: Statements): Promise<Statements> {
  const [knownMs = Number.NaN] = said.known;
  if (Number.isNaN(knownMs)) return said;
  const { rows } = await client.query<{ known: number | null }>(LATEST, [...key]);
  const latestMs = rows[0]?.known ?? 0;
  return latestMs < knownMs ? said : { ...said, known: new Float64Array(said.known.length).fill(latestMs + 1) };
}

/**
 * Adds statements of one layer to a series without showing them, in the caller's transaction, which must hold the lock of the ticker.
 * Statements that a layer made before stay: what was known earlier is still known. Those of the feed are replaced, because it keeps one
 * kline of a minute.
 * @returns the starts of the periods that they are of
 */
export async function addStatements(
  client: Queries,
  segments: Segments,
  series: Series,
  statements: Statements,
): Promise<number[]> {
  const { time, layer: layers } = statements;
  const layer = layers[0] ?? FEED_LAYER;
  const starts: number[] = [];
  for (let from = 0; from < time.length; ) {
    const period = periodOf(series.timeframe, time[from] as number);
    const to = rowFrom(time, period.to);
    const key = [series.ticker, series.timeframe, period.from];
    const said = await inOrder(client, key, rowsBetween(statements, from, to));
    from = to;
    const earlier = await saidOf(client, segments, series, period.from, layer);
    let all = earlier === undefined ? said : joinStatements([earlier, said]);
    if (layer === FEED_LAYER && earlier !== undefined) all = fold([all], () => RANKS.feed).rows;
    const content = await writeSegment(client, segments, series, all);
    const known = Number.isNaN(said.known[0]) ? 0 : said.known[0];
    const sides = isPlain(all) ? sidesOf(all) : null;
    await client.query(SAY, [...key, layer, content, all.time.length, all.time[0], all.time.at(-1), known, sides]);
    starts.push(period.from);
  }
  return starts;
}

/** Adds statements as addStatements does, and shows them. */
export async function say(client: Queries, segments: Segments, series: Series, statements: Statements): Promise<void> {
  for (const start of await addStatements(client, segments, series, statements)) await show(client, segments, series, start);
}

/** What a layer said of a period; undefined when it said nothing. */
export async function saidOf(
  client: Queries,
  segments: Segments,
  series: Series,
  start: number,
  layer: number,
): Promise<Statements | undefined> {
  const { rows } = await client.query<{ content: string }>(SAID, [series.ticker, series.timeframe, start, layer]);
  return rows[0] && (await segments.read(client, [rows[0].content])).get(rows[0].content);
}

/** What a layer said of a series in [from, to), Unix seconds, whether it shows or not: the last of each time, without what it took out. */
export async function saidWithin(
  client: Queries,
  segments: Segments,
  { ticker, timeframe }: Series,
  layer: number,
  { from, to }: Period,
): Promise<Statements> {
  const values = [ticker, timeframe, layer, periodOf(timeframe, from).from, to];
  const { rows } = await client.query<{ content: string }>(SAID_WITHIN, values);
  const contents = await segments.read(
    client,
    rows.map(({ content }) => content),
  );
  const parts = rows.map(({ content }) => contents.get(content) ?? NOTHING);
  return cutColumns(fold(parts, () => RANKS.source).rows, from, to);
}

/** A period of a layer. */
export interface LayerPeriod {
  readonly ticker: string;
  readonly timeframe: Timeframe;
  readonly start: number;
  /** The first and the last time that it says something of, Unix seconds. */
  readonly first: number;
  readonly last: number;
  readonly rows: number;
}

/** The periods of a layer, by series. */
export async function periodsOf(client: Queries, layer: number): Promise<LayerPeriod[]> {
  return (await client.query<LayerPeriod>(PERIODS, [layer])).rows;
}
