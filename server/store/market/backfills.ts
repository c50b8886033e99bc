import type { Clock } from "#lib/clock";
import {
  BACKFILL_SILENT_S,
  BACKFILL_STATES,
  BACKFILLS_LISTED_COUNT,
  BACKFILLS_MAX_COUNT,
  type BackfillReport,
  type BackfillSeriesReport,
  type BackfillState,
} from "#lib/contract/portal-admin";
import { TIMEFRAMES, VENUES, type Venue } from "#lib/contract/primitives";
import { TIMEFRAMES_ORDER } from "#lib/domain/timeframe";
import type { Database } from "#server/store/database/db";
import { lockBatch } from "#server/store/history/lock";
import { ticksOfLayers } from "#server/store/history/tick-days";

/** Longest path or problem that is stored; longer ones keep their beginning and end, which say most. */
const TEXT_MAX_CHARACTERS = 500;

/** The progress of a backfill, as its own process reports it. */
export interface BackfillProgress {
  readonly state: Exclude<BackfillState, "lost">;
  readonly files: number;
  readonly filesDone: number;
  readonly filesFailed: number;
  readonly file: string;
  readonly step: string;
  /** 0 to 1. */
  readonly share: number;
  readonly rows: number;
  /** Milliseconds spent reading these rows. */
  readonly readMs: number;
  readonly problem: string | null;
  /** What was doubtful about its files; the first DOUBTS_KEPT_COUNT are kept. */
  readonly doubts: readonly string[];
}

/** How the label of a repair begins, which has it instead of a file; the provider follows. */
export const REPAIR_LABEL = "repair from ";

/** Doubts that are kept of an import. */
const DOUBTS_KEPT_COUNT = 50;

type SeriesRow = Awaited<ReturnType<Database["prisma"]["backfillSeries"]["findMany"]>>[number];
type ImportedRow = Awaited<ReturnType<Database["prisma"]["importedSeries"]["findMany"]>>[number];

type Context = { readonly db: Pick<Database, "prisma">; readonly clock: Clock };

const toRow = ({ rows, readMs, file, problem, doubts, ...rest }: BackfillProgress, now: Date) => ({
  ...rest,
  rows: BigInt(rows),
  readMs: Math.round(readMs),
  file: file.slice(-TEXT_MAX_CHARACTERS),
  problem: problem?.slice(0, TEXT_MAX_CHARACTERS) ?? null,
  doubts: doubts.slice(0, DOUBTS_KEPT_COUNT).map((doubt) => doubt.slice(-TEXT_MAX_CHARACTERS)),
  updatedAt: now,
});

/** Records the start of a backfill. @returns its id, and its number, which is that of its batch */
export async function beginBackfill(
  { db, clock }: Context,
  venue: Venue,
  progress: BackfillProgress,
): Promise<{ readonly id: string; readonly number: number }> {
  const now = new Date(clock.now());
  const data = { venue, startedAt: now, ...toRow(progress, now) };
  return db.prisma.backfill.create({ data, select: { id: true, number: true } });
}

const PENDING = "SELECT id, number FROM backfill WHERE pending AND command = $1 ORDER BY number DESC";

/**
 * Begins an import of files, which is pending until it shows (`switchImport`), or continues one that the same command began and that does
 * not run any more.
 * @param command a hash of the command
 */
export async function beginImport(
  { db, clock }: Context & { readonly db: Pick<Database, "prisma" | "pool"> },
  venue: Venue,
  progress: BackfillProgress,
  command: string,
): Promise<{ readonly id: string; readonly number: number }> {
  const { rows } = await db.pool.query<{ id: string; number: number }>(PENDING, [command]);
  for (const found of rows) {
    // Outside of a transaction, this lock ends at once.
    if (!(await lockBatch(db.pool, found.number, "transaction"))) continue;
    await noteBackfill({ db, clock }, found.id, progress);
    return found;
  }
  const now = new Date(clock.now());
  const data = { venue, startedAt: now, undoneAt: now, pending: true, command, ...toRow(progress, now) };
  return db.prisma.backfill.create({ data, select: { id: true, number: true } });
}

