import { systemClock } from "#lib/clock";
import { DatabaseError } from "#lib/db";
import { EnvError, readEnv } from "#lib/env";
import { createLog } from "#lib/log";
import { borrowDatabase } from "#server/database/database";
import { EXIT_DONE, EXIT_FAILED, isImportFailure } from "./failure";
import { parseOptions, USAGE } from "./options";
import type { Terminal } from "./progress";
import { runImport } from "./run";

/** npm run import -- [options] FILE… (see USAGE). */

const terminal: Terminal = {
  line: (text) => void process.stdout.write(`${text}\n`),
  bar: process.stdout.isTTY ? process.stdout : null,
};

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  if (options === "help") {
    terminal.line(USAGE);
    return EXIT_DONE;
  }
  const stopping = new AbortController();
  // The first asks to stop after the batch that is being written, a second one ends the process.
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stopping.abort());
  const database = await borrowDatabase(readEnv(), createLog("error"), systemClock);
  try {
    return await runImport({ options, database: database.db, terminal, clock: systemClock, signal: stopping.signal });
  } finally {
    await database.release();
  }
}

function explain(error: unknown): number {
  if (isImportFailure(error)) {
    const hint = error.exitCode === EXIT_FAILED ? "" : "\nnpm run import -- --help tells more.";
    process.stderr.write(`import: ${error.message}${hint}\n`);
    return error.exitCode;
  }
  const known = error instanceof Error && [DatabaseError.name, EnvError.name, "DataDirInUseError"].includes(error.name);
  process.stderr.write(
    `import: ${known || !(error instanceof Error) ? String((error as Error).message ?? error) : error.stack}\n`,
  );
  return EXIT_FAILED;
}

process.exitCode = await main().catch(explain);
