import pg from "pg";
import type { Timeframe } from "#lib/contract/primitives";
import { COLUMN_NAMES, emptyColumns, type KlineColumns, NO_SIDES } from "#lib/domain/columns";
import { FEED_LAYER } from "#lib/domain/fold";
import type { Period } from "#lib/domain/period";
import { longQuery } from "#server/store/database/connection";
import { VALUES } from "#server/store/history/kline-sql";

/** "PGCOPY\n\377\r\n\0", no flags, no extension. */
const COPY_HEADER_BYTES = 19;
const COPY_COUNT_BYTES = 2;
const COPY_LENGTH_BYTES = 4;
const INT32_BYTES = 4;
const TWO_TO_32 = 4_294_967_296;
/** The columns of a row after its time and its import. */
const VALUES_COUNT = COLUMN_NAMES.length - 1;

/** Rows of one series as an earlier release stored them, with the import that each belongs to; 0 for the feed. */
export interface OldRows extends KlineColumns {
  readonly layer: Int32Array;
}

/** A version of a minute that an import replaced: `row` of the columns. */
interface OldVersion {
  /** The import that replaced it. */
  readonly by: number;
  /** Whose it was. */
  readonly layer: number;
  readonly row: number;
}

/** What is stored of the minutes of a period. */
export interface OldMinutes {
  readonly rows: OldRows;
  /** By time. */
  readonly versions: ReadonlyMap<number, readonly OldVersion[]>;
  readonly replaced: KlineColumns;
  /** The last import that took out a minute, by time. */
  readonly struck: ReadonlyMap<number, number>;
}

const literal = pg.escapeLiteral;
const SELECTED = `time, batch, ${VALUES.join(", ")}`;
const PREVIOUS = `SELECT time::float8, batch, coalesce(owner, ${FEED_LAYER}), ${VALUES.join(", ")} FROM kline_previous
  WHERE batch = ANY($1::integer[]) AND ticker = $2 AND time >= $3 AND time < $4`;
const STRUCK = `SELECT time::float8, max(batch) FROM struck_minute WHERE ticker = $1 AND time >= $2 AND time < $3 GROUP BY time`;
/** One look-up in the key for each import, instead of a scan of all that was ever replaced. */
const REPLACING = `WITH RECURSIVE found AS (
    (SELECT batch FROM kline_previous ORDER BY batch LIMIT 1)
    UNION ALL
    SELECT (SELECT p.batch FROM kline_previous p WHERE p.batch > found.batch ORDER BY p.batch LIMIT 1)
    FROM found WHERE found.batch IS NOT NULL
  ) SELECT batch FROM found WHERE batch IS NOT NULL
    AND EXISTS (SELECT FROM kline_previous p WHERE p.batch = found.batch AND p.ticker = $1)`;

/** A query whose rows go to a reader as they come, in PostgreSQL's binary COPY format. It takes no parameters. */
class CopyOut extends pg.Query {
  /** The first error of the reader. */
  problem: unknown;

  constructor(
    select: string,
    readonly read: (message: Uint8Array) => void,
  ) {
    super(`COPY (${select}) TO STDOUT (FORMAT binary)`);
  }

  /** Called by the driver, where an error would end the process. */
  handleCopyData({ chunk }: { readonly chunk: Uint8Array }): void {
    try {
      this.read(chunk);
    } catch (error) {
      this.problem ??= error;
    }
  }
}

/** Runs it. @throws pg's error, and the first of the reader */
function copyOut(client: pg.ClientBase, copy: CopyOut): Promise<void> {
  // The types of the driver lack its own queries with a callback.
  const query = client.query as unknown as (copy: CopyOut, ended: (error?: Error | null) => void) => void;
  return new Promise((resolve, reject) => {
    query.call(client, copy, (error) => {
      const problem = error ?? copy.problem;
      if (problem === undefined) resolve();
      else reject(problem);
    });
  });
}

