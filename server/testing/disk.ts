import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { open, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const BALLAST = "ballast";
const CHUNK_BYTES = 1_048_576;

/** A small disk in memory, for tests that fill one. */
export interface TestDisk {
  readonly folder: string;
  /** Fills it up to so many free bytes; the returned function frees the space again. */
  fill(freeBytes: number): Promise<() => Promise<void>>;
  unmount(): void;
}

/** Fills the disk of a folder up to so many free bytes; the returned function frees the space again. */
export async function fillDisk(folder: string, freeBytes = 0): Promise<() => Promise<void>> {
  const path = join(folder, BALLAST);
  const file = await open(path, "w");
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES, 1);
    for (;;) {
      const { bavail, bsize } = await statfs(folder);
      const surplus = bavail * bsize - freeBytes;
      if (surplus < bsize) break;
      await file.write(chunk, 0, Math.min(CHUNK_BYTES, surplus));
    }
  } finally {
    await file.close();
  }
  return () => rm(path);
}

/** Mounts a disk in memory of this size, as "200m"; undefined when this process may not mount. */
export function mountTestDisk(size: string): TestDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), "spotwire-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=755`, "tmpfs", folder], { stdio: "ignore" });
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  return {
    folder,
    fill: (freeBytes) => fillDisk(folder, freeBytes),
    unmount() {
      execFileSync("umount", ["--lazy", folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
