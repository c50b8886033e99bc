import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildPythonClient } from "./build-python-client";
import { CHARTS, CLIENT_ENTRIES, type ClientEntry, clientDeclarations } from "./client-declarations";

/** Builds and packs the typed client as the package `spotwire-client`; as a command, the Python client too. Needs no network. */

const ROOT = path.join(import.meta.dirname, "..", "..");
const SOURCES = path.join(ROOT, "lib", "client");
const TARGET = "es2022";

/** The fields copied from the project's package.json. */
interface Manifest {
  readonly version: string;
  readonly license: string;
}

/** The files of a module. lightweight-charts is an ES module only, so what refers to its types is one too. */
function filesOf(entry: ClientEntry): string[] {
  const files = [`${entry}.js`, `${entry}.d.ts`];
  return entry === CHARTS ? files : [...files, `${entry}.cjs`, `${entry}.d.cts`];
}

function exportOf(entry: ClientEntry): object {
  const esm = { types: `./${entry}.d.ts`, default: `./${entry}.js` };
  if (entry === CHARTS) return esm;
  return { import: esm, require: { types: `./${entry}.d.cts`, default: `./${entry}.cjs` } };
}

/** The package.json of the published package. */
function clientManifest({ version, license }: Manifest): object {
  return {
    name: "spotwire-client",
    version,
    description:
      "Typed client of a Spotwire market data service: quotes, snapshots, klines and market status, over REST and streams",
    license,
    type: "module",
    sideEffects: false,
    engines: { node: ">=20.19.0" },
    main: "./index.cjs",
    module: "./index.js",
    types: "./index.d.ts",
    exports: {
      ...Object.fromEntries(CLIENT_ENTRIES.map((entry) => [entry === "index" ? "." : `./${entry}`, exportOf(entry)])),
      "./package.json": "./package.json",
    },
    // Gives browser bundlers nothing to bundle.
    browser: { ws: false },
    files: [...CLIENT_ENTRIES.flatMap(filesOf), "README.md", "LICENSE"],
    keywords: ["forex", "metals", "market data", "klines", "websocket"],
    peerDependencies: { ws: "^8.0.0", [CHARTS]: "^5.0.0" },
    peerDependenciesMeta: { ws: { optional: true }, [CHARTS]: { optional: true } },
  };
}

/** Bundles each module by itself, so that none needs files that are shared. */
async function bundle(format: "esm" | "cjs", folder: string): Promise<void> {
  const extension = format === "esm" ? ".js" : ".cjs";
  const entries = CLIENT_ENTRIES.filter((entry) => filesOf(entry).includes(`${entry}${extension}`));
  await build({
    entryPoints: entries.map((entry) => path.join(SOURCES, `${entry}.ts`)),
    bundle: true,
    format,
    platform: "neutral",
    target: TARGET,
    external: ["ws"],
    outdir: folder,
    outExtension: { ".js": extension },
    logLevel: "warning",
  });
}

/** Packs a folder into another and returns the path of the tarball. */
function pack(folder: string, into: string): string {
  const args = ["pack", "--json", "--offline", "--ignore-scripts", "--update-notifier=false", "--pack-destination", into];
  const result = spawnSync("npm", args, { cwd: folder, encoding: "utf8", shell: process.platform === "win32" });
  if (result.status !== 0) throw new Error(`npm pack failed: ${result.stderr}`);
  const [{ filename }] = JSON.parse(result.stdout) as [{ filename: string }];
  return path.join(into, filename);
}

/**
 * Builds the package in a folder, which is emptied first, and packs it beside that folder.
 * @returns path of the tarball
 */
export async function buildClient(folder: string): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const manifest = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as Manifest;
  const declarations = await clientDeclarations(ROOT);
  await Promise.all([bundle("esm", folder), bundle("cjs", folder)]);
  // ES modules and CommonJS need separate declarations: under `type: module`, a .d.ts describes ES modules only.
  for (const entry of CLIENT_ENTRIES)
    for (const name of filesOf(entry).filter((file) => file.includes(".d.")))
      writeFileSync(path.join(folder, name), declarations[entry]);
  writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(clientManifest(manifest), null, 2)}\n`);
  copyFileSync(path.join(SOURCES, "README.md"), path.join(folder, "README.md"));
  copyFileSync(path.join(ROOT, "LICENSE"), path.join(folder, "LICENSE"));
  return pack(folder, path.dirname(folder));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // Tests that run at the same time name a folder of their own.
  const dist = path.resolve(process.argv[2] ?? path.join(ROOT, "dist"));
  const files = [await buildClient(path.join(dist, "client")), ...(await buildPythonClient(path.join(dist, "client-python")))];
  for (const file of files)
    process.stdout.write(`${path.relative(process.cwd(), file)}  ${(statSync(file).size / 1024).toFixed(1)} kB\n`);
}
