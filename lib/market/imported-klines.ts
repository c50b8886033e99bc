import type pg from "pg";
import type { Timeframe } from "#lib/contract/primitives";
import { longQuery } from "#lib/db";
import type { Kline } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import { addCounts, type BatchCounts, countRepeats, NO_KLINES, valuesOf } from "./kline-batches";
import { distinct, type KlineRow, NUMBERS, rangesOf, toKline } from "./kline-rows";
import { COLUMNS, copyInto, LAST_WRITE_WINS, listOf, VALUES } from "./kline-sql";

/** The venue that takes imports; kline_imported holds rows of no other. */
const VENUE = "live";
/** The batch of a trial: higher than all others. */
const TRIAL_BATCH = 2_147_483_647;

/** A range of one series: open times in Unix seconds, both included. */
interface SeriesRange {
  readonly ticker: string;
  readonly timeframe: Timeframe;
  readonly first: number;
  readonly last: number;
}

const RANGE = `venue = '${VENUE}' AND ticker = $1 AND timeframe = $2 AND time BETWEEN $3 AND $4`;
const valuesFor = ({ ticker, timeframe, first, last }: SeriesRange) => [ticker, timeframe, first, last];

/** The imported klines that count: of each key the one with the highest batch. */
const newestOf = (source: string) =>
  `SELECT DISTINCT ON (time) * FROM ${source} AS said WHERE ${RANGE} ORDER BY time, batch DESC`;

/** A table of this connection that holds the klines of a trial. */
const PLANNED = "CREATE TEMPORARY TABLE IF NOT EXISTS planned_imported (LIKE kline_imported INCLUDING ALL)";
const WITH_PLANNED = "(TABLE kline_imported UNION ALL TABLE planned_imported)";

const ANY_MINUTES = `SELECT FROM kline
  WHERE venue = '${VENUE}' AND ticker = $1 AND timeframe = 'M1' AND time >= $2 AND time < $3 LIMIT 1`;
/** LATERAL with a limit, so that each interval is one look-up in the key, whatever the statistics say. */
const HAVE_MINUTES = `SELECT asked.time FROM unnest($2::bigint[], $3::bigint[]) AS asked (time, until),
  LATERAL (SELECT FROM kline WHERE venue = '${VENUE}' AND ticker = $1 AND timeframe = 'M1'
    AND kline.time >= asked.time AND kline.time < asked.until LIMIT 1) AS found`;

async function timesOf(client: pg.ClientBase, text: string, values: readonly unknown[]): Promise<number[]> {
  const query = { text, values: [...values], rowMode: "array" as const, types: NUMBERS };
  const { rows } = await client.query<[number]>(longQuery(query));
  return rows.map(([time]) => time);
}

/**
 * The klines whose intervals have a computed kline, or minutes of which it is not computed yet. A computed one may have lost
 * its minutes to the retention, and is still theirs.
 */
async function coveredTimes(client: pg.ClientBase, range: SeriesRange, klines: readonly Kline[]): Promise<Set<number>> {
  const { ticker, timeframe, first, last } = range;
  const alignment = createAlignment();
  const computed = await timesOf(client, `SELECT time FROM kline WHERE ${RANGE} AND batch IS NULL`, valuesFor(range));
  const covered = new Set(computed);
  const any = await client.query(ANY_MINUTES, [ticker, first, alignment.nextOpenTime(timeframe, last)]);
  if (any.rowCount === 0) return covered;
  const asked = klines.map(({ time }) => time).filter((time) => !covered.has(time));
  const ends = asked.map((time) => alignment.nextOpenTime(timeframe, time));
  for (const time of await timesOf(client, HAVE_MINUTES, [ticker, asked, ends])) covered.add(time);
  return covered;
}

interface Said {
  readonly values: string;
  readonly batch: number;
}

async function newestSaid(client: pg.ClientBase, source: string, range: SeriesRange): Promise<Map<number, Said>> {
  const { ticker, timeframe } = range;
  const text = `SELECT batch, time, ${VALUES.join(", ")} FROM (${newestOf(source)}) AS newest`;
  const read = longQuery({ text, values: valuesFor(range), rowMode: "array" as const, types: NUMBERS });
  const { rows } = await client.query<[number, ...KlineRow]>(read);
  return new Map(rows.map(([batch, ...row]) => [row[0], { batch, values: valuesOf(toKline(ticker, timeframe, row)) }]));
}

/** What becomes of klines without duplicates. */
function count(klines: readonly Kline[], said: ReadonlyMap<number, Said>, covered: ReadonlySet<number>, batch: number) {
  const counts: BatchCounts = { ...NO_KLINES };
  for (const kline of klines) {
    const before = said.get(kline.time);
    const isSame = before?.values === valuesOf(kline);
    if (before?.batch === batch) counts[isSame ? "repeated" : "conflicting"] += 1;
    else if (covered.has(kline.time)) counts.covered += 1;
    else if (before === undefined) counts.stored += 1;
    else counts[isSame ? "alreadyThere" : "overwritten"] += 1;
  }
  return counts;
}

/** A row of a batch replaces the one of an earlier part of it. */
const mergeInto = (table: "kline_imported" | "planned_imported") => `INSERT INTO ${table} (venue, ${COLUMNS}, batch)
  SELECT venue, ${COLUMNS}, batch FROM incoming ON CONFLICT (venue, ticker, timeframe, time, batch)
  DO UPDATE SET (${VALUES.join(", ")}) = (${listOf("excluded", VALUES)})`;

