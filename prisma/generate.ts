import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/**
 * Writes the Prisma client of a schema, which is committed: Prisma's command has ten times as many packages as its client, and
 * is installed only when the schema or its version has changed.
 *
 * `prisma generate` requires a schema-engine binary and downloads it, although it never runs it. Any existing file satisfies
 * it, so this passes the path of Node, and nothing is downloaded.
 */

const ROOT = path.resolve(import.meta.dirname, "..");

/** Identifies the inputs of the client: the schema and the version of Prisma, which its runtime must have too. */
function fingerprint(schema: string): string {
  const runtime = path.join(ROOT, "node_modules", "@prisma", "client", "package.json");
  const { version } = JSON.parse(readFileSync(runtime, "utf8")) as { version: string };
  return createHash("sha256").update(version).update(readFileSync(schema)).digest("hex");
}

/**
 * Updates lib/generated/prisma in a folder that has prisma/schema.prisma; true when it was written.
 * @throws Error with Prisma's output when it cannot be generated, or with npm's when Prisma cannot be installed
 */
export async function generate(root: string): Promise<boolean> {
  const schema = path.join(root, "prisma", "schema.prisma");
  const mark = path.join(root, "lib", "generated", "prisma", ".made-from");
  const wanted = fingerprint(schema);
  if (existsSync(mark) && readFileSync(mark, "utf8") === wanted) return false;
  // An image has no tools, and a client that is up to date needs none.
  const { toolProgram } = await import("#lib/testing/tools");
  const program = await toolProgram("prisma", "prisma");
  await promisify(execFile)(process.execPath, [program, "generate", `--schema=${schema}`, "--no-hints"], {
    cwd: path.dirname(schema),
    env: {
      NODE_ENV: "production",
      PATH: path.dirname(process.execPath),
      // Folder of Prisma's own state.
      HOME: path.join(ROOT, "node_modules", ".cache", "prisma"),
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_HIDE_UPDATE_MESSAGE: "1",
      CHECKPOINT_DISABLE: "1",
    },
  });
  writeFileSync(mark, wanted);
  return true;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await generate(process.argv[2] ?? ROOT);
