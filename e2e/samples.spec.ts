import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findOnPath, missing } from "#lib/testing/packages";
import { BROWSER_TIMEOUT_MS, borrowBrowser, openPage, returnBrowser } from "./browser";
import { makeKey } from "./commands";
import { BUILD_TIMEOUT_MS, type Program, SEPARATOR, startProgram, TOOLCHAINS } from "./sample-programs";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

const RUN_MAX_MS = 180_000;
const OPERATIONS = [
  "klines",
  "marketSummary",
  "instruments",
  "latestQuotes",
  "latestSnapshots",
  "conversion",
  "marketStatus",
  "marketHours",
] as const;
const STREAMS = ["quoteStream", "klineStream", "snapshotStream"] as const;

/** A command that takes a file; it is available when it can print its version. */
interface Tool {
  readonly file: string;
  readonly command: readonly [string, ...string[]];
  readonly version: readonly [string, ...string[]];
  /** A program in the language that runs all given files and prints SEPARATOR after each: one start, one compiler. */
  readonly runner?: { readonly file: string; readonly code: string };
}

const RUNNERS = {
  TypeScript: `import { pathToFileURL } from "node:url";
for (const file of process.argv.slice(2)) {
  await import(pathToFileURL(file).href);
  console.log("${SEPARATOR}");
}`,
  Python: `import runpy, sys
for file in sys.argv[1:]:
    runpy.run_path(file, run_name="__main__")
    print("${SEPARATOR}", flush=True)`,
} as const;

/** Languages, by the names readers choose, whose samples run; first those that every machine of this project has. */
const RUN: Readonly<Record<string, Tool>> = {
  curl: { file: "call.sh", command: ["sh"], version: ["curl", "--version"] },
  TypeScript: {
    file: "call.mts",
    command: [process.execPath, "--import", import.meta.resolve("tsx")],
    version: [process.execPath, "--version"],
    runner: { file: "runner.mts", code: RUNNERS.TypeScript },
  },
  Python: {
    file: "call.py",
    command: ["python3"],
    version: ["python3", "--version"],
    runner: { file: "runner.py", code: RUNNERS.Python },
  },
};
/** Languages whose stream samples are only parsed where their library cannot be had. */
const PARSED: Readonly<Record<string, readonly [string, ...string[]]>> = {
  Rust: ["rustfmt", "--edition", "2021"],
  PHP: ["php", "--syntax-check"],
};
const STREAMED: Readonly<Record<string, Tool>> = {
  Node: { file: "", command: [process.execPath, "--input-type=module", "--eval"], version: [process.execPath, "--version"] },
  "Socket.IO": {
    file: "",
    command: [process.execPath, "--input-type=module", "--eval"],
    version: [process.execPath, "--version"],
  },
  Python: { file: "", command: ["python3", "-c"], version: ["python3", "-c", "import websockets"] },
  wscat: { file: "", command: ["sh", "-c"], version: ["wscat", "--version"] },
};

const isHere = ({ version: [command, ...args] }: Tool) => spawnSync(command, args, { stdio: "ignore" }).status === 0;
const pairsOf = <Operation extends string>(tools: Readonly<Record<string, Tool>>, operations: readonly Operation[]) =>
  Object.entries(tools).flatMap(([language, tool]) => operations.map((operation) => ({ language, operation, tool })));

let product: Product;
let browser: Browser;
let folder: string;
let key: string;
/** The code that the playground shows without an account, by operation and language. */
const codes = new Map<string, string>();

/** Reads the code of an operation in every language, from one page. */
async function readCodes(page: Page, operation: string, languages: readonly string[]): Promise<void> {
  const path = operation === "klines" ? "klines&ticker=EURUSD&timeframe=H1&limit=3" : operation;
  await openPage(page, `${product.baseUrl}/playground?op=${path}`);
  const code = page.getByRole("region", { name: "Code" });
  for (const language of languages) {
    await code.getByLabel("Language").selectOption(language);
    codes.set(`${operation} ${language}`, (await code.locator("pre").textContent()) ?? "");
  }
}

function codeOf(operation: string, language: string): string {
  const code = codes.get(`${operation} ${language}`);
  if (code === undefined) throw new Error(`The playground was not read for ${operation} in ${language}.`);
  return code;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spotwire samples "));
  [product, browser] = await Promise.all([startProduct(), borrowBrowser()]);
  key = (await makeKey(product, { venue: "sandbox", scopes: "market:read,market:stream" })).text;
  const page = await browser.newPage();
  for (const operation of OPERATIONS) await readCodes(page, operation, Object.keys({ ...RUN, ...TOOLCHAINS }));
  for (const operation of STREAMS) await readCodes(page, operation, Object.keys({ ...STREAMED, ...TOOLCHAINS }));
  await page.close();
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await returnBrowser(browser);
  await product?.dispose();
  await rm(folder, { recursive: true, force: true });
}, SERVER_TIMEOUT_MS);

/** Runs a command to its end and returns its output. @throws Error with its error output */
function run(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { timeout: RUN_MAX_MS, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let complaint = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    child.stderr.on("data", (chunk) => {
      complaint += chunk;
    });
    child.on("error", reject);
    child.on("close", (status) => (status === 0 ? resolve(output) : reject(new Error(`${command}: ${status}\n${complaint}`))));
  });
}

