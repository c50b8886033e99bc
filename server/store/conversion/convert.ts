import type pg from "pg";
import { TIMEFRAMES, type Timeframe } from "#lib/contract/primitives";
import { COLUMN_NAMES, cutColumns, type KlineColumns, pickRows, rowFrom } from "#lib/domain/columns";
import { FEED_LAYER } from "#lib/domain/fold";
import { type Period, periodOf } from "#lib/domain/period";
import { createAlignment } from "#lib/domain/timeframe";
import { DAY_S, SECOND_MS } from "#lib/units";
import { longQuery } from "#server/store/database/connection";
import type { Database } from "#server/store/database/db";
import { restate } from "#server/store/history/layers";
import { lockTicker } from "#server/store/history/lock";
import { createReader } from "#server/store/history/reader";
import { STORED_LATER } from "#server/store/history/transaction";
import { createSegments, type Segments } from "#server/store/segments/segments";
import { type OldRows, readMinutes, readRows, replacingImports } from "./convert-rows";
import { type Imports, restateLonger, restateMinutes } from "./convert-statements";

/** Beyond any stored time: the last year that could be stored is 2199. */
const TIME_MAX_S = Date.UTC(2200, 0) / SECOND_MS;
/** How long before the last quote of a ticker the feed may still write minutes. */
const FEED_LATE_MAX_S = DAY_S;
/** Of the timeframes whose klines a retention keeps. */
const KEPT: readonly Timeframe[] = ["D1", "W1", "MN1"];
/** For the check, which must read what was stored: too small to hold a month. */
const CHECK_CACHE_MB = 1;

/** Old statistics must not lead away from the key. */
const PLAN = "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off";
const IS_WAITING = "SELECT FROM history_unconverted WHERE ticker = $1";
const FLIP = "DELETE FROM history_unconverted WHERE ticker = $1";
const FORGET = ["history_layer", "history_visible", "history_derived"].map((table) => `DELETE FROM ${table} WHERE ticker = $1`);
const IMPORTS = `SELECT number, extract(epoch FROM started_at)::float8 * 1000 AS known, by_operator FROM backfill WHERE venue = 'live'`;
const LAST_QUOTE = `SELECT coalesce(max(time_msc)::float8 / 1000, extract(epoch FROM clock_timestamp())::float8) AS time
  FROM last_quote WHERE venue = 'live' AND ticker = $1`;
const HAS_FEED = `SELECT FROM kline
  WHERE venue = 'live' AND ticker = $1 AND timeframe = 'M1' AND time >= $2 AND time < $3 AND batch IS NULL LIMIT 1`;

const nextOf = (sources: readonly string[], order: "ASC" | "DESC") =>
  `SELECT ${order === "ASC" ? "least" : "greatest"}(${sources.map((source) => `(${source} ORDER BY time ${order} LIMIT 1)`).join(", ")})::float8 AS time`;
const MINUTES = [
  "SELECT time FROM kline WHERE venue = 'live' AND ticker = $1 AND timeframe = 'M1' AND time >= $2",
  "SELECT time FROM struck_minute WHERE ticker = $1 AND time >= $2",
];
const NEXT_MINUTE = nextOf(MINUTES, "ASC");
const LAST_MINUTE = nextOf(MINUTES, "DESC");
const NEXT_IMPORTED = nextOf(
  ["SELECT time FROM kline_imported WHERE venue = 'live' AND ticker = $1 AND timeframe = $3 AND time >= $2"],
  "ASC",
);
/** LATERAL with a limit, so that each interval is one look-up in the key. */
const HAVE_MINUTES = `SELECT asked.time::float8 AS time FROM unnest($2::bigint[], $3::bigint[]) AS asked (time, until),
  LATERAL (SELECT FROM kline WHERE venue = 'live' AND ticker = $1 AND timeframe = 'M1'
    AND kline.time >= asked.time AND kline.time < asked.until LIMIT 1) AS found`;

