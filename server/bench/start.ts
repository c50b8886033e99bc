import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "#lib/clock";
import { operations } from "#lib/contract/operations";
import { startChild } from "./child";
import type { Effort } from "./load";
import { endedChildrenSeconds } from "./processor-time";
import { BUILT_SERVER } from "./product";
import { rounded, type Spread, spreadOf, spreadText } from "./spread";
import { type Row, ratioOf } from "./table";

const SECOND_MAX_S = 2;
const FIRST_MAX_S = 75;
const LOOK_INTERVAL_MS = 5;
const ANSWER_MAX_MS = 60_000;
const DEMO_KEY = /"demo_key":"(\w+)"/;
const QUOTES = `${operations.latestQuotes.path}?tickers=EURUSD`;
/** Made by an installation, or no part of it. */
const NOT_COPIED = new Set(["node_modules", ".next", ".git", ".data", "generated", "test-results"]);
const MS_PER_S = 1_000;

const within = (value: Spread, limit: number): Spread => ({
  median: value.median / limit,
  low: value.low / limit,
  high: value.high / limit,
});

interface Start {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** Starts the product of a folder until it answers a question for quotes with 200, and stops it. */
async function startOnce(dataDir: string, product = "."): Promise<Start> {
  const startMs = performance.now();
  const child = await startChild(BUILT_SERVER, { PORT: "0", HOST: "127.0.0.1", DATA_DIR: dataDir }, { cwd: product });
  try {
    const headers = { authorization: `Bearer ${DEMO_KEY.exec(child.output)?.[1]}` };
    for (;;) {
      const response = await fetch(child.url + QUOTES, { headers });
      const body = await response.text();
      if (response.status === 200) break;
      if (performance.now() - startMs > ANSWER_MAX_MS) throw new Error(`no quotes after a start: ${body}`);
      await systemClock.wait(LOOK_INTERVAL_MS);
    }
    return { seconds: (performance.now() - startMs) / MS_PER_S, cpuSeconds: child.cpuSeconds() };
  } finally {
    await child.stop();
  }
}

/** Measures a start on data that exist, until the first answer. */
export async function benchStart({ rounds }: Effort): Promise<Row[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  try {
    await startOnce(folder);
    const starts: Start[] = [];
    while (starts.length < rounds) starts.push(await startOnce(folder));
    const time = spreadOf(starts.map(({ seconds }) => seconds));
    const cpu = spreadOf(starts.map(({ cpuSeconds }) => cpuSeconds));
    return [
      {
        id: "start",
        what: "second start, until quotes are answered with 200",
        value: `${spreadText(time)} s, of which ${spreadText(cpu)} s of processor time`,
        ratio: ratioOf(within(time, SECOND_MAX_S), { target: 1, against: `${SECOND_MAX_S} s`, bound: "at most" }),
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(folder: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync("npm", args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"], encoding: "utf8" });
  if (status !== 0) throw new Error(`npm ${args.join(" ")} exited with ${status}\n${stderr.slice(-2_000)}`);
}

/** Measures a first installation in a copy of the sources, once, step by step: what `npm ci && npm start` does. */
export async function benchInstall(): Promise<Row[]> {
  process.stderr.write("  installing and building takes some minutes …\n");
  const folder = mkdtempSync(path.join(tmpdir(), "spotwire-bench-"));
  const product = path.join(folder, "product");
  const steps: string[] = [];
  let total = 0;
  const step = async (name: string, work: () => unknown) => {
    const [startMs, cpu] = [performance.now(), endedChildrenSeconds()];
    await work();
    const seconds = (performance.now() - startMs) / MS_PER_S;
    total += seconds;
    steps.push(`${name} ${rounded(seconds)} s (processor ${rounded(endedChildrenSeconds() - cpu)} s)`);
  };
  try {
    // Otherwise a link of the copy would point out of it, which the build refuses.
    const verbatimSymlinks = true;
    cpSync(".", product, { recursive: true, verbatimSymlinks, filter: (source) => !NOT_COPIED.has(path.basename(source)) });
    await step("`npm ci`", () => run(product, "ci", "--no-audit", "--no-fund"));
    await step("generate", () => run(product, "run", "generate"));
    await step("build", () => run(product, "run", "build"));
    await step("start to first 200", () => startOnce(path.join(folder, "data"), product));
    return [
      {
        id: "install",
        what: "first `npm ci && npm start`, until quotes are answered with 200",
        value: `${rounded(total)} s: ${steps.join(", ")}`,
        ratio: { value: total / FIRST_MAX_S, target: 1, against: `${FIRST_MAX_S} s`, bound: "at most" },
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
