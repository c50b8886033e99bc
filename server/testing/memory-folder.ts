import { existsSync } from "node:fs";
import { chmod, mkdtemp, readdir, rm, statfs } from "node:fs/promises";
import { freemem } from "node:os";
import { join } from "node:path";
import { processStart } from "#server/database/embedded/lock";

/** Where Linux keeps files in memory. */
const MEMORY = "/dev/shm";
const PREFIX = "spotwire-tests-";
const OWNER = new RegExp(`^${PREFIX}(\\d+)-`);
/** Several times what the data directories of a run take at once, so that the run and its neighbours keep room. */
const ROOM_BYTES = 4 * 1024 ** 3;

async function hasRoom(): Promise<boolean> {
  const { bavail, bsize } = await statfs(MEMORY);
  return bavail * bsize >= ROOM_BYTES && freemem() >= ROOM_BYTES;
}

const remove = (folder: string) => rm(folder, { recursive: true, force: true });

/**
 * A killed run leaves its folder behind, which would take up memory until the machine restarts. What cannot be removed, such as a
 * disk that it had mounted, stays.
 */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(MEMORY)) {
    const [, pid] = OWNER.exec(name) ?? [];
    if (pid !== undefined && (await processStart(Number(pid))) === null) await remove(join(MEMORY, name)).catch(() => undefined);
  }
}

/**
 * Runs once before all tests: keeps temporary files in memory when there is room, unless TMPDIR is set. Tests create and drop
 * hundreds of databases, whose files on disk took a sixth of the processor time of the unit tests.
 */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.TMPDIR !== undefined || !existsSync(MEMORY)) return undefined;
  await removeLeftovers();
  if (!(await hasRoom())) return undefined;
  const folder = await mkdtemp(join(MEMORY, `${PREFIX}${process.pid}-`));
  // Run by root, an embedded database belongs to another user, who has to get through here.
  await chmod(folder, 0o755);
  process.env.TMPDIR = folder;
  return async () => {
    delete process.env.TMPDIR;
    await remove(folder);
  };
}
