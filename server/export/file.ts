import { access, type FileHandle, open, rename, rm } from "node:fs/promises";
import { isUnwritable } from "#server/database/unwritable";
import { ExportFailure } from "./failure";

const exists = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  );

const cannotWrite = (file: string, { message }: Error) => new ExportFailure(`${file} cannot be written: ${message}.`);

/**
 * Writes a file that appears complete or not at all: `write` fills a file beside it, which is renamed at the end.
 * @returns what `write` returns
 * @throws ExportFailure when the file exists and may not be overwritten, or cannot be written; what `write` throws
 */
export async function writeWhole<Result>(
  file: string,
  overwrite: boolean,
  write: (handle: FileHandle) => Promise<Result>,
): Promise<Result> {
  const part = `${file}.part`;
  if (!overwrite && (await exists(file))) throw new ExportFailure(`${file} already exists: --force overwrites it.`);
  const handle = await open(part, "wx").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw cannotWrite(file, error);
    throw new ExportFailure(
      `${part} already exists: another export is running, or one was killed. Delete it if none is running.`,
    );
  });
  try {
    const result = await write(handle);
    await handle.close();
    await rename(part, file).catch((error: Error) => {
      throw cannotWrite(file, error);
    });
    return result;
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(part, { force: true });
    throw isUnwritable(error) ? cannotWrite(file, error) : error;
  }
}
