import type { Reporter, SerializedError, TestModule } from "vitest/node";
import { MINUTE_MS } from "#lib/units";

const SLOWEST_COUNT = 10;

interface Total {
  passed: number;
  failed: number;
  skipped: number;
}

/** When the first file of a lane started and the last one ended, and the time of all its files together; ms. */
interface Lane {
  startMs: number;
  endMs: number;
  workMs: number;
}

/** Counts tests. Anything that kept tests from running also counts as failed: a broken file or suite, an error outside any test. */
function count(modules: readonly TestModule[], strayErrors: number): Total {
  const total: Total = { passed: 0, failed: strayErrors, skipped: 0 };
  for (const module of modules) {
    total.failed += module.errors().length;
    for (const suite of module.children.allSuites()) total.failed += suite.errors().length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "pending") total.skipped += 1;
      else total[state] += 1;
    }
  }
  return total;
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
const minutes = (ms: number) => `${(ms / MINUTE_MS).toFixed(1)} min`;

/** Prints the slowest files, the minutes of each lane, and as the very last line of a run "N passed, N failed, N skipped". */
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
    const { passed, failed, skipped } = count(modules, unhandledErrors.length);
    const slowest = [...this.#timesMs].sort(([, a], [, b]) => b - a).slice(0, SLOWEST_COUNT);
    const lines = [
      "Slowest files:",
      ...slowest.map(([{ relativeModuleId }, ms]) => `  ${seconds(ms).padStart(8)}  ${relativeModuleId}`),
      "Lanes, from first start to last end, and the time of all workers:",
      ...[...this.#lanes].map(
        ([name, { startMs, endMs, workMs }]) => `  ${name}: ${minutes(endMs - startMs)}, ${minutes(workMs)} of work`,
      ),
    ];
    // After everything the other reporters print.
    process.once("exit", (code) => {
      // A run can fail before its first test, when the shared setup does not start.
      const shown = code !== 0 && failed === 0 ? 1 : failed;
      process.stdout.write(`${lines.join("\n")}\n\n${passed} passed, ${shown} failed, ${skipped} skipped\n`);
    });
  }
}
