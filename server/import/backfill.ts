import { audit, COMMAND_LINE } from "#lib/access/audit";
import type { Clock } from "#lib/clock";
import type { Venue } from "#lib/contract/primitives";
import type { Database } from "#lib/db";
import { type BackfillProgress, beginBackfill, noteBackfill, noteFormat } from "#lib/market/backfills";

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
  readonly problem?: string;
}

/** Writes the progress of an import to the database, for the operators' page of a running service. */
export interface BackfillReporter {
  /** The number of the batch. */
  readonly number: number;
  /** Starts a source of a file; rows read from earlier sources stay counted. */
  source(name: string, index: number, sources: number): void;
  /** Reports the progress of a step, as the terminal shows it. */
  step(title: string, share: number, rows: number): void;
  /** Keeps what was doubtful about a file. */
  doubt(text: string): void;
  /** Keeps the format of a file that is imported, which names who made it. */
  format(title: string): Promise<void>;
  /** Reports that a file is finished; `problem` says why it was not fully imported. */
  fileDone(problem: string | null): void;
  /** Resolves when the end is stored, with its entry in the audit log. */
  end(end: BackfillEnd): Promise<void>;
}

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

interface ReporterOptions {
  readonly database: Pick<Database, "prisma" | "pool">;
  readonly clock: Clock;
  readonly venue: Venue;
  readonly files: number;
}

/** Begins a backfill. Updates are at least a second apart. A failed update is skipped, because the next one replaces it. */
export async function reportBackfill({ database, clock, venue, files }: ReporterOptions): Promise<BackfillReporter> {
  const context = { db: database, clock };
  let progress: BackfillProgress = {
    ...{
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
    },
  };
  const { id, number } = await beginBackfill(context, venue, progress);
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
    number,
    source(name, index, sources) {
      running = { index, sources, startedMs: clock.now() };
      before = { rows: progress.rows, readMs: progress.readMs };
      note({ file: name, step: "", share: reading(index / sources) });
    },
    step(title, share, rows) {
      if (title !== IMPORTING) return note({ step: title });
      const { index, sources, startedMs } = running;
      note({
        step: title,
        share: reading((index + share) / sources),
        rows: before.rows + rows,
        readMs: before.readMs + clock.now() - startedMs,
      });
    },
    doubt: (text) => note({ doubts: [...progress.doubts, text] }),
    async format(title) {
      if (formats.has(title)) return;
      formats.add(title);
      await noteFormat(context, id, title);
    },
    fileDone(problem) {
      const failed = problem === null ? {} : { problem, filesFailed: progress.filesFailed + 1 };
      progress = { ...progress, filesDone: progress.filesDone + 1 };
      note({ ...failed, share: reading(0) });
    },
    async end({ state, tickers, through, problem = progress.problem }) {
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
