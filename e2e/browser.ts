import { spawn } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium, type Page } from "playwright";

/** Playwright's download, then the distribution's package: neither may hold a test run for ever. */
const DOWNLOAD_TIMEOUT_MS = 240_000;
const PACKAGE_TIMEOUT_MS = 360_000;
/** Time a hook that opens a browser needs at the most, a first installation included. */
export const BROWSER_TIMEOUT_MS = DOWNLOAD_TIMEOUT_MS + PACKAGE_TIMEOUT_MS + 60_000;

const ON_PATH = ["chromium", "chromium-browser", "google-chrome"];
const FLAGS = [
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--disable-gpu",
];
/** How much of a failed installer's output is worth repeating. */
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

/**
 * Path of the browser to test with: CHROMIUM_PATH, else Playwright's own, else one on PATH; undefined where there is none.
 * @throws Error when CHROMIUM_PATH is set and names nothing that can be run.
 */
function findBrowser(): string | undefined {
  const named = process.env.CHROMIUM_PATH;
  if (named) {
    if (isExecutable(named)) return named;
    throw new Error(`CHROMIUM_PATH is ${named}, which is not an executable file.`);
  }
  const own = chromium.executablePath();
  if (own && isExecutable(own)) return own;
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  return ON_PATH.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

/** Runs a command to its end; resolves to null when it went well, else to why not. Waits without blocking the runner. */
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

/** One way after the other until a browser stands; the failures in words when none does. Both installers hold their own locks. */
async function installBrowser(): Promise<string> {
  const failures: string[] = [];
  const attempt = async (command: string, args: string[], timeoutMs: number) => {
    const failure = await run(command, args, timeoutMs);
    if (failure !== null) failures.push(`${[command, ...args].join(" ")}\n  ${failure}`);
    return failure === null ? findBrowser() : undefined;
  };
  // --with-deps asks for a password when it is not root, and nobody is there to type one.
  const download = ["playwright", "install", ...(asRoot ? ["--with-deps"] : []), "chromium"];
  const downloaded = await attempt("npx", download, DOWNLOAD_TIMEOUT_MS);
  if (downloaded !== undefined) return downloaded;
  if (asRoot && existsSync("/usr/bin/apt-get")) {
    const lock = ["-o", "DPkg::Lock::Timeout=300"];
    await attempt("apt-get", [...lock, "update"], PACKAGE_TIMEOUT_MS);
    const packaged = await attempt("apt-get", [...lock, "install", "-y", "chromium"], PACKAGE_TIMEOUT_MS);
    if (packaged !== undefined) return packaged;
  }
  throw new Error(
    `No Chromium was found and none could be installed. Install one and set CHROMIUM_PATH to it.\n${failures.join("\n")}`,
  );
}

/**
 * Opens a headless Chromium, installing one where none is found.
 * @throws Error that says what was tried when there is none to be had.
 */
export async function openBrowser(): Promise<Browser> {
  const executablePath = findBrowser() ?? (await installBrowser());
  return chromium.launch({ executablePath, args: asRoot ? [...FLAGS, "--no-sandbox"] : FLAGS });
}

/** A refused form is an answer, not a complaint, though the browser writes both to its console. */
export const ANSWERED = /^Failed to load resource/;

/** Puts what a page writes to its console as an error or warning, but for texts that are expected, and what it throws, into a list. */
export function gatherComplaints(page: Page, complaints: string[], expected?: RegExp): void {
  page.on("console", (message) => {
    if (expected?.test(message.text())) return;
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
}
