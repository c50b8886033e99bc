import { existsSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import path from "node:path";
import type pg from "pg";
import type { Clock } from "#lib/clock";
import type { BackupRun } from "#lib/contract/portal-health";
import type { Env } from "#lib/env";
import { createLog } from "#lib/log";
import { DAY_MS } from "#lib/units";
import { migrate } from "#prisma/migrate";
import { withConnection } from "#server/database/backup/connection";
import { BackupError } from "#server/database/backup/format";
import { backupName, backupTimeMs } from "#server/database/backup/name";
import { openBackup } from "#server/database/backup/open";
import { restoreBackup } from "#server/database/backup/restore";
import { writeBackup } from "#server/database/backup/write";
import { acquireSource, borrowSource, type Source } from "#server/database/database";
import { pathsOf } from "#server/database/embedded/cluster";
import { findSecret, keepSecret } from "#server/database/secrets";
import { requireWritable } from "#server/database/unwritable";
import { openDatabase, reasonOf } from "#server/store/database/db";
import { historyPlaceOf } from "#server/store/history/place";
import { recordBackup } from "#server/store/market/backup-runs";
import { type CommandContext, defineCommand, runAsProcess, wordsOf } from "./run-command";
import { EXIT_DONE, UsageError } from "./usage-error";

const USAGE = `npm run backup -- [--to FILE | --folder FOLDER [--keep-days DAYS]]

  Writes a consistent copy of the whole database to a new file that only its owner can read. The service may be running.
  /admin shows the last run, also a failed one.
  --to           the file
  --folder       the folder of a file spotwire-<time>.backup; without either, the working directory
  --keep-days    afterwards deletes files of this name in the folder that are older; never when the backup failed

npm run restore -- FILE [--replace] [--unverified]

  Restores a backup into an empty database, completely or not at all. No service may be using the database. All users have
  to sign in again, and links in emails no longer work.
  --replace      restores into a database that is not empty; everything in it is lost. One that was started and never used
                 needs no --replace
  --unverified   restores a file that this installation did not make, or an earlier version; use it only for a file whose
                 origin you trust

Both use DATABASE_URL, or the embedded database in DATA_DIR if it is not set. A backup is sealed with the secret of the
installation (NEXTAUTH_SECRET, or nextauth-secret in DATA_DIR) and does not contain it, nor the configuration. A restore needs
the same secret. With BACKUP_PASSPHRASE a backup is encrypted and contains the secret: a restore needs only the passphrase.`;

const log = createLog("error");

/** The longest time to record a run. */
const RECORD_MAX_MS = 10_000;

/** Waits for the database server, runs the work and stops the server if it was started for this command. */
async function onSource<Result>(source: Source, env: Env, clock: Clock, work: (url: string) => Promise<Result>): Promise<Result> {
  try {
    const url = env.DATABASE_DIRECT_URL ?? source.url;
    await (await openDatabase({ url, poolSize: 1, waitS: env.DATABASE_WAIT_S, clock, log })).close();
    return await work(url);
  } finally {
    await source.stop();
  }
}

/** Records a run in the database that was backed up. Returns why it could not, as in one that no service has migrated yet. */
async function keepRecord(
  url: string,
  { startedMs, clock }: { readonly startedMs: number; readonly clock: Clock },
  outcome: Pick<BackupRun, "bytes" | "rows" | "problem">,
): Promise<string | null> {
  const [started_at, ended_at] = [new Date(startedMs).toISOString(), new Date(clock.now()).toISOString()];
  try {
    const write = (client: pg.Client) => recordBackup(client, { started_at, ended_at, ...outcome });
    await withConnection(url, write, AbortSignal.timeout(RECORD_MAX_MS));
    return null;
  } catch (error) {
    return reasonOf(error);
  }
}

/** Where a backup goes, and what becomes of earlier ones there. */
interface Destination {
  readonly file: string;
  /** Deletes the earlier ones that are too old; prints what. */
  tidy(): Promise<void>;
}

/** @throws UsageError */
async function destinationOf(
  values: { readonly to?: string | undefined; readonly folder?: string | undefined; readonly "keep-days"?: string | undefined },
  { clock, print }: Pick<CommandContext, "clock" | "print">,
): Promise<Destination> {
  const { to, folder, "keep-days": keep } = values;
  if (to !== undefined && folder !== undefined) throw new UsageError("--to and --folder exclude each other.");
  if (keep !== undefined && folder === undefined) throw new UsageError("--keep-days needs --folder.");
  if (keep !== undefined && !/^[1-9]\d{0,3}$/.test(keep)) throw new UsageError("--keep-days: must be 1 to 9999 days.");
  if (folder === undefined) return { file: to ?? `./${backupName(clock.now())}`, tidy: async () => undefined };
  await requireWritable(folder, "--folder");
  return {
    file: path.join(folder, backupName(clock.now())),
    async tidy() {
      if (keep === undefined) return;
      const oldestMs = clock.now() - Number(keep) * DAY_MS;
      for (const name of await readdir(folder)) {
        if ((backupTimeMs(name) ?? oldestMs) >= oldestMs) continue;
        await rm(path.join(folder, name), { force: true });
        print(`Deleted ${name}, which is older than ${keep} days.`);
      }
    },
  };
}

async function backup(file: string, { readEnv, clock, print, stopSignal }: CommandContext): Promise<void> {
  const env = readEnv();
  // Starting the embedded database would create an empty one.
  if (env.DATABASE_URL === undefined && !existsSync(pathsOf(env.DATA_DIR).cluster))
    throw new BackupError(`There is nothing to back up: ${env.DATA_DIR} (DATA_DIR) contains no database.`);
  const passphrase = env.BACKUP_PASSPHRASE;
  const secret = await findSecret(env);
  // One made here would not be the service's, and a restore with the service's own would refuse the file.
  if (secret === undefined)
    throw new BackupError(
      `There is no secret to seal the backup with, and ${env.DATA_DIR} (DATA_DIR) contains no nextauth-secret: set NEXTAUTH_SECRET or NEXTAUTH_SECRET_FILE as the service has it.`,
    );
  const { header, tables, rows } = await onSource(await borrowSource(env, log), env, clock, async (url) => {
    const startedMs = clock.now();
    const record = (outcome: Pick<BackupRun, "bytes" | "rows" | "problem">) => keepRecord(url, { startedMs, clock }, outcome);
    try {
      const written = await writeBackup({ url, file, secret, passphrase, clock, signal: stopSignal() });
      const unrecorded = await record({ bytes: (await stat(file)).size, rows: written.rows, problem: null });
      if (unrecorded !== null) print(`/admin does not show this backup, because it could not be recorded: ${unrecorded}.`);
      return written;
    } catch (error) {
      await record({ bytes: null, rows: null, problem: reasonOf(error) });
      throw error;
    }
  });
  print(`${file}: ${rows} rows of ${tables} tables as of ${header.madeAt}, ${(await stat(file)).size} bytes.`);
  print(
    passphrase !== undefined
      ? "Encrypted. A restore needs BACKUP_PASSPHRASE: keep it elsewhere. Not included: the configuration."
      : "Not included: the configuration, and NEXTAUTH_SECRET or nextauth-secret in DATA_DIR, which a restore needs. Keep a copy of them elsewhere.",
  );
}

interface RestoreFlags {
  readonly replace: boolean;
  readonly unverified: boolean;
}

/** Keeps the secret that an encrypted backup has in it. @returns what to tell the operator */
async function bringSecret(secret: string, { NEXTAUTH_SECRET, DATA_DIR }: Env): Promise<string> {
  if (NEXTAUTH_SECRET === secret) return "NEXTAUTH_SECRET is that of the backup.";
  if (NEXTAUTH_SECRET !== undefined)
    return "NEXTAUTH_SECRET is another one than that of the backup: links and authenticator apps stop working. To keep them, unset it and restore again.";
  return `The secret of the installation is in ${await keepSecret(DATA_DIR, secret)}. Every node needs it.`;
}

async function restore(
  file: string,
  { replace, unverified }: RestoreFlags,
  { readEnv, clock, print }: CommandContext,
): Promise<void> {
  const env = readEnv();
  const opened = await openBackup(file, { secret: await findSecret(env), unverified, passphrase: env.BACKUP_PASSPHRASE });
  try {
    const { header, tables, rows, place } = await onSource(await acquireSource(env, log), env, clock, async (url) => {
      const restored = await restoreBackup({ url, backup: opened, replace });
      // Applies this version's migrations now, as a start would, so that a failure shows up now.
      await migrate(url);
      return { ...restored, place: await withConnection(url, historyPlaceOf) };
    });
    if (header.secret !== undefined) print(await bringSecret(header.secret, env));
    print(`Restored ${rows} rows of ${tables} tables as of ${header.madeAt}.`);
    if (place !== null)
      print(
        `The files of history are not in the backup: they lie in ${place}. Set HISTORY_URL to it. If another database keeps using these files, copy them first and set HISTORY_URL to the copy.`,
      );
    print("Keys revoked since then work again: revoke them. All users have to sign in again.");
  } finally {
    opened.close();
  }
}

/** `npm run backup`. */
export const backupCommand = defineCommand({
  name: "backup",
  usage: USAGE,
  options: { to: { type: "string" }, folder: { type: "string" }, "keep-days": { type: "string" } },
  async run({ values, positionals }, context) {
    wordsOf(positionals);
    const { file, tidy } = await destinationOf(values, context);
    await backup(file, context);
    await tidy();
    return EXIT_DONE;
  },
});

/** `npm run restore`. */
export const restoreCommand = defineCommand({
  name: "restore",
  usage: USAGE,
  options: { replace: { type: "boolean", default: false }, unverified: { type: "boolean", default: false } },
  async run({ values, positionals }, context) {
    const [file] = wordsOf(positionals, "FILE");
    await restore(file, values, context);
    return EXIT_DONE;
  },
});

const [, , command, ...args] = process.argv;
if (command === "restore") await runAsProcess(import.meta.url, restoreCommand, args);
else await runAsProcess(import.meta.url, backupCommand, args);