/** The layers of a ticker return other klines than its rows. It keeps its rows. */
export class ConversionDiffers extends Error {
  override readonly name = "ConversionDiffers";
}

/** What was moved. */
export interface Converted {
  /** Klines that showed before, and that show now: minutes, and longer ones that are not computed from minutes. */
  readonly rowsIn: number;
  readonly rowsOut: number;
  /** What imports and the feed said of them, all versions. */
  readonly statements: number;
  readonly months: number;
  /** Corrections of single minutes that a later import had written over; an undo of that import does not bring them back. */
  readonly leftOut: number;
}

/** How far the conversion of a ticker is. */
interface ConversionProgress extends Converted {
  /** 0 to 1. */
  readonly share: number;
}

interface ConvertOptions {
  /** Ends it before the next month. */
  readonly signal: AbortSignal;
  /** Waited for after each month, outside of a transaction. */
  onProgress(progress: ConversionProgress): unknown;
}

type Counts = Omit<Converted, "months">;

const instantOf = (time: number) => new Date(time * SECOND_MS).toISOString();

/** The time of the first row in which two series differ; undefined when they are equal. */
function firstDifference(a: KlineColumns, b: KlineColumns): number | undefined {
  for (let row = 0; row < Math.max(a.time.length, b.time.length); row += 1)
    for (const name of COLUMN_NAMES) {
      const [left, right] = [a[name][row], b[name][row]];
      if (left !== right && !(Number.isNaN(left) && Number.isNaN(right)))
        return Math.min(a.time[row] ?? TIME_MAX_S, b.time[row] ?? TIME_MAX_S);
    }
  return undefined;
}

const cutRow = (columns: KlineColumns, row: number) => cutColumns(columns, columns.time[row] ?? 0, (columns.time[row] ?? 0) + 1);

function requireEqual(ticker: string, timeframe: Timeframe, before: KlineColumns, after: KlineColumns): void {
  const time = firstDifference(before, after);
  if (time !== undefined)
    throw new ConversionDiffers(`${ticker} ${timeframe} does not read from layers as from rows, from ${instantOf(time)} on`);
}

function pick(columns: OldRows, chosen: (time: number, row: number) => boolean): OldRows {
  return pickRows(
    columns,
    [...columns.time.keys()].filter((row) => chosen(columns.time[row] as number, row)),
  );
}

async function timeOf(client: pg.ClientBase, text: string, values: readonly unknown[]): Promise<number | null> {
  const { rows } = await client.query<{ time: number | null }>(longQuery({ text, values: [...values] }));
  return rows[0]?.time ?? null;
}

