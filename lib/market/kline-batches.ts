import type pg from "pg";
import { longQuery } from "#lib/db";
import type { Kline } from "#lib/domain/kline";
import { distinct, rangesOf } from "./kline-rows";
import { anyStored, copyInto, listOf, mergeIncoming, VALUES } from "./kline-sql";
import { linkToStruck, restoreStruck } from "./struck-minutes";

/** The venue that takes imports; kline_previous holds rows of no other. */
const VENUE = "live";

/** What happened, or in a trial would happen, to the klines of an import. Each kline counts once. */
export interface BatchCounts {
  /** Not stored before. */
  stored: number;
  /** Stored before, with the same values. */
  alreadyThere: number;
  /** Stored before, with other values. */
  overwritten: number;
  /** Repeated in the import, with the same values. */
  repeated: number;
  /** Repeated in the import with other values: the last one counts. */
  conflicting: number;
  /** Longer than a minute, and kept, but not shown: minutes of its interval are stored. */
  covered: number;
}

/** No klines. */
export const NO_KLINES: Readonly<BatchCounts> = {
  stored: 0,
  alreadyThere: 0,
  overwritten: 0,
  repeated: 0,
  conflicting: 0,
  covered: 0,
};

/** The sum of two counts. */
export function addCounts(a: BatchCounts, b: BatchCounts): BatchCounts {
  return {
    stored: a.stored + b.stored,
    alreadyThere: a.alreadyThere + b.alreadyThere,
    overwritten: a.overwritten + b.overwritten,
    repeated: a.repeated + b.repeated,
    conflicting: a.conflicting + b.conflicting,
    covered: a.covered + b.covered,
  };
}

/** A text that two klines share if they have the same values. */
export const valuesOf = ({ open, high, low, close, tick_volume, real_volume, spread }: Kline) =>
  [open, high, low, close, tick_volume, real_volume, spread].join();

/** Counts the klines of one series that a batch holds more than once. */
export function countRepeats(klines: readonly Kline[]): Pick<BatchCounts, "repeated" | "conflicting"> {
  const seen = new Map<number, string>();
  const counts = { repeated: 0, conflicting: 0 };
  for (const kline of klines) {
    const values = valuesOf(kline);
    const before = seen.get(kline.time);
    if (before !== undefined) counts[before === values ? "repeated" : "conflicting"] += 1;
    seen.set(kline.time, values);
  }
  return counts;
}

/**
 * Keeps what a batch is about to replace, and counts. The range lets the planner skip other years and tickers. A row that the
 * batch itself wrote is a repetition in the import, so there is nothing to keep.
 */
const KEEP_PREVIOUS = `WITH met AS MATERIALIZED (
    SELECT k.ticker, k.time, ${listOf("k", VALUES)}, k.batch,
      (${listOf("k", VALUES)}) IS DISTINCT FROM (${listOf("i", VALUES)}) AS differs
    FROM incoming i JOIN kline k ON k.time = i.time
    WHERE k.venue = '${VENUE}' AND k.ticker = $2 AND k.timeframe = 'M1' AND k.time BETWEEN $3 AND $4
  ), kept AS (
    INSERT INTO kline_previous (batch, ticker, time, ${VALUES.join(", ")}, owner)
    SELECT $1, ticker, time, ${VALUES.join(", ")}, batch FROM met WHERE batch IS DISTINCT FROM $1
  )
  SELECT count(*) FILTER (WHERE batch IS DISTINCT FROM $1 AND NOT differs)::float8 AS "alreadyThere",
    count(*) FILTER (WHERE batch IS DISTINCT FROM $1 AND differs)::float8 AS overwritten,
    count(*) FILTER (WHERE batch = $1 AND NOT differs)::float8 AS repeated,
    count(*) FILTER (WHERE batch = $1 AND differs)::float8 AS conflicting
  FROM met`;

const ADD_TO_SERIES = `INSERT INTO backfill_series AS s (batch, ticker, first, last, stored, already_there, overwritten)
  VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT (batch, ticker) DO UPDATE SET first = least(s.first, $3), last = greatest(s.last, $4),
    stored = s.stored + $5, already_there = s.already_there + $6, overwritten = s.overwritten + $7`;

type Compared = Omit<BatchCounts, "stored" | "covered">;

/** The counts of klines that were compared with stored ones; klines that are neither stored nor repeated are new. */
function counted(klines: readonly Kline[], repeats: ReturnType<typeof countRepeats>, met: Compared): BatchCounts {
  const known = met.alreadyThere + met.overwritten + met.repeated + met.conflicting;
  return {
    stored: klines.length - repeats.repeated - repeats.conflicting - known,
    alreadyThere: met.alreadyThere,
    overwritten: met.overwritten,
    repeated: met.repeated + repeats.repeated,
    conflicting: met.conflicting + repeats.conflicting,
    covered: 0,
  };
}

/** Without statistics the planner believes a series to be one row, and would compare every row with every other. */
async function planForManyRows(client: pg.ClientBase): Promise<void> {
  await client.query("SET LOCAL enable_nestloop = off");
}

async function stage(client: pg.ClientBase, klines: readonly Kline[], batch: number | null): Promise<void> {
  await planForManyRows(client);
  await client.query("CREATE TEMPORARY TABLE incoming (LIKE kline) ON COMMIT DROP");
  await copyInto(client, "incoming", VENUE, distinct(klines), batch);
}

/**
 * Stores M1 klines of one ticker as a part of batch `batch`, in the caller's transaction; the last write of a key wins. What
 * they replace is kept, so that the batch can be undone. The partitions must exist.
 * @param turn resolves when earlier parts of the batch are committed. Until then nothing is written that they write, too
 */