/** A computed kline stays, and one of a later batch. */
const SHOW = `INSERT INTO kline AS kept (venue, ${COLUMNS}, batch)
  SELECT venue, ${COLUMNS}, batch FROM incoming WHERE NOT time = ANY($1) ${LAST_WRITE_WINS} AND kept.batch <= excluded.batch`;

const ADD_TO_SERIES = `INSERT INTO imported_series AS s
    (batch, ticker, timeframe, first, last, stored, already_there, overwritten, covered)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  ON CONFLICT (batch, ticker, timeframe) DO UPDATE SET first = least(s.first, $4), last = greatest(s.last, $5),
    stored = s.stored + $6, already_there = s.already_there + $7, overwritten = s.overwritten + $8, covered = s.covered + $9`;

async function stage(client: pg.ClientBase, klines: readonly Kline[], batch: number): Promise<void> {
  await client.query("CREATE TEMPORARY TABLE incoming (LIKE kline) ON COMMIT DROP");
  await copyInto(client, "incoming", VENUE, klines, batch);
}

/**
 * Stores klines of one ticker and one timeframe above M1 as a part of batch `batch`, in the caller's transaction. They show
 * where no minutes of their interval are stored; of several imports, the one with the highest number. The partitions must exist.
 */
export async function storeImported(client: pg.ClientBase, batch: number, klines: readonly Kline[]): Promise<BatchCounts> {
  const rows = distinct(klines);
  const [range] = rangesOf(rows);
  if (range === undefined) return { ...NO_KLINES };
  const covered = await coveredTimes(client, range, rows);
  const said = await newestSaid(client, "kline_imported", range);
  await stage(client, rows, batch);
  await client.query(longQuery({ text: mergeInto("kline_imported") }));
  await client.query(longQuery({ text: SHOW, values: [[...covered]] }));
  const counts = addCounts(count(rows, said, covered, batch), { ...NO_KLINES, ...countRepeats(klines) });
  const { stored, alreadyThere, overwritten } = counts;
  const written = [stored, alreadyThere, overwritten, counts.covered];
  await client.query(ADD_TO_SERIES, [batch, ...valuesFor(range), ...written]);
  return counts;
}

/** Counts what storeImported would do. Klines of one trial are compared with each other, as with tryBatch. */
export async function tryImported(client: pg.ClientBase, klines: readonly Kline[]): Promise<BatchCounts> {
  const rows = distinct(klines);
  const [range] = rangesOf(rows);
  if (range === undefined) return { ...NO_KLINES };
  await client.query("BEGIN");
  await client.query(PLANNED);
  const covered = await coveredTimes(client, range, rows);
  const said = await newestSaid(client, WITH_PLANNED, range);
  await stage(client, rows, TRIAL_BATCH);
  await client.query(longQuery({ text: mergeInto("planned_imported") }));
  await client.query("COMMIT");
  return addCounts(count(rows, said, covered, TRIAL_BATCH), { ...NO_KLINES, ...countRepeats(klines) });
}

const REPLACE = `UPDATE kline k SET (${VALUES.join(", ")}, batch) = (${listOf("said", VALUES)}, said.batch)
  FROM (${newestOf("kline_imported")}) said
  WHERE k.time = said.time AND k.venue = '${VENUE}' AND k.ticker = $1 AND k.timeframe = $2 AND k.time BETWEEN $3 AND $4
    AND k.batch = $5`;

/** What an undo removed of one series of imported klines. */
export interface RemovedSeries extends SeriesRange {
  readonly removed: number;
  readonly restored: number;
}

/**
 * Removes the imported klines of a batch in the caller's transaction. Where one showed, the newest one of the other imports
 * shows, if there is any.
 */
export async function removeImported(client: pg.ClientBase, batch: number): Promise<RemovedSeries[]> {
  const { rows } = await client.query<RemovedSeries>(
    `SELECT ticker, timeframe, first::float8 AS first, last::float8 AS last, stored::float8 AS removed,
      overwritten::float8 AS restored FROM imported_series WHERE batch = $1 ORDER BY ticker, timeframe`,
    [batch],
  );
  for (const range of rows) {
    const values = [...valuesFor(range), batch];
    await client.query(longQuery({ text: `DELETE FROM kline_imported WHERE ${RANGE} AND batch = $5`, values }));
    await client.query(longQuery({ text: REPLACE, values }));
    await client.query(longQuery({ text: `DELETE FROM kline WHERE ${RANGE} AND batch = $5`, values }));
  }
  return rows;
}

/** Shows the imported klines of a range where there is no computed kline, in the caller's transaction. */
export async function showImported(client: pg.ClientBase, range: SeriesRange): Promise<void> {
  const text = `INSERT INTO kline (venue, ${COLUMNS}, batch)
    SELECT venue, ${COLUMNS}, batch FROM (${newestOf("kline_imported")}) AS said ON CONFLICT DO NOTHING`;
  await client.query(longQuery({ text, values: valuesFor(range) }));
}

/** Deletes what can never show again, in the caller's transaction: what sealed imports replaced. */
export async function forgetReplaced(client: pg.ClientBase, sealed: readonly number[]): Promise<void> {
  const text = `DELETE FROM kline_imported said USING kline_imported later
    WHERE later.batch = ANY($1) AND later.batch > said.batch AND later.venue = said.venue AND later.ticker = said.ticker
      AND later.timeframe = said.timeframe AND later.time = said.time`;
  await client.query(longQuery({ text, values: [sealed] }));
}
