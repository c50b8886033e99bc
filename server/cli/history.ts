import type { Timeframe } from "#lib/contract/primitives";
import { FEED_LAYER } from "#lib/domain/fold";
import type { Database } from "#server/store/database/db";
import { checkHistory, type DamagedFile, type NamingRow } from "#server/store/history/check";
import { historyPlaceOf } from "#server/store/history/place";
import { objectName } from "#server/store/segments/object-name";
import { type CommandContext, defineCommand, runAsProcess, subcommandOf, wordsOf } from "./run-command";
import { EXIT_DONE, EXIT_FAILED } from "./usage-error";
import { countText } from "./words";

const USAGE = `npm run history -- check [--ticker EURUSD]

Reads every file of stored klines and ticks that the database names, compares its hash and its rows, and says of each that is
damaged or missing what it concerns, and how to restore it. What several imports show together is made again from their files.
The service may be running.
  --ticker   only the files of one instrument

Exit code: 0 all that shows is right; 1 some of it is not, or could not be read; 2 wrong usage.`;

/** Characters of a date that name a period: files of minutes have a month, those of M5 to H4 a year. */
const DATE_CHARACTERS: Readonly<Partial<Record<Timeframe, number>>> = { M1: 7, M5: 4, M15: 4, M30: 4, H1: 4, H4: 4 };
const DAY_CHARACTERS = 10;

interface Import {
  readonly number: number;
  readonly file: string;
  readonly files: number;
  readonly pushed_by: string | null;
  readonly by_operator: boolean;
  readonly undone: boolean;
}

const IMPORTS =
  "SELECT number, file, files, pushed_by, by_operator, undone_at IS NOT NULL AS undone FROM backfill WHERE number = ANY($1::int[]) ORDER BY number";

function periodText({ timeframe, start }: NamingRow): string {
  const date = new Date(start * 1_000).toISOString();
  if (timeframe === null) return `ticks of ${date.slice(0, DAY_CHARACTERS)}`;
  const characters = DATE_CHARACTERS[timeframe as Timeframe];
  return characters === undefined ? `${timeframe}, all periods` : `${timeframe} of ${date.slice(0, characters)}`;
}

function layerText({ kind, layer }: NamingRow): string {
  if (kind === "derived") return "computed from minutes";
  if (layer === null) return "what all layers show";
  return layer === FEED_LAYER ? "the feed" : `import ${layer}`;
}

function importText({ number, file, files, pushed_by, by_operator, undone }: Import): string {
  if (undone) return `Import ${number} is undone: nothing of it shows. It cannot be put back without a copy.`;
  if (by_operator) return `Import ${number} is a correction by an operator: make it again.`;
  if (pushed_by !== null) return `Import ${number} was pushed by ${pushed_by}: push its klines again.`;
  const what = files === 1 ? file : `${files} files, the last one ${file}`;
  return `Import ${number} came from ${what}: npm run import -- undo ${number}, then import that again.`;
}

/** What of a file is lost, and how it comes back without a copy. */
async function restoringLines(db: Database, { rows, mended }: DamagedFile): Promise<string[]> {
  if (mended) return ["It was made again from the files of its layers."];
  if (rows.every(({ kind }) => kind === "derived")) return ["It is computed again with the next read."];
  const numbers = [...new Set(rows.flatMap(({ layer }) => (layer === null || layer === FEED_LAYER ? [] : [layer])))];
  const { rows: imports } = await db.pool.query<Import>(IMPORTS, [numbers]);
  const lines = imports.map(importText);
  if (rows.some(({ layer }) => layer === FEED_LAYER)) lines.push("What the feed brought is only in a copy.");
  if (rows.every(({ kind }) => kind === "visible"))
    lines.push("This command makes it again once the files of its layers are right, and no import of the instrument runs.");
  return lines;
}

/** Whether nothing that shows is lost with a file. */
const isSpare = ({ rows, mended }: DamagedFile) => mended || rows.every(({ kind, undone }) => kind === "derived" || undone);

/** Checks the files, and prints what is wrong. @returns the exit code */
async function check(db: Database, ticker: string | null, { print, stopSignal }: CommandContext): Promise<number> {
  const place = await historyPlaceOf(db.pool);
  let [damaged, spare] = [0, 0];
  const count = await checkHistory(db, ticker, stopSignal(), async (file) => {
    damaged += 1;
    if (isSpare(file)) spare += 1;
    print(`\n${objectName(file.id)}: ${file.problem}`);
    for (const row of file.rows) print(`  ${row.ticker}  ${periodText(row)}  ${layerText(row)}`);
    for (const line of await restoringLines(db, file)) print(`  ${line}`);
  });
  if (damaged === 0) {
    print(`All ${countText(count)} files are right, in ${place ?? "the database"}.`);
    return EXIT_DONE;
  }
  print(`\n${countText(damaged)} of ${countText(count)} files are damaged or missing, in ${place ?? "the database"}.`);
  const copy = place === null ? "restore a backup" : "put the files of these names there again from a copy";
  print(`To have them back as they were, ${copy}.`);
  return damaged === spare ? EXIT_DONE : EXIT_FAILED;
}

/** `npm run history`. */
export const historyCommand = defineCommand({
  name: "history",
  usage: USAGE,
  options: { ticker: { type: "string" } },
  async run({ values, positionals }, context) {
    const { words } = subcommandOf(positionals, ["check"]);
    wordsOf(words);
    const ticker = values.ticker?.toUpperCase() ?? null;
    return context.withDatabase((db) => check(db, ticker, context));
  },
});

await runAsProcess(import.meta.url, historyCommand);