async function transaction<Result>(client: pg.ClientBase, begin: string, work: () => Promise<Result>): Promise<Result> {
  await client.query(`${begin}; ${PLAN}`);
  try {
    const result = await work();
    await client.query("COMMIT");
    return result;
  } catch (error) {
    // A broken connection has no transaction any more.
    await client.query("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

/** Moves periods of one ticker, each in the caller's transaction. */
function createMover(client: pg.ClientBase, segments: Segments, ticker: string, imports: Imports, replacing: number[]) {
  const alignment = createAlignment();
  const check = createReader(createSegments(segments.store, CHECK_CACHE_MB));
  const whole = (timeframe: Timeframe, { from, to }: Period) =>
    check.read(client, { ticker, timeframe, from, to: Math.min(to, TIME_MAX_S), limit: Number.MAX_SAFE_INTEGER, end: "oldest" });

  async function timesWithMinutes(timeframe: Timeframe, times: Float64Array): Promise<Set<number>> {
    if (times.length === 0) return new Set();
    const ends = Array.from(times, (time) => {
      const nextYear = Date.UTC(new Date(time * SECOND_MS).getUTCFullYear() + 1, 0) / SECOND_MS;
      return Math.min(nextYear, alignment.nextOpenTime(timeframe, time));
    });
    const query = longQuery({ text: HAVE_MINUTES, values: [ticker, [...times], ends] });
    return new Set((await client.query<{ time: number }>(query)).rows.map(({ time }) => time));
  }

  /**
   * Computed klines whose minutes are gone. Years are dropped as a whole, so what is left of an interval may be its minutes of the next
   * year, which make another kline.
   */
  async function withoutMinutes(timeframe: Timeframe, period: Period, shown: OldRows): Promise<OldRows> {
    const computed = pick(shown, (_, row) => KEPT.includes(timeframe) && shown.layer[row] === FEED_LAYER);
    const covered = await timesWithMinutes(timeframe, computed.time);
    const bare = pick(computed, (time) => !covered.has(time));
    if (bare.time.length === 0) return bare;
    const { columns } = await whole(timeframe, period);
    const isMade = (time: number, row: number) => {
      const made = rowFrom(columns.time, time);
      return firstDifference(cutRow(bare, row), cutRow(columns, made)) === undefined;
    };
    return pick(bare, (time, row) => !isMade(time, row));
  }

  return {
    async minutes(period: Period): Promise<Counts> {
      const minutes = await readMinutes(client, ticker, period, replacing);
      const { parts, leftOut } = restateMinutes(minutes, imports);
      await restate(client, segments, { ticker, timeframe: "M1" }, period, parts);
      const { columns } = await whole("M1", period);
      requireEqual(ticker, "M1", minutes.rows, columns);
      const statements = parts.reduce((sum, { time }) => sum + time.length, 0);
      return { rowsIn: minutes.rows.time.length, rowsOut: columns.time.length, statements, leftOut };
    },
    /**
     * Klines above M1 that are not computed from minutes: those that were imported as such, and those whose minutes a retention
     * dropped. @param settledS the feed may still write minutes of intervals that end later
     */
    async longer(timeframe: Timeframe, period: Period, settledS: number): Promise<Counts> {
      const key = { ticker, timeframe };
      const said = await readRows(client, "kline_imported", key, period);
      const shown = await readRows(client, "kline", key, period);
      const kept = await withoutMinutes(timeframe, period, shown);
      const parts = restateLonger(said, kept, imports);
      if (parts.length === 0) return { rowsIn: 0, rowsOut: 0, statements: 0, leftOut: 0 };
      await restate(client, segments, key, period, parts);
      const { columns, imported } = await whole(timeframe, period);
      const isSettled = (time: number) => alignment.nextOpenTime(timeframe, time) <= settledS;
      const keptTimes = new Set(kept.time);
      const old = pick(shown, (time, row) => isSettled(time) && (keptTimes.has(time) || shown.layer[row] !== FEED_LAYER));
      const oldTimes = new Set(old.time);
      // An interrupted import may have left imported klines where it stored minutes.
      const replaced = await timesWithMinutes(timeframe, old.time);
      const own = { ...columns, layer: new Int32Array(columns.time.length) };
      const now = pick(own, (time) => isSettled(time) && (imported.has(time) || (oldTimes.has(time) && !replaced.has(time))));
      const before = pick(old, (time) => !replaced.has(time));
      requireEqual(ticker, timeframe, before, now);
      const statements = parts.reduce((sum, { time }) => sum + time.length, 0);
      return { rowsIn: before.time.length, rowsOut: now.time.length, statements, leftOut: 0 };
    },
  };
}

function total(counts: Iterable<Counts>): Counts {
  const sum = { rowsIn: 0, rowsOut: 0, statements: 0, leftOut: 0 };
  for (const { rowsIn, rowsOut, statements, leftOut } of counts) {
    sum.rowsIn += rowsIn;
    sum.rowsOut += rowsOut;
    sum.statements += statements;
    sum.leftOut += leftOut;
  }
  return sum;
}

async function readImports(client: pg.ClientBase): Promise<Imports> {
  const { rows } = await client.query<{ number: number; known: number; by_operator: boolean }>(IMPORTS);
  return new Map(rows.map(({ number, known, by_operator }) => [number, { knownMs: Math.round(known), byOperator: by_operator }]));
}

async function convertLocked(
  client: pg.ClientBase,
  segments: Segments,
  ticker: string,
  { signal, onProgress }: ConvertOptions,
): Promise<Converted> {
  const mover = createMover(client, segments, ticker, await readImports(client), await replacingImports(client, ticker));
  // What an attempt before this one left, which may have been changed as rows since.
  await transaction(client, STORED_LATER, async () => {
    for (const text of FORGET) await client.query(text, [ticker]);
  });
  const sinceS = ((await timeOf(client, LAST_QUOTE, [ticker])) ?? 0) - FEED_LATE_MAX_S;
  const [first, last] = [await timeOf(client, NEXT_MINUTE, [ticker, 0]), await timeOf(client, LAST_MINUTE, [ticker, 0])];
  const months = new Map<number, Counts>();
  const longer: Counts[] = [];
  const sum = () => ({ ...total([...months.values(), ...longer]), months: months.size });
  for (let next = first; next !== null && first !== null && last !== null; ) {
    signal.throwIfAborted();
    const period = periodOf("M1", next);
    months.set(period.from, await transaction(client, STORED_LATER, () => mover.minutes(period)));
    await onProgress({ ...sum(), share: Math.min(1, (period.to - first) / (last + 1 - first)) });
    next = await timeOf(client, NEXT_MINUTE, [ticker, period.to]);
  }
  for (const timeframe of TIMEFRAMES.filter((known) => known !== "M1")) {
    let next = KEPT.includes(timeframe) ? 0 : await timeOf(client, NEXT_IMPORTED, [ticker, 0, timeframe]);
    while (next !== null) {
      signal.throwIfAborted();
      const period = periodOf(timeframe, next);
      longer.push(await transaction(client, STORED_LATER, () => mover.longer(timeframe, period, sinceS)));
      await onProgress({ ...sum(), share: 1 });
      next = KEPT.includes(timeframe) ? null : await timeOf(client, NEXT_IMPORTED, [ticker, period.to, timeframe]);
    }
  }
  signal.throwIfAborted();
  await transaction(client, "BEGIN", async () => {
    // First: the recorder holds this row while it writes, and waits here from now on.
    const { rowCount } = await client.query(FLIP, [ticker]);
    if (rowCount !== 1) throw new Error(`${ticker} was converted by another process, although its history was locked`);
    for (let next = await timeOf(client, NEXT_MINUTE, [ticker, periodOf("M1", sinceS).from]); next !== null; ) {
      const period = periodOf("M1", next);
      const { rowCount: written } = await client.query(HAS_FEED, [ticker, period.from, period.to]);
      if (written !== 0) months.set(period.from, await mover.minutes(period));
      next = await timeOf(client, NEXT_MINUTE, [ticker, period.to]);
    }
  });
  return sum();
}

/**
 * Moves the stored klines of a ticker of the live venue from rows to layers, month by month, while they are read and written as rows;
 * then, in one transaction, what the feed has written since, and from then on they are layers. It holds the lock of the ticker, so imports
 * and undos wait or are refused. The rows stay. An attempt that ends early changes nothing for readers; the next one starts
 * over, because the rows may have changed since.
 * @returns null while another command changes its history, or when it is converted already
 * @throws ConversionDiffers; the reason of `signal`; pg's error when the database is unavailable
 */
export async function convertTicker(
  db: Pick<Database, "client" | "segments">,
  ticker: string,
  options: ConvertOptions,
): Promise<Converted | null> {
  const client = db.client();
  // A connection that breaks is reported by the next query, too.
  client.on("error", () => undefined);
  try {
    await client.connect();
    if (!(await lockTicker(client, ticker, "session"))) return null;
    const { rowCount } = await client.query(IS_WAITING, [ticker]);
    return rowCount === 0 ? null : await convertLocked(client, db.segments, ticker, options);
  } finally {
    await client.end().catch(() => undefined);
  }
}
