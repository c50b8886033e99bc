import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BROWSER_TIMEOUT_MS, openBrowser } from "./browser";
import { type Product, SERVER_TIMEOUT_MS, startProduct } from "./server";

const RUN_MAX_MS = 30_000;
const STEP_MAX_MS = 15_000;
const OPERATIONS = ["klines", "instruments", "latestQuotes", "latestSnapshots", "marketStatus"] as const;
const STREAMS = ["quoteStream", "klineStream", "snapshotStream"] as const;

/** A command that takes a file; it is there when it can tell its version. */
interface Tool {
  readonly file: string;
  readonly command: readonly [string, ...string[]];
  readonly version: readonly [string, ...string[]];
}

/** Languages, by the names that readers choose, whose samples are run, those that every machine of this project has first. */
const RUN: Readonly<Record<string, Tool>> = {
  curl: { file: "call.sh", command: ["sh"], version: ["curl", "--version"] },
  TypeScript: { file: "call.mts", command: [process.execPath, "--import", "tsx"], version: [process.execPath, "--version"] },
  Python: { file: "call.py", command: ["python3"], version: ["python3", "--version"] },
  Java: { file: "Main.java", command: ["java"], version: ["java", "--version"] },
  Go: { file: "main.go", command: ["go", "run"], version: ["go", "version"] },
  PHP: { file: "call.php", command: ["php"], version: ["php", "--version"] },
};
/** Languages that are read by a parser of their own; running them takes packages from elsewhere. */
const PARSED: Readonly<Record<string, Tool>> = {
  Rust: { file: "main.rs", command: ["rustfmt", "--edition", "2021", "--emit", "stdout"], version: ["rustfmt", "--version"] },
};
const STREAMED: Readonly<Record<string, Tool>> = {
  Node: { file: "", command: [process.execPath, "--input-type=module", "--eval"], version: [process.execPath, "--version"] },
  "Socket.IO": {
    file: "",
    command: [process.execPath, "--input-type=module", "--eval"],
    version: [process.execPath, "--version"],
  },
  Python: { file: "", command: ["python3", "-c"], version: ["python3", "-c", "import websockets.asyncio.client"] },
  wscat: { file: "", command: ["sh", "-c"], version: ["wscat", "--version"] },
};

const isHere = ({ version: [command, ...args] }: Tool) => spawnSync(command, args, { stdio: "ignore" }).status === 0;
const pairsOf = (tools: Readonly<Record<string, Tool>>, operations: readonly string[]) =>
  Object.entries(tools).flatMap(([language, tool]) => operations.map((operation) => ({ language, operation, tool })));

let product: Product;
let browser: Browser;
let page: Page;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spotwire samples "));
  [product, browser] = await Promise.all([startProduct(), openBrowser()]);
  page = await browser.newPage();
  page.setDefaultTimeout(STEP_MAX_MS);
}, BROWSER_TIMEOUT_MS + SERVER_TIMEOUT_MS);

afterAll(async () => {
  await browser?.close();
  await product?.dispose();
  await rm(folder, { recursive: true, force: true });
}, SERVER_TIMEOUT_MS);

/** The code that the playground shows to a reader without an account. */
async function codeOf(operation: string, language: string): Promise<string> {
  const path = operation === "klines" ? "klines&ticker=EURUSD&timeframe=H1&limit=3" : operation;
  await page.goto(`${product.baseUrl}/playground?op=${path}`, { waitUntil: "networkidle" });
  const code = page.getByRole("region", { name: "Code" });
  await code.getByLabel("Language").selectOption(language);
  return (await code.locator("pre").textContent()) ?? "";
}

/** Runs a command to its end; what it printed, or an error with what it complained of. */
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

/** Resolves once the child has printed a line that fits; it is ended then. */
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

describe("a sample, as the playground shows it", () => {
  for (const { language, operation, tool } of pairsOf(RUN, OPERATIONS))
    test.runIf(isHere(tool))(`of ${operation} in ${language} prints what the service answers`, async () => {
      const file = join(folder, tool.file);
      await writeFile(file, await codeOf(operation, language));
      const [command, ...args] = tool.command;
      const printed = JSON.parse(await run(command, [...args, file])) as { items?: object[]; data?: { items: object[] } };
      const { items } = printed.data ?? { items: printed.items ?? [] };
      expect(items.length).toBeGreaterThan(0);
    });

  for (const { language, operation, tool } of pairsOf(PARSED, ["klines"]))
    test.runIf(isHere(tool))(`of ${operation} in ${language} is well formed`, async () => {
      const file = join(folder, tool.file);
      const code = await codeOf(operation, language);
      await writeFile(file, code);
      const [command, ...args] = tool.command;
      expect(await run(command, [...args, file])).toContain(code.slice(0, code.indexOf("(")));
    });

  for (const { language, operation, tool } of pairsOf(STREAMED, STREAMS))
    test.runIf(isHere(tool))(`of ${operation} in ${language} is told the records`, async () => {
      const [command, ...args] = tool.command;
      const child = spawn(command, [...args, await codeOf(operation, language)], { timeout: RUN_MAX_MS });
      const type = operation.replace("Stream", "");
      expect(await lineOf(child, new RegExp(`"type":"${type}","event":"update"`))).toContain("EURUSD");
    });
});
