import { BACKFILLS_MAX_COUNT, type BackfillReport } from "#lib/contract/portal-admin";
import { type CommandContext, defineCommand, runAsProcess, wordsOf } from "#server/cli/run-command";
import { EXIT_DONE, UsageError } from "#server/cli/usage-error";
import { countText } from "#server/cli/words";
import { auditOn, COMMAND_LINE } from "#server/store/access/audit";
import { redoImport, undoImport } from "#server/store/klines/import-undo";
import { listBackfills } from "#server/store/market/backfills";
import { OPTIONS, readOptions, USAGE } from "./options";
import { terminalOf } from "./progress";
import { runImport } from "./run";

const named = (ticker: string, timeframe: string) => (timeframe === "M1" ? ticker : `${ticker} ${timeframe}`);
const minute = (iso: string) => `${iso.slice(0, 16)}Z`;

/** What became of the ticks of a series, where it has some. */
const ticksText = (ticks: number, what: string) => (ticks === 0 ? "" : `, ${countText(ticks)} ticks ${what}`);

function stateOf({ state, undone_at }: BackfillReport): string {
  if (undone_at !== null) return "undone";
  // It says nothing any more: its process or the database went away.
  return state === "lost" ? "interrupted, the same command resumes it" : state;
}

function linesOf(report: BackfillReport): string[] {
  const { number, started_at, file, files, series, doubts } = report;
  const names = files > 1 ? `${countText(files)} files` : file;
  return [
    `${number}  ${minute(started_at)}  ${stateOf(report)}  ${names}`,
    ...series.map(
      ({ ticker, timeframe, first_at, last_at, stored, already_there, overwritten, covered, ticks }) =>
        `    ${named(ticker, timeframe)}  ${minute(first_at)} to ${minute(last_at)}  ${countText(stored)} stored, ${countText(already_there)} already there, ${countText(overwritten)} overwritten${covered > 0 ? `, ${countText(covered)} behind stored M1` : ""}${ticksText(ticks, "kept")}`,
    ),
    ...doubts.map((doubt) => `    DOUBTFUL: ${doubt}`),
  ];
}

/** `npm run import -- list`: the imports that are kept, newest first. */
async function listImports(words: readonly string[], { clock, print, withDatabase }: CommandContext): Promise<number> {
  wordsOf(words);
  const reports = await withDatabase((db) => listBackfills(db, clock, BACKFILLS_MAX_COUNT));
  if (reports.length === 0) print("No imports yet.");
  for (const line of reports.flatMap(linesOf)) print(line);
  return EXIT_DONE;
}

const UNDONE = {
  change: undoImport,
  done: (number: number) =>
    `Import ${number} is undone. Its files can be imported again. To put it back: npm run import -- redo ${number}`,
  klines: ["removed", "overwritten ones restored"],
  ticks: "removed",
};
const PUT_BACK = {
  change: redoImport,
  done: (number: number) => `Import ${number} is put back.`,
  klines: ["put back", "overwritten again"],
  ticks: "put back",
};

/** `npm run import -- undo NUMBER`, or `redo NUMBER`. */
async function changeNumbered(
  command: string,
  { change, done, klines, ticks: ticksWord }: typeof UNDONE,
  words: readonly string[],
  { clock, print, withDatabase }: CommandContext,
): Promise<number> {
  const [text] = wordsOf(words, "NUMBER");
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new UsageError(`${command} ${text}: must be the number of an import, as list prints it.`);
  const number = Number(text);
  const series = await withDatabase((db) =>
    change({ db, clock, record: (client, entry) => auditOn(client, { ...COMMAND_LINE, accountId: null, ...entry }) }, number),
  );
  print(done(number));
  for (const { ticker, timeframe, removed, restored, ticks } of series)
    print(
      `  ${named(ticker, timeframe)}: ${countText(removed)} klines ${klines[0]}, ${countText(restored)} ${klines[1]}${ticksText(ticks, ticksWord)}`,
    );
  return EXIT_DONE;
}

/** `npm run import`. */
export const importCommand = defineCommand({
  name: "import",
  usage: USAGE,
  options: OPTIONS,
  async run({ values, positionals }, context) {
    const { clock, print, stopSignal, withDatabase } = context;
    const [word, ...words] = positionals;
    if (word === "list") return listImports(words, context);
    if (word === "undo") return changeNumbered(word, UNDONE, words, context);
    if (word === "redo") return changeNumbered(word, PUT_BACK, words, context);
    const options = readOptions(values, positionals);
    return withDatabase((database) => runImport({ options, database, terminal: terminalOf(print), clock, signal: stopSignal() }));
  },
});

await runAsProcess(import.meta.url, importCommand);
