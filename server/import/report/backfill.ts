import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import { audit, COMMAND_LINE } from "#server/store/access/audit";
import type { Database } from "#server/store/database/db";
import { type BackfillProgress, beginImport, noteBackfill, noteFormat } from "#server/store/market/backfills";

/** Shortest interval between two progress updates; the operators' page polls at the same rate. */
const NOTE_INTERVAL_MS = 1_000;

/** Title of the step that stores rows. */
export const IMPORTING = "importing";

/** How an import ended. */
interface BackfillEnd {
  readonly state: "done" | "failed" | "interrupted";
  readonly tickers: readonly string[];
  /** Whether it processed all files, even if some could not be imported. */
  readonly through: boolean;
  /** Why it ended early; by default the last problem of a file. */
  readonly problem?: string | null;
}

interface ReporterOptions {
  readonly database: Pick<Database, "prisma" | "pool">;
  readonly clock: Clock;
  readonly venue: Venue;
  readonly files: number;
  /** A hash of the command: the same one continues an import that was interrupted. */
  readonly command: string;
}

/** Writes the progress of an import to the database, for the operators' page of a running service. */
export type BackfillReporter = Awaited<ReturnType<typeof reportBackfill>>;

/** A trial reports nothing. */
export const NO_REPORT: BackfillReporter = {
  number: 0,
  source: () => undefined,
  step: () => undefined,
  doubt: () => undefined,
  format: async () => undefined,
  fileDone: () => undefined,
  end: async () => undefined,
};

/** Begins a backfill. Updates are at least a second apart. A failed update is skipped, because the next one replaces it. */
export async function reportBackfill({ database, clock, venue, files, command }: ReporterOptions) {
  const context = { db: database, clock };
  let progress: BackfillProgress = {
    state: "running",
    files,
    filesDone: 0,
    filesFailed: 0,
    file: "",
    step: "",
    share: 0,
    rows: 0,
    readMs: 0,
    problem: null,
    doubts: [],
  };
  const { id, number } = await beginImport(context, venue, progress, command);
  let noted = clock.now();
  let noting: Promise<void> = Promise.resolve();
  let busy = false;
  const formats = new Set<string>();
  /** Totals of the sources before the current one. */
  let before = { rows: 0, readMs: 0 };
  let running = { index: 0, sources: 1, startedMs: 0 };

  function note(change: Partial<BackfillProgress>): void {
    progress = { ...progress, ...change };
    const nowMs = clock.now();
    if (busy || nowMs - noted < NOTE_INTERVAL_MS) return;
    noted = nowMs;
    busy = true;
    noting = noteBackfill(context, id, progress)
      .catch(() => undefined)
      .finally(() => {
        busy = false;
      });
  }

  /** Share of all the work that is done when `share` of the current file is read. */
  const reading = (share: number) => (progress.filesDone + share) / Math.max(files, 1);

  return {
    /** The number of the batch. */
    number,
    /** Starts a source of a file; rows read from earlier sources stay counted. */
    source(name: string, index: number, sources: number): void {
      running = { index, sources, startedMs: clock.now() };
      before = { rows: progress.rows, readMs: progress.readMs };
      note({ file: name, step: "", share: reading(index / sources) });
    },
    /** Reports the progress of a step, as the terminal shows it. */
    step(title: string, share: number, rows: number): void {
      const { index, sources, startedMs } = running;
      if (title !== IMPORTING) note({ step: title });
      else
        note({
          step: title,
          share: reading((index + share) / sources),
          rows: before.rows + rows,
          readMs: before.readMs + clock.now() - startedMs,
        });
    },
    /** Keeps what was doubtful about a file. */
    doubt: (text: string): void => note({ doubts: [...progress.doubts, text] }),
    /** Keeps the format of a file that is imported, which names who made it. */
    async format(title: string): Promise<void> {
      if (formats.has(title)) return;
      formats.add(title);
      await noteFormat(context, id, title);
    },
    /** Reports that a file is finished; `problem` says why it was not fully imported. */
    fileDone(problem: string | null): void {
      const failed = problem === null ? {} : { problem, filesFailed: progress.filesFailed + 1 };
      progress = { ...progress, filesDone: progress.filesDone + 1 };
      note({ ...failed, share: reading(0) });
    },
    /** Resolves when the end is stored, with its entry in the audit log. */
    async end({ state, tickers, through, problem = progress.problem }: BackfillEnd): Promise<void> {
      const { file, step, share, ...counts } = progress;
      const finished = through ? { file, step: "", share: 1 } : { file, step, share };
      await noting;
      await noteBackfill(context, id, { ...counts, ...finished, state, problem });
      const { filesDone, filesFailed, rows } = progress;
      const after = { state, number, files, files_done: filesDone, files_failed: filesFailed, rows, tickers };
      await audit(database.prisma, { ...COMMAND_LINE, accountId: null, action: "history.import", target: venue, after });
    },
  };
}
