import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Clock, systemClock } from "#lib/clock";
import { DatabaseError, openDatabase } from "#lib/db";
import { type Env, EnvError, readEnv } from "#lib/env";
import { createLog } from "#lib/log";
import { BackupError } from "#server/database/backup/format";
import { openBackup } from "#server/database/backup/open";
import { restoreBackup } from "#server/database/backup/restore";
import { writeBackup } from "#server/database/backup/write";
import { acquireDatabase, acquireSource, borrowSource, type Source } from "#server/database/database";
import { pathsOf } from "#server/database/embedded/cluster";
import { DataDirInUseError } from "#server/database/embedded/embedded-postgres";

const USAGE = `npm run backup -- [--to FILE]

  Writes the whole database, as it is at one instant, to a new file (./spotwire-<instant>.backup) that only its owner may
  read. The service may run.

npm run restore -- FILE [--replace]

  Puts a backup into an empty database, all or nothing. No service may run on it.
  --replace   into one that is not empty: everything in it is lost

Both work on DATABASE_URL, else on the embedded database in DATA_DIR. Not in a backup: the configuration, and the secret
behind sign-ins (NEXTAUTH_SECRET, or nextauth-secret in DATA_DIR). Without that secret everybody signs in again.`;

type DatabaseEnv = Pick<Env, "DATABASE_URL" | "DATA_DIR" | "DATABASE_POOL_SIZE" | "DATABASE_WAIT_S">;

interface Context {
  readonly env: DatabaseEnv;
  readonly clock: Clock;
  readonly print: (line: string) => void;
}

const log = () => createLog("error");

const wrongly = (words: string) => new BackupError(`${words} (--help tells more)`);

function readArguments(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        to: { type: "string" },
        replace: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
      allowPositionals: true,
    });
  } catch (error) {
    throw wrongly(error instanceof Error ? error.message : String(error));
  }
}

async function onSource<Result>(
  source: Source,
  { env, clock }: Context,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  try {
    // Waits for the server, and says what is wrong with it.
    const waiting = { poolSize: 1, waitS: env.DATABASE_WAIT_S, clock, log: log() };
    await (await openDatabase({ url: source.url, ...waiting })).close();
    return await work(source.url);
  } finally {
    await source.stop();
  }
}

/** Does `work` so that Ctrl-C ends it in order; before and after, it ends the process. */
async function stoppable<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, stop);
  try {
    return await work(stopping.signal);
  } finally {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, stop);
  }
}

async function backup(context: Context, to: string | undefined): Promise<void> {
  const { env, clock, print } = context;
  // A start would make an empty one.
  if (env.DATABASE_URL === undefined && !existsSync(pathsOf(env.DATA_DIR).cluster))
    throw new BackupError(`There is nothing to back up: ${env.DATA_DIR} (DATA_DIR) holds no database.`);
  const file = to ?? `./spotwire-${new Date(clock.now()).toISOString().replaceAll(":", "-")}.backup`;
  const { header, tables, rows } = await onSource(await borrowSource(env, log()), context, (url) =>
    stoppable((signal) => writeBackup({ url, file, clock, signal })),
  );
  print(`${file}: ${rows} rows of ${tables} tables as of ${header.madeAt}, ${(await stat(file)).size} bytes.`);
  print("Keep with it, but apart: the configuration, and NEXTAUTH_SECRET or nextauth-secret of DATA_DIR. They are not in it.");
}

async function restore(context: Context, file: string, replace: boolean): Promise<void> {
  const { env, clock, print } = context;
  const opened = await openBackup(file);
  try {
    const { header, tables, rows } = await onSource(await acquireSource(env, log()), context, (url) =>
      restoreBackup({ url, backup: opened, replace }),
    );
    // Brings it to this version's migrations, as a start would: what fails there is told now.
    await (await acquireDatabase(env, log(), clock)).release();
    print(`Restored ${rows} rows of ${tables} tables as of ${header.madeAt}.`);
    print("Keys and plans are what they were then: revoke again what was revoked since. Sign-ins need the secret of then.");
  } finally {
    opened.close();
  }
}

/**
 * Does what was typed after `npm run backup --` or `npm run restore --`.
 * @throws BackupError with words for who types, DatabaseError or DataDirInUseError: nothing was written or changed then
 */
export async function runBackup(command: "backup" | "restore", args: readonly string[], context: Context): Promise<void> {
  const { values, positionals } = readArguments(args);
  if (values.help) return context.print(USAGE);
  const [file, ...more] = positionals;
  if (command === "backup") {
    if (file !== undefined || values.replace) throw wrongly("backup takes --to FILE alone.");
    return backup(context, values.to);
  }
  if (file === undefined || more.length > 0 || values.to !== undefined) throw wrongly("restore takes one FILE, and --replace.");
  return restore(context, file, values.replace);
}

async function main([command, ...args]: string[]): Promise<void> {
  try {
    const print = (line: string) => void process.stdout.write(`${line}\n`);
    await runBackup(command === "restore" ? "restore" : "backup", args, { env: readEnv(), clock: systemClock, print });
  } catch (error) {
    const known = [BackupError, DatabaseError, EnvError, DataDirInUseError].some((type) => error instanceof type);
    const { message, stack, code } = error as NodeJS.ErrnoException;
    // The system's own errors and PostgreSQL's say enough; others are ours to mend.
    process.stderr.write(`${known || code !== undefined ? message : stack}\n`);
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
