import { setTimeout } from "node:timers/promises";
import { type Browser, type BrowserContext, chromium, type Page, type Request } from "playwright";
import { asRoot, BROWSERS, findOnPath, isExecutable } from "#lib/testing/packages";

/** The most time that a hook that opens a browser needs. */
export const BROWSER_TIMEOUT_MS = 120_000;

/** All pages of a product share one process, because starting a process costs as much processor time as loading a page. */
const FLAGS = [
  "--process-per-site",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--disable-gpu",
];

/**
 * The best browser available: CHROMIUM_PATH, a headless shell, Playwright's download, or else a full browser.
 * @throws Error when CHROMIUM_PATH names nothing that can be run, or when there is none
 */
function findBrowser(): { readonly executablePath?: string } {
  const named = process.env.CHROMIUM_PATH;
  if (named && !isExecutable(named)) throw new Error(`CHROMIUM_PATH is ${named}, which is not an executable file.`);
  if (named) return { executablePath: named };
  const shell = findOnPath(BROWSERS.slice(0, 1));
  if (shell === undefined && isExecutable(chromium.executablePath())) return {};
  const executablePath = shell ?? findOnPath(BROWSERS);
  if (executablePath === undefined) throw new Error("No Chromium was found. Install one, or set CHROMIUM_PATH to it.");
  return { executablePath };
}

/** Opens a headless Chromium. @throws Error when there is none */
export async function openBrowser(): Promise<Browser> {
  const browser = await chromium.launch({ ...findBrowser(), args: asRoot ? [...FLAGS, "--no-sandbox"] : FLAGS });
  browser.on("context", (context) => {
    context.setDefaultTimeout(STEP_MAX_MS);
    followReads(context);
  });
  return browser;
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
export const PLACEHOLDERS = "[data-placeholder], [aria-busy=true]";

/** Longest wait for one step of a page, on a machine several times slower than usual. */
export const STEP_MAX_MS = 60_000;

/** Longest time from the last answer that a page read to the next read that the answer leads to. */
const NEXT_READ_MS = 500;

/** What each page asks for by script and has no answer to yet, and when that last changed. */
const reads = new WeakMap<Page, { open: Set<Request>; changedAt: number }>();

/** Notes what the pages of a context ask for by script. */
function followReads(context: BrowserContext): void {
  context.on("page", (page) => {
    const noted = { open: new Set<Request>(), changedAt: 0 };
    reads.set(page, noted);
    page.on("request", (request) => {
      if (["fetch", "xhr"].includes(request.resourceType())) noted.open.add(request);
    });
    const end = (request: Request) => {
      if (noted.open.delete(request)) noted.changedAt = Date.now();
    };
    page.on("requestfinished", end);
    page.on("requestfailed", end);
  });
}

/**
 * Waits until a page shows all that it loads and answers its readers. That its files are there is not enough: on a busy machine,
 * a page takes a while to run its scripts. Until then, a field takes text that the page never reads. Playwright's own wait for a
 * quiet network is not used: it sometimes waits for a font or script that has long come.
 * @throws Error that names what the page waits for, after `STEP_MAX_MS`.
 */
export async function expectToBeLoaded(page: Page): Promise<void> {
  await page.waitForLoadState("load", { timeout: STEP_MAX_MS });
  await page.waitForFunction(answersReaders, undefined, { timeout: STEP_MAX_MS });
  const noted = reads.get(page);
  if (noted === undefined) throw new Error("expectToBeLoaded needs a page of openBrowser");
  const now = Date.now();
  while (noted.open.size > 0 || Date.now() - Math.max(now, noted.changedAt) < NEXT_READ_MS) {
    if (Date.now() - now > STEP_MAX_MS) throw new Error(`No answer to ${[...noted.open].map((read) => read.url()).join(", ")}`);
    await setTimeout(50);
  }
  await page.locator(PLACEHOLDERS).first().waitFor({ state: "detached", timeout: STEP_MAX_MS });
}

/** Whether React has taken over every control of the page: it then has an entry for its properties in the element. */
function answersReaders(): boolean {
  const controls = document.querySelectorAll("main :is(button, input, select, textarea)");
  return [...controls].every((control) => Object.keys(control).some((key) => key.startsWith("__reactProps")));
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