/** Records that a file of a backfill has this format, which names who made it. Once is enough. */
export async function noteFormat({ db }: { readonly db: Pick<Database, "pool"> }, id: string, title: string): Promise<void> {
  await db.pool.query("UPDATE backfill SET formats = array_append(formats, $2) WHERE id = $1 AND NOT $2 = ANY(formats)", [
    id,
    title,
  ]);
}

/** Records progress. Does nothing when the backfill has been deleted since. */
export async function noteBackfill({ db, clock }: Context, id: string, progress: BackfillProgress): Promise<void> {
  await db.prisma.backfill.updateMany({ where: { id }, data: toRow(progress, new Date(clock.now())) });
}

function toSeries(row: SeriesRow | ImportedRow, kept: Awaited<ReturnType<typeof ticksOfLayers>>): BackfillSeriesReport {
  const { ticker, first, last, stored, alreadyThere, overwritten } = row;
  const { timeframe, covered } = "timeframe" in row ? row : { timeframe: "M1", covered: 0 };
  const iso = (seconds: bigint) => new Date(Number(seconds) * 1_000).toISOString();
  return {
    ticker,
    timeframe: TIMEFRAMES.find((known) => known === timeframe) ?? "M1",
    first_at: iso(first),
    last_at: iso(last),
    stored: Number(stored),
    already_there: Number(alreadyThere),
    overwritten: Number(overwritten),
    covered: Number(covered),
    ticks: timeframe === "M1" ? (kept.find((one) => one.layer === row.batch && one.ticker === ticker)?.ticks ?? 0) : 0,
  };
}

function bySeries(a: BackfillSeriesReport, b: BackfillSeriesReport): number {
  if (a.ticker !== b.ticker) return a.ticker < b.ticker ? -1 : 1;
  return TIMEFRAMES_ORDER.indexOf(a.timeframe) - TIMEFRAMES_ORDER.indexOf(b.timeframe);
}

/** The latest backfills, newest first. */
export async function listBackfills(
  db: Pick<Database, "prisma" | "pool">,
  clock: Clock,
  limit: number = BACKFILLS_LISTED_COUNT,
): Promise<BackfillReport[]> {
  const rows = await db.prisma.backfill.findMany({
    orderBy: [{ startedAt: "desc" }, { id: "desc" }],
    take: limit,
    omit: { pushedBy: true, byOperator: true, formats: true, command: true },
    include: { series: true, imported: true },
  });
  const kept = await ticksOfLayers(
    db.pool,
    rows.map(({ number }) => number),
  );
  const silentSince = clock.now() - BACKFILL_SILENT_S * 1_000;
  return rows.map(({ filesDone, filesFailed, readMs, startedAt, updatedAt, undoneAt, pending, series, imported, ...row }) => {
    const state = BACKFILL_STATES.find((known) => known === row.state) ?? "failed";
    const rows = Number(row.rows);
    return {
      ...row,
      rows,
      venue: VENUES.find((venue) => venue === row.venue) ?? "live",
      state: state === "running" && updatedAt.getTime() < silentSince ? "lost" : state,
      files_done: filesDone,
      files_failed: filesFailed,
      rows_per_s: rows === 0 ? null : Math.round((rows * 1_000) / Math.max(readMs, 1)),
      started_at: startedAt.toISOString(),
      updated_at: updatedAt.toISOString(),
      pending,
      undone_at: pending ? null : (undoneAt?.toISOString() ?? null),
      series: [...series, ...imported].map((one) => toSeries(one, kept)).sort(bySeries),
    };
  });
}

const FORGET = `DELETE FROM backfill b WHERE number IN (SELECT number FROM backfill ORDER BY number DESC OFFSET $1)
  AND state <> 'running' AND NOT EXISTS (SELECT FROM history_layer l WHERE l.layer = b.number)
  AND NOT EXISTS (SELECT FROM tick_segment t WHERE t.layer = b.number)`;

/** Forgets all but the newest BACKFILLS_MAX_COUNT imports, of which nothing is stored. The others can be undone, whatever their age. */
export async function forgetImports({ pool }: Pick<Database, "pool">): Promise<void> {
  await pool.query(FORGET, [BACKFILLS_MAX_COUNT]);
}
