import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import type { Clock } from "#lib/clock";
import { BEGIN_SNAPSHOT } from "#server/store/history/transaction";
import { writeWhole } from "../whole-file";
import { withConnection } from "./connection";
import {
  BACKUP_FORMAT,
  BackupError,
  type BackupSummary,
  type Header,
  lineOf,
  MIGRATIONS_TABLE,
  type Part,
  ROWS_END,
} from "./format";
import { encrypted } from "./passphrase";
import { createSealer } from "./seal";
import { readSequences, readTables, whoseTables } from "./tables";

/** Only the owner can read the file, because it contains email addresses and hashes of passwords and keys. */
const FILE_MODE = 0o600;

/** SQLSTATE of a table that does not exist; tables are created and dropped a few times a year. */
const VIEW_ATTEMPTS_COUNT = 5;
const UNDEFINED_TABLE = "42P01";

const MIGRATIONS = `SELECT migration_name AS name FROM ${MIGRATIONS_TABLE}
  WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY migration_name`;

interface WriteOptions {
  /** PostgreSQL URL; never logged. */
  url: string;
  /** The file to write; must not exist. */
  file: string;
  /** The installation's secret, which seals the file; in one that is encrypted it is a part of the content. */
  secret: string;
  /** Encrypts the file. */
  passphrase: string | undefined;
  clock: Clock;
  /** Aborts the backup; no file is written then. */
  signal?: AbortSignal;
}

interface Snapshot {
  readonly header: Header;
  readonly parts: readonly Part[];
}

/** Locks the tables against being dropped or replaced until the transaction ends; false when one no longer exists. */
async function lockTables(client: pg.Client, parts: readonly Part[]): Promise<boolean> {
  const names = parts.map(({ table }) => pg.escapeIdentifier(table)).join(", ");
  try {
    await client.query(`LOCK TABLE ${names} IN ACCESS SHARE MODE`);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== UNDEFINED_TABLE) throw error;
    return false;
  }
}

/**
 * Begins one snapshot of the database for the whole backup, unaffected by concurrent writes. It begins after the tables are
 * locked: a table replaced in between, as retention does with the klines of a year, would be read as empty.
 */
async function beginView(client: pg.Client): Promise<Part[]> {
  for (let attempt = 1; attempt <= VIEW_ATTEMPTS_COUNT; attempt += 1) {
    const found = await readTables(client);
    await client.query(BEGIN_SNAPSHOT);
    if (await lockTables(client, found)) {
      const parts = await readTables(client);
      const locked = new Set(found.map(({ table }) => table));
      if (parts.every(({ table }) => locked.has(table))) return parts;
    }
    await client.query("ROLLBACK");
  }
  throw new BackupError("Tables are being created and dropped continuously. Try again later.");
}

async function openSnapshot(client: pg.Client, clock: Clock): Promise<Snapshot> {
  if ((await whoseTables(client)) !== "ours")
    throw new BackupError("There is nothing to back up: the database contains no Spotwire data.");
  const parts = await beginView(client);
  const madeAt = new Date(clock.now()).toISOString();
  // The text of values must not depend on the settings of a role or server.
  await client.query("SET LOCAL bytea_output = hex; SET LOCAL extra_float_digits = 3");
  const { rows } = await client.query<{ name: string }>(MIGRATIONS);
  // Read after the snapshot began: sequences are not part of it, and must not be behind its rows.
  const sequences = await readSequences(client);
  return { header: { spotwireBackup: BACKUP_FORMAT, madeAt, migrations: rows.map(({ name }) => name), sequences }, parts };
}

/** Streams the text of a backup; `total` counts the rows. */
async function* textOf(client: pg.Client, { header, parts }: Snapshot, total: { rows: number }): AsyncGenerator<Buffer | string> {
  yield lineOf(header);
  for (const part of parts) {
    yield lineOf(part);
    const columns = part.columns.map((column) => pg.escapeIdentifier(column)).join(", ");
    const rows = client.query(copyTo(`COPY ${pg.escapeIdentifier(part.table)} (${columns}) TO STDOUT`));
    const hash = createHash("sha256");
    for await (const chunk of rows as AsyncIterable<Buffer>) {
      hash.update(chunk);
      yield chunk;
    }
    total.rows += rows.rowCount;
    yield ROWS_END + lineOf({ rows: rows.rowCount, sha256: hash.digest("hex") });
  }
  yield lineOf({ tables: parts.length, rows: total.rows });
}

/** Writes, flushes to the disk and closes. */
async function writeTo(handle: FileHandle, { url, secret, passphrase, clock, signal }: WriteOptions): Promise<BackupSummary> {
  const work = async (client: pg.Client) => {
    const { header, parts } = await openSnapshot(client, clock);
    const snapshot = { header: passphrase === undefined ? header : { ...header, secret }, parts };
    const total = { rows: 0 };
    // Most data is klines, for which higher levels take much longer and save little.
    const gzip = createGzip({ level: constants.Z_BEST_SPEED });
    const text = Readable.from(textOf(client, snapshot, total), { objectMode: true, highWaterMark: 1 });
    const closed =
      passphrase === undefined ? createSealer(secret) : (bytes: AsyncIterable<Buffer>) => encrypted(passphrase, bytes);
    await pipeline(text, gzip, closed, handle.createWriteStream({ flush: true }));
    await client.query("COMMIT");
    return { header, tables: parts.length, rows: total.rows };
  };
  return withConnection(url, work, signal);
}

/**
 * Writes a snapshot of the whole database, while it is in use, to a new file that only its owner can read.
 * The file is sealed or encrypted, and appears complete or not at all; memory does not grow with the data.
 * @throws BackupError when the file exists or cannot be written, there is nothing to back up, or `signal` aborted
 */
export async function writeBackup(options: WriteOptions): Promise<BackupSummary> {
  const { file, signal } = options;
  const failure = (message: string) => new BackupError(message);
  const whole = { file, what: "backup", ifExists: "Choose another file with --to.", mode: FILE_MODE, failure };
  return writeWhole(whole, (handle) => writeTo(handle, options)).catch((error: unknown) => {
    throw signal?.aborted ? new BackupError("Stopped. Nothing was written.") : error;
  });
}
