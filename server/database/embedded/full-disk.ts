import { statfs } from "node:fs/promises";
import { MIB_BYTES } from "#lib/units";

/** Free space below which PostgreSQL may not start: it writes a checkpoint, and its log grows by files of 16 MiB. */
const START_NEEDS_BYTES = 64 * MIB_BYTES;
const FULL = /No space left on device|ENOSPC|EDQUOT/;

/**
 * The reason of a failed start: that the disk is full, where it is, instead of what PostgreSQL makes of it. Its log then speaks
 * of damaged data and the last backup, though nothing is damaged.
 */
export async function inWordsOfDisk(dataDir: string, error: unknown): Promise<Error> {
  const failure = error instanceof Error ? error : new Error(String(error));
  if (!FULL.test(failure.message)) return failure;
  const disk = await statfs(dataDir).catch(() => undefined);
  const free = disk === undefined ? "" : ` ${Math.floor((disk.bavail * disk.bsize) / MIB_BYTES)} MiB are free.`;
  return new Error(
    `The disk of ${dataDir} is full, so the embedded PostgreSQL cannot start.${free} Free at least ${START_NEEDS_BYTES / MIB_BYTES} MiB and start again. A full disk does not damage what is stored: no backup has to be restored.`,
    { cause: error },
  );
}
