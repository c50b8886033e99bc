import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { cacheFolder } from "./cache-folder";

/**
 * Programs and packages that only checks need, so that `npm ci` brings none of them. Each folder of `lib/testing/tools` lists
 * some with exact versions, in a package.json and its lock file. What is needed first installs its whole list.
 */

const LISTS = path.join(import.meta.dirname, "tools");
const CACHE = cacheFolder("tools");
const INSTALL = [
  "ci",
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  "--prefer-offline",
  "--loglevel=error",
  "--engine-strict=false",
];
/** How often a process looks whether another one has installed the list. */
const LOOK_MS = 200;
/** Within the folder of packages, where vitest leaves it to Node. It imports as the list's own code would. */
const IMPORTER = path.join("node_modules", "import.mjs");

/** Whether this process is to install; false while another one that lives does. */
async function claim(file: string): Promise<boolean> {
  try {
    await writeFile(file, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  try {
    process.kill(Number(readFileSync(file, "utf8")), 0);
  } catch {
    await rm(file, { force: true });
  }
  return false;
}

async function install(list: string, folder: string): Promise<void> {
  const draft = `${folder}.draft`;
  await rm(draft, { recursive: true, force: true });
  await cp(list, draft, { recursive: true });
  await promisify(execFile)("npm", INSTALL, { cwd: draft, shell: process.platform === "win32" });
  await mkdir(path.join(draft, "node_modules"), { recursive: true });
  await writeFile(path.join(draft, IMPORTER), "export default (name) => import(name);\n");
  await rename(draft, folder);
}

/**
 * Installs a list of packages in a cache, once for its lock file and this platform, however many processes ask.
 * @param list folder with package.json and package-lock.json
 * @returns the folder that has the `node_modules` of the list
 * @throws Error with npm's output when it cannot be installed
 */
export async function installList(list: string, cache: string): Promise<string> {
  const hash = createHash("sha256").update(process.platform).update(process.arch);
  for (const file of ["package.json", "package-lock.json"]) hash.update(readFileSync(path.join(list, file)));
  const folder = path.join(cache, `${path.basename(list)}-${hash.digest("hex").slice(0, 16)}`);
  const lock = `${folder}.pid`;
  await mkdir(cache, { recursive: true });
  while (!existsSync(folder)) {
    if (!(await claim(lock))) await setTimeout(LOOK_MS);
    else
      try {
        if (!existsSync(folder)) await install(list, folder);
      } finally {
        await rm(lock, { force: true });
      }
  }
  return folder;
}

/** Installs a list of `lib/testing/tools`, once. @returns the folder that has its `node_modules` */
export const installTools = (list: string): Promise<string> => installList(path.join(LISTS, list), CACHE);

/** The program `name` of the list `list`, a file for Node. */
export async function toolProgram(list: "check" | "prisma", name: string): Promise<string> {
  const folder = await installTools(list);
  const owner = { biome: "@biomejs/biome", tsc: "typescript", prisma: "prisma" }[name] ?? name;
  const manifest = createRequire(path.join(folder, IMPORTER)).resolve(`${owner}/package.json`);
  const { bin } = JSON.parse(readFileSync(manifest, "utf8")) as { bin: Readonly<Record<string, string>> };
  return path.join(path.dirname(manifest), bin[name] ?? "");
}

/** The majors of Node that the service is tested with, each a list of its own. */
export const NODES = ["20", "22", "24", "26"] as const;

/** The program of a Node of `lib/testing/tools`. @throws Error on a system for which the registry has none */
export async function toolNode(major: (typeof NODES)[number]): Promise<string> {
  const packages = path.join(await installTools(`node-${major}`), "node_modules");
  const node = path.join(packages, `node-${process.platform}-${process.arch}`, "bin", "node");
  if (!existsSync(node)) throw new Error("The registry has no Node for this system. It has one for Linux, x64 and arm64.");
  return node;
}

/** Imports a package that only tests or benches need. The caller declares the part of it that it uses. */
export async function importTool<Part>(name: string, list: "tests" | "bench" = "tests"): Promise<Part> {
  const importer = pathToFileURL(path.join(await installTools(list), IMPORTER)).href;
  const { default: load } = (await import(/* @vite-ignore */ importer)) as { default: (name: string) => Promise<Part> };
  return load(name);
}

/** The path of a file of a package that only tests need. */
export async function toolFile(file: string): Promise<string> {
  return path.join(await installTools("tests"), "node_modules", file);
}
