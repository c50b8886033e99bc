import type { Timeframe } from "#lib/contract/primitives";
import { isHistoryDamaged, SegmentDamaged } from "#lib/storage-errors";
import type { Database } from "#server/store/database/db";
import { forEachSegment } from "#server/store/segments/object-name";
import { decodeStatements } from "#server/store/segments/parquet";
import type { Queries } from "#server/store/segments/segment-store";
import { decodeTicks } from "#server/store/segments/tick-parquet";
import { show } from "./layers";
import { lockForChange } from "./lock";
import { NAMING_TABLES } from "./sweep";
import { inTransaction } from "./transaction";

/** Files that one statement looks up. */
const PAGE_COUNT = 200;

/** A row that names a file of history. */
export interface NamingRow {
  /** What a layer said, what shows of all layers, klines that were computed from minutes, or ticks. */
  readonly kind: "layer" | "visible" | "derived" | "ticks";
  readonly ticker: string;
  /** Null for ticks. */
  readonly timeframe: string | null;
  /** Of its period or day, Unix seconds. */
  readonly start: number;
  /** The feed (0) or the number of an import; null where it is of none. */
  readonly layer: number | null;
  /** It is of an import that was undone, or is not complete: it does not show. */
  readonly undone: boolean;
  /** How many rows it says the file has; null where it does not say. */
  readonly rows: number | null;
}

/** A file of history that cannot be read, and the rows that name it. */
export interface DamagedFile {
  readonly id: string;
  readonly problem: string;
  readonly rows: readonly NamingRow[];
  /** It was made again from other files, and is right now. */
  readonly mended: boolean;
}

const NAMED = `${NAMING_TABLES.map(
  (table) => `(SELECT content FROM ${table} WHERE content > $1 AND ($2::text IS NULL OR ticker = $2) ORDER BY content LIMIT $3)`,
).join(" UNION ")} ORDER BY content LIMIT $3`;
/** The columns of NamingRow. */
const COLUMNS: Readonly<Record<(typeof NAMING_TABLES)[number], string>> = {
  history_layer: "'layer' AS kind, ticker, timeframe, start, layer, rows",
  history_visible: "'visible' AS kind, ticker, timeframe, start, NULL AS layer, rows",
  history_derived: "'derived' AS kind, ticker, timeframe, start, NULL AS layer, NULL AS rows",
  tick_segment: "'ticks' AS kind, ticker, NULL AS timeframe, day AS start, layer, rows",
};
const NAMING = `SELECT kind, ticker, timeframe, start::float8, layer, naming.rows, b.undone_at IS NOT NULL AS undone FROM (${NAMING_TABLES.map(
  (table) => `SELECT ${COLUMNS[table]} FROM ${table} WHERE content = $1`,
).join(" UNION ALL ")}) AS naming LEFT JOIN backfill b ON b.number = naming.layer ORDER BY kind, ticker, timeframe, start, layer`;

async function namingRows(client: Queries, id: string): Promise<NamingRow[]> {
  return (await client.query<NamingRow>(NAMING, [id])).rows;
}

/** @throws SegmentMissing, SegmentDamaged */
async function requireRight({ pool, segments }: Database, id: string): Promise<void> {
  const naming = await namingRows(pool, id);
  const bytes = (await segments.bytes(pool, [id])).get(id) as Uint8Array;
  const isTicks = naming.some(({ kind }) => kind === "ticks");
  const { time } = isTicks ? await decodeTicks(bytes) : await decodeStatements(bytes);
  const wrong = naming.find(({ rows }) => rows !== null && rows !== time.length);
  if (wrong !== undefined) throw new SegmentDamaged(`segment ${id} has ${time.length} rows, and the database says ${wrong.rows}`);
}

/** What is wrong with a file that is read; undefined where nothing is, or no row names it any more. */
async function problemOf(
  { pool }: Database,
  id: string,
  reading: Promise<void>,
): Promise<Omit<DamagedFile, "mended"> | undefined> {
  try {
    await reading;
    return;
  } catch (error) {
    if (!isHistoryDamaged(error)) throw error;
    const rows = await namingRows(pool, id);
    return rows.length === 0 ? undefined : { id, problem: (error as Error).message, rows };
  }
}

/** Folds the layers of a period again, unless somebody is changing them. */
async function showAgain({ pool, segments }: Database, { ticker, timeframe, start }: NamingRow): Promise<void> {
  await inTransaction(pool, async (client) => {
    const isBusy = (await lockForChange(client, ticker, "transaction")) !== null;
    if (!isBusy) await show(client, segments, { ticker, timeframe: timeframe as Timeframe }, start);
  });
}

/** Makes a file again that has only what other files show. @returns whether it is right now */
async function mend(db: Database, { id, rows }: Omit<DamagedFile, "mended">): Promise<boolean> {
  if (rows.some(({ kind }) => kind !== "visible")) return false;
  try {
    for (const row of rows) await showAgain(db, row);
  } catch (error) {
    if (isHistoryDamaged(error)) return false;
    throw error;
  }
  return (await problemOf(db, id, requireRight(db, id))) === undefined;
}

/**
 * The files of history that rows name, some at a time, in the order of their names.
 * @param ticker only those of one; null for all
 */
export async function* namedFiles(
  client: Queries,
  ticker: string | null,
  pageCount = PAGE_COUNT,
): AsyncGenerator<string[], void> {
  for (let after = ""; ; ) {
    const { rows } = await client.query<{ content: string }>(NAMED, [after, ticker, pageCount]);
    const ids = rows.map(({ content }) => content);
    yield ids;
    if (ids.length < pageCount) return;
    after = ids.at(-1) as string;
  }
}

/**
 * Reads every file of history that a row names. What shows of several layers is made again from their files.
 * @param ticker only those of one; null for all
 * @param found gets each file that is damaged or missing
 * @param read throws SegmentMissing or SegmentDamaged for what is not right; by default past what is in memory, with its rows
 * @returns how many were read
 * @throws SegmentStoreAway; pg's error; the reason of the signal
 */
export async function checkHistory(
  db: Database,
  ticker: string | null,
  signal: AbortSignal,
  found: (file: DamagedFile) => Promise<void>,
  read: (id: string) => Promise<void> = (id) => requireRight(db, id),
): Promise<number> {
  let count = 0;
  for await (const ids of namedFiles(db.pool, ticker)) {
    const damaged: Omit<DamagedFile, "mended">[] = [];
    await forEachSegment(ids, async (id) => {
      signal.throwIfAborted();
      const file = await problemOf(db, id, read(id));
      if (file !== undefined) damaged.push(file);
    });
    for (const file of damaged.sort((a, b) => (a.id < b.id ? -1 : 1))) await found({ ...file, mended: await mend(db, file) });
    count += ids.length;
  }
  return count;
}
