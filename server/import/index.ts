import { BACKFILLS_MAX_COUNT, type BackfillReport } from "#lib/contract/portal-admin";
import { type CommandContext, defineCommand, runAsProcess, wordsOf } from "#server/cli/run-command";
import { EXIT_DONE, UsageError } from "#server/cli/usage-error";
import { countText } from "#server/cli/words";
import { redoImport, type SwitchedSeries, tryUndone, undoImport } from "#server/store/klines/import-undo";
import { listBackfills } from "#server/store/market/backfills";
import { OPTIONS, readOptions, USAGE } from "./options";
import { terminalOf } from "./progress";
import { recordOnCommandLine, runImport } from "./run";

const named = (ticker: string, timeframe: string) => (timeframe === "M1" ? ticker : `${ticker} ${timeframe}`);
const minute = (iso: string) => `${iso.slice(0, 16)}Z`;

/** What became of the ticks of a series, where it has some. */
const ticksText = (ticks: number, what: string) => (ticks === 0 ? "" : `, ${countText(ticks)} ticks ${what}`);

function stateOf({ state, pending, undone_at }: BackfillReport): string {
  if (undone_at !== null) return "undone";
  // A lost one says nothing any more: its process or the database went away.
  if (pending && state !== "running") return "interrupted, nothing of it shows, the same command resumes it";
  return state;
}

/** An import that has ended and stored nothing has a number too. This says why nothing is below it. */
function nothingLines({ state, series, pending, problem }: BackfillReport): string[] {
  if (state === "running" || pending || series.length > 0) return [];
  return [`    nothing stored${problem === null ? "" : `: ${problem}`}`];
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
    ...nothingLines(report),
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

/** Words for what an undo or a redo did, and for what it would do. */
const UNDO = {
  undone: true,
  change: undoImport,
  done: (number: number) =>
    `Import ${number} is undone. Its files can be imported again. To put it back: npm run import -- redo ${number}`,
  tried: (number: number) => `Nothing is changed. An undo of import ${number} would do this:`,
  removed: "removed",
  changed: "overwritten ones restored",
  added: "put back that it had struck out",
  ticks: "removed",
};
const REDO: typeof UNDO = {
  undone: false,
  change: redoImport,
  done: (number) => `Import ${number} is put back.`,
  tried: (number) => `Nothing is changed. A redo of import ${number} would do this:`,
  removed: "struck out again",
  changed: "overwritten again",
  added: "put back",
  ticks: "put back",
};

/** Who says what shows, whatever becomes of an import. */
function othersText(others: readonly number[]): string {
  const imports = others.filter((number) => number > 0);
  const names = [
    ...(imports.length === 1 ? [`import ${imports[0]}`] : imports.length > 1 ? [`imports ${imports.join(", ")}`] : []),
    ...(others.includes(0) ? ["the feed"] : []),
  ];
  return names.length === 0 ? "" : `: what shows there is of ${names.join(" and ")}`;
}

function changedLine({ ticker, timeframe, added, removed, changed, ticks, others }: SwitchedSeries, words: typeof UNDO): string {
  const first = words.undone ? ([removed, words.removed] as const) : ([added, words.added] as const);
  const last = words.undone ? ([added, words.added] as const) : ([removed, words.removed] as const);
  const figures = [
    `${countText(first[0])} klines ${first[1]}`,
    `${countText(changed)} ${words.changed}`,
    ...(last[0] > 0 ? [`${countText(last[0])} ${last[1]}`] : []),
  ];
  const text = added + removed + changed > 0 ? figures.join(", ") : `no kline changes${othersText(others)}`;
  return `  ${named(ticker, timeframe)}: ${text}${ticksText(ticks, words.ticks)}`;
}

/** `npm run import -- undo NUMBER`, or `redo NUMBER`. */
async function changeNumbered(
  command: string,
  words: typeof UNDO,
  positionals: readonly string[],
  trial: boolean,
  { clock, print, withDatabase }: CommandContext,
): Promise<number> {
  const [text] = wordsOf(positionals, "NUMBER");
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new UsageError(`${command} ${text}: must be the number of an import, as list prints it.`);
  const number = Number(text);
  const series = await withDatabase((db) => {
    const admin = { db, clock, record: recordOnCommandLine };
    return trial ? tryUndone(admin, number, words.undone) : words.change(admin, number);
  });
  if (words.undone && series.length === 0)
    print(`Nothing of import ${number} ${trial ? "shows" : "showed"}. Its files can be imported again.`);
  else print(trial ? words.tried(number) : words.done(number));
  for (const one of series) print(changedLine(one, words));
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
    if (word === "undo") return changeNumbered(word, UNDO, words, values["dry-run"], context);
    if (word === "redo") return changeNumbered(word, REDO, words, values["dry-run"], context);
    const options = readOptions(values, positionals);
    return withDatabase((database) => runImport({ options, database, terminal: terminalOf(print), clock, signal: stopSignal() }));
  },
});

await runAsProcess(import.meta.url, importCommand);
