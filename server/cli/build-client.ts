import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildPythonClient } from "./build-python-client";
import { clientDeclarations } from "./client-declarations";

/** Builds and packs the typed client as the package `spotwire-client`; as a command, the Python client too. Needs no network. */

const ROOT = path.join(import.meta.dirname, "..", "..");
const SOURCES = path.join(ROOT, "lib", "client");
const TARGET = "es2022";

/** The fields copied from the project's package.json. */
interface Manifest {
  readonly version: string;
  readonly license: string;
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
      ".": {
        import: { types: "./index.d.ts", default: "./index.js" },
        require: { types: "./index.d.cts", default: "./index.cjs" },
      },
      "./package.json": "./package.json",
    },
    // Gives browser bundlers nothing to bundle.
    browser: { ws: false },
    files: ["index.js", "index.cjs", "index.d.ts", "index.d.cts", "README.md"],
    keywords: ["forex", "metals", "market data", "klines", "websocket"],
    peerDependencies: { ws: "^8.0.0" },
    peerDependenciesMeta: { ws: { optional: true } },
  };
}

async function bundle(format: "esm" | "cjs", outfile: string): Promise<void> {
  await build({
    entryPoints: [path.join(SOURCES, "index.ts")],
    bundle: true,
    format,
    platform: "neutral",
    target: TARGET,
    external: ["ws"],
    outfile,
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
  await Promise.all([bundle("esm", path.join(folder, "index.js")), bundle("cjs", path.join(folder, "index.cjs"))]);
  // ES modules and CommonJS need separate declarations: under `type: module`, a .d.ts describes ES modules only.
  for (const name of ["index.d.ts", "index.d.cts"]) writeFileSync(path.join(folder, name), declarations);
  writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(clientManifest(manifest), null, 2)}\n`);
  copyFileSync(path.join(SOURCES, "README.md"), path.join(folder, "README.md"));
  return pack(folder, path.dirname(folder));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const dist = path.join(ROOT, "dist");
  const files = [await buildClient(path.join(dist, "client")), ...(await buildPythonClient(path.join(dist, "client-python")))];
  for (const file of files)
    process.stdout.write(`${path.relative(process.cwd(), file)}  ${(statSync(file).size / 1024).toFixed(1)} kB\n`);
}