export async function storeBatch(
  client: pg.ClientBase,
  batch: number,
  klines: readonly Kline[],
  turn?: Promise<unknown>,
): Promise<BatchCounts> {
  const [range] = rangesOf(klines);
  if (range === undefined) return { ...NO_KLINES };
  const { ticker, first, last } = range;
  let counts: BatchCounts = { ...NO_KLINES, stored: klines.length };
  if (range.ascending && !(await anyStored(client, VENUE, [range]))) await copyInto(client, "kline", VENUE, klines, batch);
  else {
    await stage(client, klines, batch);
    const { rows } = await client.query<Compared>(longQuery({ text: KEEP_PREVIOUS, values: [batch, ticker, first, last] }));
    await client.query(longQuery({ text: mergeIncoming("kline") }));
    counts = counted(klines, countRepeats(klines), rows[0] as Compared);
  }
  await linkToStruck(client, batch, range);
  const { stored, alreadyThere, overwritten } = counts;
  await turn;
  await client.query(ADD_TO_SERIES, [batch, ticker, first, last, stored, alreadyThere, overwritten]);
  return counts;
}

/** A table of this connection that holds the klines of a trial. */
const PLANNED = `CREATE TEMPORARY TABLE IF NOT EXISTS planned
  (LIKE kline, PRIMARY KEY (venue, ticker, timeframe, time))`;
const COMPARE = `WITH met AS (
    SELECT p.time IS NOT NULL AS mine,
      CASE WHEN p.time IS NULL THEN (${listOf("k", VALUES)}) IS DISTINCT FROM (${listOf("i", VALUES)})
        ELSE (${listOf("p", VALUES)}) IS DISTINCT FROM (${listOf("i", VALUES)}) END AS differs
    FROM incoming i
      LEFT JOIN (SELECT * FROM planned WHERE ticker = $1 AND time BETWEEN $2 AND $3) p ON p.time = i.time
      LEFT JOIN (SELECT * FROM kline WHERE venue = '${VENUE}' AND ticker = $1 AND timeframe = 'M1'
        AND time BETWEEN $2 AND $3) k ON k.time = i.time
    WHERE p.time IS NOT NULL OR k.time IS NOT NULL
  )
  SELECT count(*) FILTER (WHERE NOT mine AND NOT differs)::float8 AS "alreadyThere",
    count(*) FILTER (WHERE NOT mine AND differs)::float8 AS overwritten,
    count(*) FILTER (WHERE mine AND NOT differs)::float8 AS repeated,
    count(*) FILTER (WHERE mine AND differs)::float8 AS conflicting
  FROM met`;

/**
 * Counts what storeBatch would do with M1 klines of one ticker. They are kept in a temporary table of this connection, so that
 * klines of one trial are compared with each other too.
 */
export async function tryBatch(client: pg.ClientBase, klines: readonly Kline[]): Promise<BatchCounts> {
  const [range] = rangesOf(klines);
  if (range === undefined) return { ...NO_KLINES };
  const { ticker, first, last } = range;
  await client.query("BEGIN");
  await client.query(PLANNED);
  await stage(client, klines, null);
  const { rows } = await client.query<Compared>(longQuery({ text: COMPARE, values: [ticker, first, last] }));
  await client.query(longQuery({ text: mergeIncoming("planned") }));
  await client.query("COMMIT");
  return counted(klines, countRepeats(klines), rows[0] as Compared);
}

/** The versions after those of the batch take over its predecessors, or become the first of their key. */
const SPLICE = [
  `UPDATE kline_previous later SET (${VALUES.join(", ")}, owner) = (${listOf("mine", VALUES)}, mine.owner)
    FROM kline_previous mine WHERE later.owner = $1 AND mine.batch = $1 AND mine.ticker = later.ticker AND mine.time = later.time`,
  // An owner is still the batch only where the batch had no predecessor.
  "DELETE FROM kline_previous WHERE owner = $1",
];

/** Where the batch has the newest version, its predecessor is restored; a kline without one, or that was struck out, is deleted. */
const RESTORE = [
  `UPDATE kline k SET (${VALUES.join(", ")}, batch) = (${listOf("mine", VALUES)}, mine.owner)
    FROM kline_previous mine WHERE mine.batch = $1 AND mine.ticker = $2 AND mine.time = k.time AND mine.open IS NOT NULL AND k.batch = $1
      AND k.venue = '${VENUE}' AND k.ticker = $2 AND k.timeframe = 'M1' AND k.time BETWEEN $3 AND $4`,
  `DELETE FROM kline WHERE batch = $1
    AND venue = '${VENUE}' AND ticker = $2 AND timeframe = 'M1' AND time BETWEEN $3 AND $4`,
];

/** A range of M1 klines that a batch wrote: open times in Unix seconds, both included. */
export interface BatchRange {
  readonly ticker: string;
  readonly first: number;
  readonly last: number;
}

/**
 * Removes the M1 klines of a batch in the caller's transaction. They are then what they would be if the batch had never been
 * imported, whatever was stored since.
 */
export async function removeBatch(client: pg.ClientBase, batch: number, ranges: readonly BatchRange[]): Promise<void> {
  await planForManyRows(client);
  for (const text of SPLICE) await client.query(longQuery({ text, values: [batch] }));
  for (const { ticker, first, last } of ranges)
    for (const text of RESTORE) await client.query(longQuery({ text, values: [batch, ticker, first, last] }));
  await restoreStruck(client, batch);
  await client.query(longQuery({ text: "DELETE FROM kline_previous WHERE batch = $1", values: [batch] }));
}
