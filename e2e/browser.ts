import { type Browser, chromium, type Page } from "playwright";
import { asRoot, findOnPath, installPackage, isExecutable, PACKAGE_TIMEOUT_MS, run } from "./packages";

/** Playwright's download, then the distribution's package: neither may hold a test run forever. */
const DOWNLOAD_TIMEOUT_MS = 240_000;
/** The most time that a hook that opens a browser needs, with a first installation. */
export const BROWSER_TIMEOUT_MS = DOWNLOAD_TIMEOUT_MS + PACKAGE_TIMEOUT_MS + 60_000;

/** The headless shell takes a third of the time of a full browser to draw a page, because it has no window. */
const SHELL = "chromium-headless-shell";
const WHOLE_BROWSERS = ["chromium", "chromium-browser", "google-chrome"];
/** All pages of a product share one process, because starting a process costs as much processor time as loading a page. */
const FLAGS = [
  "--process-per-site",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--disable-gpu",
];

type Found = { readonly executablePath?: string };

function findInstalled(names: readonly string[]): Found | undefined {
  const executablePath = findOnPath(names);
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

function download(): Promise<string | null> {
  // --with-deps asks for a password unless it runs as root.
  return run("npx", ["playwright", "install", ...(asRoot ? ["--with-deps"] : []), "chromium"], DOWNLOAD_TIMEOUT_MS);
}

/**
 * The best browser available: CHROMIUM_PATH, a headless shell, or else a full browser. Installs a headless shell where that takes
 * only a package, and downloads one where there is no browser at all. Both installers hold their own locks.
 */
async function findOrInstall(): Promise<Found> {
  const ready = findNamed() ?? findInstalled([SHELL]) ?? findDownloaded();
  if (ready !== undefined) return ready;
  const unpackaged = await installPackage(SHELL);
  const found = findInstalled([SHELL]) ?? findInstalled(WHOLE_BROWSERS);
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

let borrowed: Promise<Browser> | undefined;

/**
 * The browser of this test worker, opened once: its start costs more processor time than most pages. One spec file has it at a
 * time, and gives it back.
 * @throws Error as `openBrowser` does.
 */
export async function borrowBrowser(): Promise<Browser> {
  if (!(await borrowed)?.isConnected()) borrowed = openBrowser();
  return borrowed as Promise<Browser>;
}

/** Closes all pages of a borrowed browser, and forgets their cookies and caches. */
export async function returnBrowser(browser: Browser | undefined): Promise<void> {
  await Promise.all((browser?.contexts() ?? []).map((context) => context.close()));
}

/** What stands for content that is still to come: a placeholder, or a table without its rows. */
const PLACEHOLDERS = "[data-placeholder], [aria-busy=true]";

/**
 * Waits until a page shows all that it loads. A quiet network is not enough: on a busy machine, a page may take longer to run
 * its scripts than the network has to be quiet, and ask for its rows after that.
 */
export async function expectToBeLoaded(page: Page): Promise<void> {
  await page.waitForLoadState("networkidle");
  await page.locator(PLACEHOLDERS).first().waitFor({ state: "detached" });
}

/** Opens an address, and waits until its page is loaded. */
export async function openPage(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await expectToBeLoaded(page);
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
