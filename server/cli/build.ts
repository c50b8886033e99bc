import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { CLIENT_FOLDER, CLIENT_PACKAGE } from "#lib/docs/client-names";
import { findBinaries } from "#server/database/embedded/binaries";
import { keepListOfPages } from "#server/env";
import { LICENCES_FILE } from "#server/pages/downloads/licences";
import { BUILD_FILE } from "#server/pages/program";
import { buildClient } from "./build-client";
import { buildPythonClient } from "./build-python-client";
import { bundleServer } from "./bundle";
import { compressAssets } from "./compress-assets";
import { listPages } from "./list-pages";
import { thirdPartyNotices } from "./third-party-notices";

/**
 * Bundles the server, and builds the pages and the clients' packages when their sources changed since the last build, so that a
 * second start is quick.
 */

const SOURCES = [
  "app",
  "components",
  "lib",
  // What pages import of the server.
  ...["env.ts", "pages", "store", "threads"].map((name) => path.join("server", name)),
  "next.config.ts",
  "postcss.config.mjs",
  "package-lock.json",
  "tsconfig.json",
];
/** Made of other sources, each time in the order in which the disk lists them: it would change the digest without a reason. */
const MADE = path.join("lib", "generated", "docs");
const STAMP = path.join(".next", "spotwire-sources");
/** What the packages of the clients are made of. */
const CLIENT_SOURCES = [
  path.join("lib", "client"),
  path.join("lib", "client-python"),
  path.join("lib", "contract"),
  path.join("lib", "operations"),
  path.join("lib", "docs", "client-names.ts"),
  path.join("lib", "docs", "json-schema.ts"),
  path.join("lib", "units.ts"),
  path.join("server", "cli", "build-client.ts"),
  path.join("server", "cli", "build-python-client.ts"),
  path.join("server", "cli", "client-declarations.ts"),
  path.join("server", "cli", "python-contract.ts"),
  path.join("server", "cli", "python-types.ts"),
  "package.json",
];
const CLIENT_STAMP = path.join(".next", "spotwire-client-sources");

function filesOf(entry: string): string[] {
  if (!existsSync(entry)) return [];
  const found = readdirSync(entry, { recursive: true, withFileTypes: true });
  return found
    .filter((file) => file.isFile() && !file.name.includes(".test."))
    .map((file) => path.join(file.parentPath, file.name))
    .filter((file) => !file.startsWith(MADE))
    .sort();
}

function digest(sources: readonly string[]): string {
  const hash = createHash("sha256").update(process.version);
  for (const source of sources) {
    const files = /\.\w+$/.test(source) ? [source] : filesOf(source);
    for (const file of files) hash.update(file).update("\0").update(readFileSync(file));
  }
  return hash.digest("hex");
}

/** What the whole program is made of. */
const PROGRAM = [...SOURCES, "server", "prisma"];
const BUILD_ID_CHARACTERS = 8;

/** Does the work unless it was done for these sources, which the file `stamp` notes. */
async function whenChanged(stamp: string, sources: readonly string[], work: () => Promise<void>): Promise<void> {
  const wanted = digest(sources);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  await work();
  writeFileSync(stamp, wanted);
}

async function buildPages(): Promise<void> {
  const next = path.join("node_modules", "next", "dist", "bin", "next");
  await listPages();
  keepListOfPages();
  const result = spawnSync(process.execPath, [next, "build"], { stdio: "inherit" });
  if (result.status !== 0) process.exit(result.status ?? 1);
  await compressAssets(path.join(".next", "static"));
}

/** Packs the typed clients, which the service offers for download. Those of an earlier release go. */
async function packClients(): Promise<void> {
  const folder = path.resolve(".next", "spotwire-clients");
  const tarball = await buildClient(path.join(folder, "typescript"));
  const files = await buildPythonClient(path.join(folder, "python"));
  rmSync(CLIENT_FOLDER, { recursive: true, force: true });
  mkdirSync(CLIENT_FOLDER, { recursive: true });
  renameSync(tarball, path.join(CLIENT_FOLDER, CLIENT_PACKAGE));
  for (const file of files) renameSync(file, path.join(CLIENT_FOLDER, path.basename(file)));
  rmSync(folder, { recursive: true });
}

await whenChanged(STAMP, SOURCES, buildPages);
// The same sources have the same build, with or without a repository, so that it tells whether two nodes run the same program.
writeFileSync(BUILD_FILE, digest(PROGRAM).slice(0, BUILD_ID_CHARACTERS));
await whenChanged(CLIENT_STAMP, CLIENT_SOURCES, packClients);
await bundleServer();
// The user that runs the service may not write to the packages. Where they have no PostgreSQL, a start that needs it says so.
await findBinaries().catch(() => undefined);
writeFileSync(LICENCES_FILE, thirdPartyNotices("."));