/** Rows of eight columns after a time, with room for more. */
function createColumns() {
  let columns = emptyColumns(1_024);
  let layer = new Int32Array(1_024);
  let rows = 0;
  function grow(): void {
    const more = emptyColumns(2 * layer.length);
    for (const name of COLUMN_NAMES) more[name].set(columns[name]);
    const layers = new Int32Array(2 * layer.length);
    layers.set(layer);
    [columns, layer] = [more, layers];
  }
  return {
    /** Adds a row. @returns where its values go */
    add(time: number, from: number): number {
      if (rows === layer.length) grow();
      columns.time[rows] = time;
      layer[rows] = from;
      rows += 1;
      return rows - 1;
    },
    set(row: number, value: number, number: number): void {
      const name = COLUMN_NAMES[value + 1];
      if (name !== undefined) columns[name][row] = number;
    },
    done(): OldRows {
      const cut = { ...NO_SIDES, ...Object.fromEntries(COLUMN_NAMES.map((name) => [name, columns[name].subarray(0, rows)])) };
      return { ...(cut as unknown as KlineColumns), layer: layer.subarray(0, rows) };
    },
  };
}

/** Reads rows of SELECTED as binary numbers, which neither side prints or parses. */
async function copyRows(client: pg.ClientBase, select: string): Promise<OldRows> {
  const columns = createColumns();
  let start = COPY_HEADER_BYTES;
  function read({ buffer, byteOffset, byteLength }: Uint8Array): void {
    const view = new DataView(buffer, byteOffset, byteLength);
    let at = start + COPY_COUNT_BYTES;
    start = 0;
    // The end of the data: a count of -1 and no fields.
    if (at >= byteLength) return;
    const time = view.getInt32(at + COPY_LENGTH_BYTES) * TWO_TO_32 + view.getUint32(at + COPY_LENGTH_BYTES + INT32_BYTES);
    at += COPY_LENGTH_BYTES + 8;
    const isFeed = view.getInt32(at) === -1;
    at += COPY_LENGTH_BYTES;
    const row = columns.add(time, isFeed ? FEED_LAYER : view.getInt32(at));
    if (!isFeed) at += INT32_BYTES;
    for (let value = 0; value < VALUES_COUNT; value += 1) {
      const isKnown = view.getInt32(at) !== -1;
      at += COPY_LENGTH_BYTES;
      columns.set(row, value, isKnown ? view.getFloat64(at) : Number.NaN);
      if (isKnown) at += 8;
    }
  }
  await copyOut(client, longQuery(new CopyOut(select, read)));
  return columns.done();
}

/** What a table holds of a series in a period, ordered by time and import. */
export function readRows(
  client: pg.ClientBase,
  table: "kline" | "kline_imported",
  { ticker, timeframe }: { readonly ticker: string; readonly timeframe: Timeframe },
  { from, to }: Period,
): Promise<OldRows> {
  return copyRows(
    client,
    `SELECT ${SELECTED} FROM ${table} WHERE venue = 'live' AND ticker = ${literal(ticker)} AND timeframe = ${literal(timeframe)}
      AND time >= ${from} AND time < ${to} ORDER BY time, batch`,
  );
}

/** The imports that replaced minutes of a ticker. */
export async function replacingImports(client: pg.ClientBase, ticker: string): Promise<number[]> {
  const { rows } = await client.query<{ batch: number }>(longQuery({ text: REPLACING, values: [ticker] }));
  return rows.map(({ batch }) => batch);
}

type PreviousRow = [time: number, by: number, layer: number, ...values: (number | null)[]];

/** @param replacing imports that replaced minutes of the ticker */
export async function readMinutes(
  client: pg.ClientBase,
  ticker: string,
  { from, to }: Period,
  replacing: readonly number[],
): Promise<OldMinutes> {
  const rows = await readRows(client, "kline", { ticker, timeframe: "M1" }, { from, to });
  const versions = new Map<number, OldVersion[]>();
  const replaced = createColumns();
  if (replacing.length > 0) {
    const values = [replacing, ticker, from, to];
    const query = longQuery({ text: PREVIOUS, values, rowMode: "array" as const });
    for (const [time, by, layer, ...numbers] of (await client.query<PreviousRow>(query)).rows) {
      const row = replaced.add(time, layer);
      for (const [value, number] of numbers.entries()) replaced.set(row, value, number ?? Number.NaN);
      const known = versions.get(time);
      if (known === undefined) versions.set(time, [{ by, layer, row }]);
      else known.push({ by, layer, row });
    }
  }
  const struck = await client.query<[number, number]>({
    text: STRUCK,
    values: [ticker, from, to],
    rowMode: "array",
  });
  return { rows, versions, replaced: replaced.done(), struck: new Map(struck.rows) };
}