/** The sample of an operation, with a key whose limits allow the calls of all languages at once. */
const keyed = (operation: string, language: string) => codeOf(operation, language).replaceAll(product.demoKey ?? "", key);

/** Writes the sample of an operation to its own directory. */
async function writeSample(operation: string, language: string, { file }: Pick<Tool, "file">): Promise<string> {
  const home = join(folder, language, operation);
  await mkdir(home, { recursive: true });
  await writeFile(join(home, file), keyed(operation, language));
  return join(home, file);
}

/** The output of each sample of a language, in the order of OPERATIONS; the first call runs them. */
const outputs = new Map<string, Promise<string[]>>();
function outputsOf(language: string, tool: Tool): Promise<string[]> {
  const running = outputs.get(language) ?? runSamples(language, tool);
  outputs.set(language, running);
  return running;
}

async function runSamples(language: string, tool: Tool): Promise<string[]> {
  const files = await Promise.all(OPERATIONS.map((operation) => writeSample(operation, language, tool)));
  const [command, ...args] = tool.command;
  if (tool.runner === undefined) return Promise.all(files.map((file) => run(command, [...args, file])));
  const runner = join(folder, language, tool.runner.file);
  await writeFile(runner, tool.runner.code);
  return (await run(command, [...args, runner, ...files])).split(`${SEPARATOR}\n`);
}

/** Resolves once the child has printed a matching line, and stops it. */
function lineOf(child: ChildProcess, wanted: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      if (!wanted.test(output)) return;
      child.kill();
      resolve(output);
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.on("error", reject);
    child.on("close", (status) => reject(new Error(`It ended with ${status}:\n${output}`)));
  });
}

interface Lists {
  readonly items?: object[];
  readonly sessions?: object[];
}

/** Expects what a sample of a call prints to be an answer with items, or with sessions. */
function expectItems(output: string | undefined): void {
  const printed = JSON.parse(output ?? "") as Lists & { data?: Lists };
  const { items, sessions = [] } = printed.data ?? printed;
  expect((items ?? sessions).length).toBeGreaterThan(0);
}

/** Whether an update of a stream is among what a sample has printed. */
const hasUpdate = (output: string, operation: string) =>
  new RegExp(`"type":"${operation.replace("Stream", "")}","event":"update".*EURUSD`).test(output);

for (const { language, operation, tool } of pairsOf(RUN, OPERATIONS))
  test.runIf(isHere(tool))(`the playground's ${language} sample of ${operation} prints the service's answer`, async () => {
    expectItems((await outputsOf(language, tool))[OPERATIONS.indexOf(operation)]);
  });

describe.each(Object.entries(TOOLCHAINS))("the playground's samples in %s", (language, toolchain) => {
  let program: Program | undefined;
  let absent: string | null = null;
  let streamless: string | null = null;

  beforeAll(async () => {
    absent = missing(...toolchain.packages);
    if (absent !== null) return;
    streamless = (await toolchain.streamless?.()) ?? null;
    const samplesOf = (all: readonly string[]) => Object.fromEntries(all.map((one) => [one, keyed(one, language)]));
    const sources = { calls: samplesOf(OPERATIONS), streams: samplesOf(streamless === null ? STREAMS : []) };
    program = startProgram(await toolchain.build(join(folder, `${language} samples`), sources));
  }, BUILD_TIMEOUT_MS);
  afterAll(() => program?.stop());

  for (const [index, operation] of OPERATIONS.entries())
    test(`the one of ${operation} prints the service's answer`, async ({ skip }) => {
      skip(program === undefined, absent ?? "");
      const answersOf = (output: string) => output.split(`${SEPARATOR}\n`);
      expectItems(answersOf((await program?.until((output) => answersOf(output).length > index + 1)) ?? "")[index]);
    });

  for (const operation of STREAMS)
    test(`the one of ${operation} receives records`, async ({ skip }) => {
      skip(program === undefined, absent ?? "");
      skip(streamless !== null, `Its library cannot be had: ${streamless}`);
      await program?.until((output) => hasUpdate(output, operation));
    });
});

for (const [language, [command, ...args]] of Object.entries(PARSED))
  test(`the playground's ${language} samples of streams parse`, async ({ skip }) => {
    skip(findOnPath([command]) === undefined, `${command} is not installed`);
    const files = await Promise.all(STREAMS.map((operation) => writeSample(operation, language, { file: "main" })));
    for (const file of files) await run(command, [...args, file]);
  });

for (const { language, operation, tool } of pairsOf(STREAMED, STREAMS))
  test.runIf(isHere(tool))(`the playground's ${language} sample of ${operation} receives records`, async () => {
    const [command, ...args] = tool.command;
    const child = spawn(command, [...args, codeOf(operation, language)], { timeout: RUN_MAX_MS });
    const type = operation.replace("Stream", "");
    expect(await lineOf(child, new RegExp(`"type":"${type}","event":"update"`))).toContain("EURUSD");
  });
