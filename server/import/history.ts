import { auditOn, COMMAND_LINE } from "#lib/access/audit";
import { BACKFILLS_MAX_COUNT, type BackfillReport } from "#lib/contract/portal-admin";
import { dropRows } from "#lib/history/drop-rows";
import { listBackfills } from "#lib/market/backfills";
import { type HistoryAdmin, redoImport, undoImport } from "#lib/market/import-undo";
import { type CommandContext, wordsOf } from "#server/cli/run-command";
import { EXIT_DONE, EXIT_FAILED, UsageError } from "#server/cli/usage-error";
import { countText } from "#server/cli/words";

type Context = Pick<CommandContext, "clock" | "print" | "withDatabase">;

const minute = (iso: string) => `${iso.slice(0, 16)}Z`;

/** What became of the ticks of a series, where it has some. */
const ticksText = (ticks: number, what: string) => (ticks === 0 ? "" : `, ${countText(ticks)} ticks ${what}`);

function stateOf({ state, undone_at, sealed }: BackfillReport): string {
  if (undone_at !== null) return "undone";
  // It says nothing any more: its process or the database went away.
  if (state === "lost") return "interrupted, the same command resumes it";
  return sealed ? `${state}, cannot be undone` : state;
}

function linesOf(report: BackfillReport): string[] {
  const { number, started_at, file, files, series, doubts } = report;
  const names = files > 1 ? `${countText(files)} files` : file;
  return [
    `${number}  ${minute(started_at)}  ${stateOf(report)}  ${names}`,
    ...series.map(
      ({ ticker, timeframe, first_at, last_at, stored, already_there, overwritten, covered, ticks }) =>
        `    ${ticker}${timeframe === "M1" ? "" : ` ${timeframe}`}  ${minute(first_at)} to ${minute(last_at)}  ${countText(stored)} stored, ${countText(already_there)} already there, ${countText(overwritten)} overwritten${covered > 0 ? `, ${countText(covered)} behind stored M1` : ""}${ticksText(ticks, "kept")}`,
    ),
    ...doubts.map((doubt) => `    DOUBTFUL: ${doubt}`),
  ];
}

/** `npm run import -- list`: the imports that are kept, newest first. */
export async function listImports(words: readonly string[], { clock, print, withDatabase }: Context): Promise<number> {
  wordsOf(words);
  const reports = await withDatabase((db) => listBackfills(db, clock, BACKFILLS_MAX_COUNT));
  if (reports.length === 0) print("No imports yet.");
  for (const line of reports.flatMap(linesOf)) print(line);
  return EXIT_DONE;
}

/** The number of an import, as the only word. @throws UsageError */
function numberIn(words: readonly string[], command: string): number {
  const [text] = wordsOf(words, "NUMBER");
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new UsageError(`${command} ${text}: must be the number of an import, as list prints it.`);
  return Number(text);
}

const adminOf = (db: Pick<HistoryAdmin, "db">["db"], clock: HistoryAdmin["clock"]): HistoryAdmin => ({
  db,
  clock,
  record: (client, change) => auditOn(client, { ...COMMAND_LINE, accountId: null, ...change }),
});

const named = (ticker: string, timeframe: string) => (timeframe === "M1" ? ticker : `${ticker} ${timeframe}`);

/** `npm run import -- undo NUMBER`. */
export async function undoNumbered(words: readonly string[], { clock, print, withDatabase }: Context): Promise<number> {
  const number = numberIn(words, "undo");
  const series = await withDatabase((db) => undoImport(adminOf(db, clock), number));
  print(`Import ${number} is undone. Its files can be imported again. To put it back: npm run import -- redo ${number}`);
  for (const { ticker, timeframe, removed, restored, ticks } of series)
    print(
      `  ${named(ticker, timeframe)}: ${countText(removed)} klines removed, ${countText(restored)} overwritten ones restored${ticksText(ticks, "removed")}`,
    );
  return EXIT_DONE;
}

/** `npm run import -- redo NUMBER`. */
export async function redoNumbered(words: readonly string[], { clock, print, withDatabase }: Context): Promise<number> {
  const number = numberIn(words, "redo");
  const series = await withDatabase((db) => redoImport(adminOf(db, clock), number));
  print(`Import ${number} is put back.`);
  for (const { ticker, timeframe, removed, restored, ticks } of series)
    print(
      `  ${named(ticker, timeframe)}: ${countText(removed)} klines put back, ${countText(restored)} overwritten again${ticksText(ticks, "put back")}`,
    );
  return EXIT_DONE;
}

/** `npm run import -- drop-rows`. */
export async function dropOldRows(words: readonly string[], { print, withDatabase }: Context): Promise<number> {
  wordsOf(words);
  const { waiting, bytes } = await withDatabase(dropRows);
  if (waiting.length > 0) {
    print(
      `Nothing was deleted: ${waiting.join(", ")} ${waiting.length === 1 ? "is" : "are"} not converted yet. The service does it.`,
    );
    return EXIT_FAILED;
  }
  print(`The klines that earlier releases stored as rows are deleted: ${countText(Math.round(bytes / 1e6))} MB on disk.`);
  return EXIT_DONE;
}
