import { spawn } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium, type Page } from "playwright";

/** Playwright's download, then the distribution's package: neither may hold a test run forever. */
const DOWNLOAD_TIMEOUT_MS = 240_000;
const PACKAGE_TIMEOUT_MS = 360_000;
/** The most time that a hook that opens a browser needs, with a first installation. */
export const BROWSER_TIMEOUT_MS = DOWNLOAD_TIMEOUT_MS + PACKAGE_TIMEOUT_MS + 60_000;

/** The headless shell takes a third of the time of a full browser to draw a page, because it has no window. */
const SHELL = "chromium-headless-shell";
const WHOLE_BROWSERS = ["chromium", "chromium-browser", "google-chrome"];
const FLAGS = [
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--disable-gpu",
];
/** How much output of a failed installer an error repeats. */
const OUTPUT_TAIL_CHARACTERS = 600;

const asRoot = process.getuid?.() === 0;

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

type Found = { readonly executablePath?: string };

function findOnPath(names: readonly string[]): Found | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  const executablePath = names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
  return executablePath === undefined ? undefined : { executablePath };
}

/** Playwright's download, which brings its own headless shell. */
function findDownloaded(): Found | undefined {
  return isExecutable(chromium.executablePath()) ? {} : undefined;
}

/** The browser that CHROMIUM_PATH names. @throws Error when it names nothing that can be run. */
function findNamed(): Found | undefined {
  const named = process.env.CHROMIUM_PATH;
  if (!named) return undefined;
  if (!isExecutable(named)) throw new Error(`CHROMIUM_PATH is ${named}, which is not an executable file.`);
  return { executablePath: named };
}

/** Runs a command to its end; resolves to null on success, else to the reason. Waits without blocking the runner. */
function run(command: string, args: string[], timeoutMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: timeoutMs,
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
    let output = "";
    const keep = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-OUTPUT_TAIL_CHARACTERS);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code, signal) => resolve(code === 0 ? null : `ended with ${signal ?? code}: ${output.trim()}`));
  });
}

/** Debian's package of the headless shell; null when it was installed, else the reason. */
async function installPackage(): Promise<string | null> {
  if (!asRoot || !existsSync("/usr/bin/apt-get")) return "apt-get needs root";
  const lock = ["-o", "DPkg::Lock::Timeout=300"];
  await run("apt-get", [...lock, "update"], PACKAGE_TIMEOUT_MS);
  return run("apt-get", [...lock, "install", "-y", "--no-install-recommends", SHELL], PACKAGE_TIMEOUT_MS);
}

function download(): Promise<string | null> {
  // --with-deps asks for a password unless it runs as root.
  return run("npx", ["playwright", "install", ...(asRoot ? ["--with-deps"] : []), "chromium"], DOWNLOAD_TIMEOUT_MS);
}

/**
 * The best browser available: CHROMIUM_PATH, a headless shell, or else a full browser. Installs a headless shell where that takes
 * only a package, and downloads one where there is no browser at all. Both installers hold their own locks.
 */
async function findOrInstall(): Promise<Found> {
  const ready = findNamed() ?? findOnPath([SHELL]) ?? findDownloaded();
  if (ready !== undefined) return ready;
  const unpackaged = await installPackage();
  const found = findOnPath([SHELL]) ?? findOnPath(WHOLE_BROWSERS);
  if (found !== undefined) return found;
  const failed = await download();
  const downloaded = findDownloaded();
  if (downloaded !== undefined) return downloaded;
  throw new Error(
    `No Chromium was found and none could be installed. Install one and set CHROMIUM_PATH to it.\napt-get: ${unpackaged}\nplaywright install: ${failed}`,
  );
}

/**
 * Opens a headless Chromium, installing one where none is found.
 * @throws Error that says what was tried when none can be found or installed.
 */
export async function openBrowser(): Promise<Browser> {
  return chromium.launch({ ...(await findOrInstall()), args: asRoot ? [...FLAGS, "--no-sandbox"] : FLAGS });
}

/** The console line of a refused form, which is an expected answer. */
export const ANSWERED = /^Failed to load resource/;

/** Collects the errors and warnings in a page's console, except expected ones, and its uncaught exceptions. */
export function collectProblems(page: Page, problems: string[], expected?: RegExp): void {
  page.on("console", (message) => {
    if (expected?.test(message.text())) return;
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
}
