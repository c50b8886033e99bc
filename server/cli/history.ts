import { fileURLToPath } from "node:url";
import type { Timeframe } from "#lib/contract/primitives";
import { FEED_LAYER } from "#lib/domain/fold";
import { historySettings, missingForHistory } from "#lib/env-history";
import { isHistoryAway } from "#lib/storage-errors";
import { type Database, reasonOf } from "#server/store/database/db";
import { checkHistory, type DamagedFile, type NamingRow } from "#server/store/history/check";
import { isLockRefused } from "#server/store/history/lock";
import { type Moved, moveHistory } from "#server/store/history/move";
import { dropFormerFiles, historyPlaceOf, IN_DATABASE } from "#server/store/history/place";
import { objectName } from "#server/store/segments/object-name";
import { openStore } from "#server/store/segments/open-store";
import { inPostgres, type SegmentStore } from "#server/store/segments/segment-store";
import { type CommandContext, defineCommand, runAsProcess, subcommandOf, wordsOf } from "./run-command";
import { EXIT_DONE, EXIT_FAILED, UsageError } from "./usage-error";
import { countText } from "./words";

const USAGE = `npm run history -- check [--ticker EURUSD]
npm run history -- move file:///var/lib/spotwire-history
npm run history -- move 's3://bucket/prefix?endpoint=https://s3.internal:9000'
npm run history -- move database
npm run history -- clean

check   Reads every file of stored klines and ticks that the database names, compares its hash and its rows, and says of each that
        is damaged or missing what it concerns, and how to restore it. What several imports show together is made again from
        their files. --ticker checks only the files of one instrument.
move    Copies all these files from where they lie to an empty directory or bucket, or into the database, reads each one back and
        compares its hash, and then records the new place. Nothing is recorded while a file that shows is damaged or missing. Ended
        at any moment, it continues when it is run again. HISTORY_URL stays as it is until the move is recorded: then every node
        needs the new one, and a restart. Until its restart a node reads the files of the former place, and stores none.
clean   Deletes the files that a move has left in the database.

The service may be running. Run it as the user of the service, who has to read and write the files.

Exit code: 0 all that shows is right, or was moved; 1 it was not, or could not be read; 2 wrong usage.`;

/** Time between two lines of progress. */
const PROGRESS_MS = 5_000;

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

/** Prints what is wrong with a file. */
async function printDamage(db: Database, file: DamagedFile, print: CommandContext["print"]): Promise<void> {
  print(`\n${objectName(file.id)}: ${file.problem}`);
  for (const row of file.rows) print(`  ${row.ticker}  ${periodText(row)}  ${layerText(row)}`);
  for (const line of await restoringLines(db, file)) print(`  ${line}`);
}

/** Checks the files, and prints what is wrong. @returns the exit code */
async function check(db: Database, ticker: string | null, { print, stopSignal }: CommandContext): Promise<number> {
  const place = await historyPlaceOf(db.pool);
  let [damaged, spare] = [0, 0];
  const count = await checkHistory(db, ticker, stopSignal(), async (file) => {
    damaged += 1;
    if (isSpare(file)) spare += 1;
    await printDamage(db, file, print);
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

/** Where a move goes. @throws UsageError */
function targetOf(word: string, { readEnv, clock }: CommandContext): SegmentStore {
  if (word === IN_DATABASE) return inPostgres;
  const { data: place, error } = historySettings.HISTORY_URL.safeParse(word);
  // It is not printed: it may have a key in it.
  if (place === undefined) throw new UsageError(`The place ${error?.issues[0]?.message ?? "is missing."}`);
  const env = { ...readEnv(), HISTORY_URL: place };
  const [missing] = missingForHistory(env);
  if (missing !== undefined) throw new UsageError(`${missing[0]} ${missing[1]}`);
  return openStore(place, env, clock);
}

/** How the disk of the former place is freed. @param url undefined for the database */
function freeingText(url: string | undefined): string {
  if (url === undefined) return "free the space in the database: npm run history -- clean";
  return url.startsWith("file:") ? `delete the directory ${fileURLToPath(url)}` : `delete the objects of ${url}`;
}

/** What is left to do after a move. */
function movedLines({ segments }: Database, { marked }: SegmentStore): string[] {
  const setting = marked === undefined ? "Unset HISTORY_URL" : `Set HISTORY_URL='${marked.url}'`;
  return [
    `${setting} for every node and every command, and restart the nodes, one after the other.`,
    "Until its restart, a node reads the files of the former place, where all are left, and stores none: what the feed brings waits in",
    "the database, pushed klines and imports are refused, and the check history of /api/ready fails.",
    `Once every node runs with the new setting, ${freeingText(segments.store.marked?.url)}`,
  ];
}

/** A line now and then of how far a move is. */
function progressOf({ clock, print }: CommandContext): (count: number) => void {
  let saidMs = clock.now();
  return (count) => {
    if (clock.now() < saidMs + PROGRESS_MS) return;
    saidMs = clock.now();
    print(`${countText(count)} files are copied.`);
  };
}

/** Moves the files, and prints what is left to do. @returns the exit code */
async function move(db: Database, store: SegmentStore, context: CommandContext): Promise<number> {
  const { print, clock, stopSignal } = context;
  const signal = stopSignal();
  const found = async (file: DamagedFile) => {
    await printDamage(db, file, print);
    return !isSpare(file);
  };
  let moved: Moved;
  try {
    moved = await moveHistory(db, { target: store, clock, signal, found, copied: progressOf(context) });
  } catch (error) {
    if (!signal.aborted && !isHistoryAway(error)) throw error;
    const reason = signal.aborted ? "Interrupted." : reasonOf(error);
    throw new Error(`${reason}\nNothing was moved. To continue, run the same command again.`, { cause: error });
  }
  const { count, isRecorded } = moved;
  if (moved.move === null) {
    print(`The files of history lie in ${store.marked?.url ?? "the database"} already.`);
    return EXIT_DONE;
  }
  const { from, to } = moved.move;
  if (!isRecorded) {
    print(`\nNothing was moved: files are damaged or missing in ${from}. Restore them, then run the same command again.`);
    return EXIT_FAILED;
  }
  print(`Moved ${countText(count)} files from ${from} to ${to}. All are right there.`);
  for (const line of movedLines(db, store)) print(line);
  return EXIT_DONE;
}

/** Deletes what a move left in the database. @returns the exit code */
async function clean({ pool }: Database, { print }: CommandContext): Promise<number> {
  try {
    print(`Deleted ${countText(await dropFormerFiles(pool))} files from the database.`);
    return EXIT_DONE;
  } catch (error) {
    if (!isLockRefused(error)) throw error;
    throw new Error("Another command, such as a backup, is reading these files. Try again when it has ended.", { cause: error });
  }
}

/** `npm run history`. */
export const historyCommand = defineCommand({
  name: "history",
  usage: USAGE,
  options: { ticker: { type: "string" } },
  async run({ values, positionals }, context) {
    const { name, words } = subcommandOf(positionals, ["check", "move", "clean"]);
    const ticker = values.ticker?.toUpperCase() ?? null;
    if (name !== "check" && ticker !== null) throw new UsageError("--ticker belongs to check.");
    if (name === "move") {
      const store = targetOf(wordsOf(words, "URL")[0], context);
      return context.withDatabase((db) => move(db, store, context));
    }
    wordsOf(words);
    return context.withDatabase((db) => (name === "clean" ? clean(db, context) : check(db, ticker, context)));
  },
});

await runAsProcess(import.meta.url, historyCommand);
