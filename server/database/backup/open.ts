import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { PassThrough, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { migrationNames, otherVersion } from "#prisma/migrate";
import { BACKUP_FORMAT, BackupError, damaged, Header } from "./format";
import { AGE_MAGIC, decrypted } from "./passphrase";
import { type BackupReader, createBackupReader } from "./reader";
import { contentBytesOf, createSealCheck, requireSeal } from "./seal";

const CHUNK_BYTES = 256 * 1024;
/** The first bytes of a gzip file. */
const GZIP_MAGIC = "1f8b";

/** A backup that this version can read according to its header. The caller closes it. */
export interface OpenBackup {
  readonly header: Header;
  /** Positioned at the first table. */
  readonly reader: BackupReader;
  close(): void;
}

/** How a file is verified. */
interface Verification {
  /** The secret of this installation; undefined when it has none. */
  readonly secret: string | undefined;
  /** Reads a file without a seal, or with that of another installation. */
  readonly unverified: boolean;
  /** Opens a file that is encrypted. */
  readonly passphrase: string | undefined;
}

/**
 * @returns the number of bytes before the seal; undefined for a file that is encrypted
 * @throws BackupError for what is no file, or no backup
 */
async function requireBackup(file: string): Promise<number | undefined> {
  const handle = await open(file, "r").catch((error: NodeJS.ErrnoException) => {
    throw new BackupError(error.code === "ENOENT" ? `File not found: ${file}.` : `${file} cannot be read: ${error.message}`);
  });
  try {
    if (!(await handle.stat()).isFile()) throw new BackupError(`${file} is not a file.`);
    const { buffer } = await handle.read(Buffer.alloc(AGE_MAGIC.length), 0, AGE_MAGIC.length, 0);
    if (buffer.toString("latin1") === AGE_MAGIC) return undefined;
    if (buffer.toString("hex", 0, 2) !== GZIP_MAGIC) throw new BackupError(`${file} is not a Spotwire backup.`);
    return await contentBytesOf(handle);
  } finally {
    await handle.close();
  }
}

/** The decompressed text of a file, after the whole file was verified. It is verified again while it is read. */
async function openText(file: string, { secret, unverified, passphrase }: Verification): Promise<Readable> {
  const contentBytes = await requireBackup(file);
  if (contentBytes === undefined) return openEncrypted(file, passphrase);
  const sealed = unverified ? undefined : await requireSeal(file, secret);
  const bytes = createReadStream(file, { end: contentBytes - 1 });
  const check = sealed && createSealCheck(sealed.secret, sealed.seal, () => damaged("it changed while it was read"));
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  const text = new PassThrough({ highWaterMark: CHUNK_BYTES });
  // Errors while reading reach the reader as an error of `text`, which ends only after everything before it.
  pipeline(check === undefined ? [bytes, gunzip, text] : [bytes, check, gunzip, text]).catch(() => undefined);
  return text;
}

/** The same of an encrypted file: its chunks are verified while they are read, before the restore commits. */
async function openEncrypted(file: string, passphrase: string | undefined): Promise<Readable> {
  if (passphrase === undefined)
    throw new BackupError(`${file} is encrypted: set BACKUP_PASSPHRASE to the passphrase that it was made with.`);
  const bytes = await decrypted(passphrase, createReadStream(file), file);
  const text = new PassThrough({ highWaterMark: CHUNK_BYTES });
  pipeline(bytes, createGunzip({ chunkSize: CHUNK_BYTES }), text).catch(() => undefined);
  return text;
}

async function readHeader(reader: BackupReader, file: string): Promise<Header> {
  const header = await reader.line(Header).catch((error: unknown) => {
    if (error instanceof BackupError) throw new BackupError(`${file} is not a Spotwire backup, or its beginning is damaged.`);
    throw error;
  });
  const known = await migrationNames();
  const other = otherVersion(
    file,
    header.migrations.filter((name) => !known.includes(name)),
  );
  if (other !== undefined) throw new BackupError(other);
  if (header.spotwireBackup > BACKUP_FORMAT)
    throw new BackupError(`${file} was made by a newer Spotwire. Use that version to restore it.`);
  return header;
}

/**
 * Opens a backup without touching any database. The whole file is compared with its seal first, if it has one.
 * @throws BackupError when the file does not exist, is not a backup of this installation, or was made by another version
 */
export async function openBackup(file: string, verification: Verification): Promise<OpenBackup> {
  const text = await openText(file, verification);
  const close = () => void text.destroy();
  try {
    const reader = createBackupReader(text);
    return { header: await readHeader(reader, file), reader, close };
  } catch (error) {
    close();
    throw error;
  }
}
