import { access, type FileHandle, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { isUnwritable } from "./unwritable";

const exists = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  );

/** Syncs the folder, so that a rename in it survives a power failure. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

interface WholeFile {
  readonly file: string;
  /** What the file is, for messages: "backup". */
  readonly what: string;
  /** What to do about an existing file; null to overwrite it. */
  readonly ifExists: string | null;
  /** Permissions of the file; by default those of the process. */
  readonly mode?: number;
  /** Makes the error of a file that exists or cannot be written. */
  readonly failure: (message: string) => Error;
}

/**
 * Writes a file that appears complete or not at all: `write` fills a file beside it, which is renamed at the end. `write` may
 * close the handle.
 * @returns what `write` returns
 * @throws `failure` when the file exists and may not be overwritten, or cannot be written; what `write` throws
 */
export async function writeWhole<Result>(
  { file, what, ifExists, mode, failure }: WholeFile,
  write: (handle: FileHandle) => Promise<Result>,
): Promise<Result> {
  const part = `${file}.part`;
  const cannotWrite = ({ message }: Error) => failure(`${file} cannot be written: ${message}.`);
  if (ifExists !== null && (await exists(file))) throw failure(`${file} already exists. ${ifExists}`);
  const handle = await open(part, "wx", mode).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw cannotWrite(error);
    throw failure(`${part} already exists: another ${what} is running, or one was killed. Delete it if none is running.`);
  });
  try {
    const result = await write(handle);
    await handle.close();
    await rename(part, file).catch((error: Error) => {
      throw cannotWrite(error);
    });
    await syncFolder(path.dirname(path.resolve(file)));
    return result;
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(part, { force: true });
    throw isUnwritable(error) ? cannotWrite(error) : error;
  }
}
