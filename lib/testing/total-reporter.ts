import type { Reporter, SerializedError, TestModule } from "vitest/node";

interface Total {
  passed: number;
  failed: number;
  skipped: number;
}

/** Counts tests, and as failed also what kept tests from running: a file or suite that broke, an error outside of any test. */
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

/** Prints "N passed, N failed, N skipped" as the very last line of a run, after all that the others have to say. */
export default class TotalReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const { passed, failed, skipped } = count(modules, unhandledErrors.length);
    process.once("exit", (code) => {
      // A run can fail before its first test, when what the tests share does not start.
      const shown = code !== 0 && failed === 0 ? 1 : failed;
      process.stdout.write(`${passed} passed, ${shown} failed, ${skipped} skipped\n`);
    });
  }
}
