import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, symlink } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The release before this version. Its commit is on the main branch of the project's history. */
export const LAST_RELEASE = { version: "0.3.0", commit: "63e666d8" } as const;

const ROOT = path.resolve(import.meta.dirname, "..", "..");
/** One folder for each commit, kept from run to run. */
const CACHE = path.join(ROOT, "node_modules", ".cache", "spotwire-releases");
/** What its server is made of, without pages. */
const SOURCES = ["app", "lib", "prisma", "server", "package.json", "tsconfig.json"];
const BUNDLE = `await (await import("./server/cli/bundle.ts")).bundleServer()`;
/** Generating the database client and bundling the server take seconds on an idle machine. */
export const LAST_RELEASE_TIMEOUT_MS = 180_000;

/** Why the last release cannot be built here; undefined when it can. */
export async function missingRelease(): Promise<string | undefined> {
  try {
    await run("git", ["-C", ROOT, "cat-file", "-e", `${LAST_RELEASE.commit}^{commit}`]);
    return undefined;
  } catch {
    return `the history of the repository is not here, with commit ${LAST_RELEASE.commit} of ${LAST_RELEASE.version}`;
  }
}

/**
 * The folder of the last release with its server bundled, from the history of the repository and with the packages of this
 * version. Later runs find it.
 * @throws Error when its sources cannot be bundled
 */
export async function lastRelease(): Promise<string> {
  const folder = path.join(CACHE, LAST_RELEASE.commit);
  if (existsSync(folder)) return folder;
  await mkdir(CACHE, { recursive: true });
  const making = await mkdtemp(path.join(CACHE, "making-"));
  try {
    const archive = path.join(making, "sources.tar");
    await run("git", ["-C", ROOT, "archive", "--output", archive, LAST_RELEASE.commit, ...SOURCES]);
    await run("tar", ["--extract", "--file", archive, "--directory", making]);
    await rm(archive);
    await symlink(path.join(ROOT, "node_modules"), path.join(making, "node_modules"));
    const node = (...args: string[]) => run(process.execPath, ["--import", "tsx", ...args], { cwd: making });
    await run(process.execPath, ["--import", "tsx", "prisma/generate.ts", making], { cwd: ROOT });
    await node("--input-type=module", "--eval", BUNDLE);
    await rename(making, folder);
  } catch (error) {
    await rm(making, { recursive: true, force: true });
    // Another run may have made it in the meantime.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
