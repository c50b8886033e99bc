import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Writes the Prisma client to lib/generated/prisma, unless it is up to date with the schema and the Prisma version.
 *
 * `prisma generate` requires a schema-engine binary and downloads it, although it never runs it. Any existing file satisfies
 * it, so this passes the path of Node, and nothing is downloaded.
 */

const FOLDER = path.dirname(fileURLToPath(import.meta.url));
const SCHEMA = path.join(FOLDER, "schema.prisma");
const OUTPUT = path.join(FOLDER, "..", "lib", "generated", "prisma");
const MARK = path.join(OUTPUT, ".made-from");

const prismaFolder = path.dirname(createRequire(import.meta.url).resolve("prisma/package.json"));

/** Identifies the inputs of the client: the schema and the Prisma version. */
function fingerprint(): string {
  const { version } = JSON.parse(readFileSync(path.join(prismaFolder, "package.json"), "utf8")) as { version: string };
  return createHash("sha256").update(version).update(readFileSync(SCHEMA)).digest("hex");
}

/**
 * Updates the client; true when it was written.
 * @throws Error with Prisma's output when it cannot be generated.
 */
export function generate(): boolean {
  const wanted = fingerprint();
  if (existsSync(MARK) && readFileSync(MARK, "utf8") === wanted) return false;
  const result = spawnSync(
    process.execPath,
    [path.join(prismaFolder, "build", "index.js"), "generate", `--schema=${SCHEMA}`, "--no-hints"],
    {
      cwd: FOLDER,
      encoding: "utf8",
      env: {
        NODE_ENV: "production",
        PATH: path.dirname(process.execPath),
        // Folder of Prisma's own state.
        HOME: path.join(prismaFolder, "..", ".cache", "prisma"),
        PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
        PRISMA_HIDE_UPDATE_MESSAGE: "1",
        CHECKPOINT_DISABLE: "1",
      },
    },
  );
  if (result.status !== 0) throw new Error(`The Prisma client could not be generated.\n${result.stdout}${result.stderr}`);
  writeFileSync(MARK, wanted);
  return true;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) generate();
