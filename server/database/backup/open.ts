import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { PassThrough, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { migrationNames } from "#prisma/migrate";
import { BACKUP_FORMAT, BackupError, Header } from "./format";
import { type BackupReader, createBackupReader } from "./reader";

const CHUNK_BYTES = 256 * 1024;
/** What a gzip file begins with. */
const GZIP_MAGIC = "1f8b";

/** A backup that this version can read, as far as its first line says; to be closed by whoever opened it. */
export interface OpenBackup {
  readonly header: Header;
  /** Stands at the first table. */
  readonly reader: BackupReader;
  close(): void;
}

/** The unzipped text of a file. */
async function openText(file: string): Promise<Readable> {
  const handle = await open(file, "r").catch((error: NodeJS.ErrnoException) => {
    throw new BackupError(error.code === "ENOENT" ? `There is no file ${file}.` : `${file} cannot be read: ${error.message}`);
  });
  try {
    if (!(await handle.stat()).isFile()) throw new BackupError(`${file} is not a file.`);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    if (bytesRead < 2 || buffer.toString("hex") !== GZIP_MAGIC) throw new BackupError(`${file} is not a Spotwire backup.`);
  } finally {
    await handle.close();
  }
  const text = new PassThrough({ highWaterMark: CHUNK_BYTES });
  // What goes wrong on the way reaches the reader as an error of `text`.
  pipeline(createReadStream(file), createGunzip({ chunkSize: CHUNK_BYTES }), text).catch(() => undefined);
  return text;
}

async function readHeader(reader: BackupReader, file: string): Promise<Header> {
  const header = await reader.line(Header).catch((error: unknown) => {
    if (error instanceof BackupError) throw new BackupError(`${file} is not a Spotwire backup, or its beginning is damaged.`);
    throw error;
  });
  const known = await migrationNames();
  const newer = header.migrations.filter((name) => !known.includes(name));
  if (header.spotwireBackup > BACKUP_FORMAT || newer.length > 0)
    throw new BackupError(
      `${file} was made by a newer Spotwire${newer.length > 0 ? ` (it has ${newer.join(", ")})` : ""}. Update this one first, then restore.`,
    );
  return header;
}

/**
 * Opens a backup, before any database is touched.
 * @throws BackupError when there is none, it is something else, or a newer version made it
 */
export async function openBackup(file: string): Promise<OpenBackup> {
  const text = await openText(file);
  const close = () => void text.destroy();
  try {
    const reader = createBackupReader(text);
    return { header: await readHeader(reader, file), reader, close };
  } catch (error) {
    close();
    throw error;
  }
}
