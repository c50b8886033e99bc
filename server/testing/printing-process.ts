import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { createLog } from "#lib/log";
import { keepJsonOutput, logStderr } from "#server/processes/json-output";

/** Runs as a separate process, for tests of its output: prints in the way that its argument names. */

const log = createLog("debug");
const HEAP_MIB = 24;
/** As packages use it. */
const printer = globalThis.console;

function exhaustMemory(): void {
  const kept: unknown[] = [];
  for (;;) kept.push(new Array(10_000).fill(kept.length));
}

const WAYS: Readonly<Record<string, () => unknown>> = {
  object: () => printer.error("⨯", { rows: Array.from({ length: 200 }, (_, index) => `row ${index}`) }),
  error: () => printer.error(new Error("of a page")),
  progress: () => printer.log("\x1b[32m✓\x1b[39m Running next.config.ts"),
  stream: () => process.stderr.write("one\ntwo\n"),
  warning: () => process.emitWarning("old", "DeprecationWarning"),
  thread: () => new Worker("console.error('from a thread\\nof two lines')", { eval: true }),
  thrown: () => setTimeout(() => JSON.parse("{"), 0),
  rejected: () => void Promise.reject(new TypeError("of a promise")),
  exhausted: exhaustMemory,
  child() {
    const execArgv = [...process.execArgv, `--max-old-space-size=${HEAP_MIB}`];
    const child = fork(fileURLToPath(import.meta.url), ["exhausted"], {
      execArgv,
      stdio: ["ignore", "inherit", "pipe", "ipc"],
    });
    logStderr(child.stderr, log.child({ process: "child" }));
  },
};

keepJsonOutput(log);
const way = WAYS[process.argv[2] ?? ""];
if (way === undefined) throw new Error("no such way");
way();
