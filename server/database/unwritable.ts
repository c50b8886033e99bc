import { access, constants, mkdir } from "node:fs/promises";
import { EnvError } from "#server/env";

/** Error codes of a full or broken disk. */
const UNWRITABLE_CODES = ["ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EIO"];

/** True for an error of writing to a file that no other way of writing avoids. */
export function isUnwritable(error: unknown): error is Error {
  return error instanceof Error && UNWRITABLE_CODES.includes((error as NodeJS.ErrnoException).code ?? "");
}

/** What stands in the way, by the code of the error; nothing of it goes away by waiting. */
const OBSTACLES: Readonly<Record<string, string>> = {
  EROFS: "is on a read-only file system",
  EACCES: "may not be written by this user",
  EPERM: "may not be written by this user",
  ENOTDIR: "is not a directory",
  EEXIST: "is not a directory",
};

/**
 * Makes a folder if there is none.
 * @param setting the variable that names it
 * @throws EnvError naming both when this process cannot write there; the error of the file system for a full or broken disk
 */
export async function requireWritable(folder: string, setting: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
  } catch (error) {
    const obstacle = OBSTACLES[(error as NodeJS.ErrnoException).code ?? ""];
    if (obstacle === undefined) throw error;
    throw new EnvError(
      `Wrong configuration:\n  ${setting}: ${folder} ${obstacle}. Set ${setting} to a directory in which the service can write, or make this one writable.`,
    );
  }
}
