import { writeFileSync } from "node:fs";
import type { Reporter, SerializedError, TestModule } from "vitest/node";
import { MINUTE_MS } from "#lib/units";
import { SLOW_TAG } from "../../vitest.config";

const SLOWEST_COUNT = 10;

/** The variable that names the file to which the results go; without it, the run ends with its closing line. */
export const RESULTS_FILE = "SPOTWIRE_TEST_RESULTS";

/** Something of a file that failed: a test or a suite by its full name, or "" when the file could not run as a whole. */
export interface Failure {
  readonly file: string;
  readonly title: string;
}

/** What a run found. An error outside any file has none to run again. */
export interface Results {
  readonly passed: number;
  /** By file. */
  readonly passedIn: Readonly<Record<string, number>>;
  readonly skipped: number;
  readonly failures: readonly Failure[];
  readonly strayErrors: number;
}

/** When the first file of a lane started and the last one ended, and the time of all its files together; ms. */
interface Lane {
  startMs: number;
  endMs: number;
  workMs: number;
}

/** Anything that kept tests from running also counts as failed: a broken file or suite, an error outside any test. */
function resultsOf(modules: readonly TestModule[], strayErrors: number): Results {
  const failures: Failure[] = [];
  const passedIn: Record<string, number> = {};
  let skipped = 0;
  for (const module of modules) {
    const file = module.relativeModuleId;
    const fail = (title: string) => failures.push({ file, title });
    for (const _error of module.errors()) fail("");
    for (const suite of module.children.allSuites()) for (const _error of suite.errors()) fail(suite.fullName);
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "passed") passedIn[file] = (passedIn[file] ?? 0) + 1;
      else if (state === "failed") fail(test.fullName);
      // One that belongs to the other suite is not skipped.
      else if (!test.options.tags?.includes(SLOW_TAG)) skipped += 1;
    }
  }
  const passed = Object.values(passedIn).reduce((sum, count) => sum + count, 0);
  return { passed, passedIn, skipped, failures, strayErrors };
}

/** The very last line of a run. */
export const closingLine = (passed: number, failed: number, skipped: number) =>
  `${passed} passed, ${failed} failed, ${skipped} skipped\n`;

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
const minutes = (ms: number) => `${(ms / MINUTE_MS).toFixed(1)} min`;

/** Prints the slowest files and the minutes of each lane, then the closing line, or writes the results to `RESULTS_FILE`. */
export default class TotalReporter implements Reporter {
  readonly #startsMs = new Map<string, number>();
  readonly #timesMs = new Map<TestModule, number>();
  readonly #lanes = new Map<string, Lane>();

  onTestModuleQueued({ id }: TestModule): void {
    this.#startsMs.set(id, performance.now());
  }

  onTestModuleEnd(module: TestModule): void {
    const endMs = performance.now();
    const startMs = this.#startsMs.get(module.id) ?? endMs;
    const lane = this.#lanes.get(module.project.name) ?? { startMs, endMs, workMs: 0 };
    this.#timesMs.set(module, endMs - startMs);
    this.#lanes.set(module.project.name, { startMs: lane.startMs, endMs, workMs: lane.workMs + endMs - startMs });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const results = resultsOf(modules, unhandledErrors.length);
    const slowest = [...this.#timesMs].sort(([, a], [, b]) => b - a).slice(0, SLOWEST_COUNT);
    const lines = [
      "Slowest files:",
      ...slowest.map(([{ relativeModuleId }, ms]) => `  ${seconds(ms).padStart(8)}  ${relativeModuleId}`),
      "Lanes, from first start to last end, and the time of all workers:",
      ...[...this.#lanes].map(
        ([name, { startMs, endMs, workMs }]) => `  ${name}: ${minutes(endMs - startMs)}, ${minutes(workMs)} of work`,
      ),
    ];
    const file = process.env[RESULTS_FILE];
    if (file !== undefined) writeFileSync(file, JSON.stringify(results));
    // After everything the other reporters print.
    process.once("exit", (code) => {
      process.stdout.write(`${lines.join("\n")}\n\n`);
      const failed = results.failures.length + results.strayErrors;
      // A run can fail before its first test, when the shared setup does not start.
      if (file === undefined)
        process.stdout.write(closingLine(results.passed, code !== 0 ? Math.max(failed, 1) : failed, results.skipped));
    });
  }
}
