import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take minutes though they are short; without a run before, a sequencer goes by the size of files. */
const LONG = ["e2e/faults/faults.spec.ts", "e2e/accessibility.spec.ts", "e2e/portal.spec.ts"];

/** Begins with what takes longest, so that in the end no worker waits for the other. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONG.some((file) => moduleId.endsWith(file));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    environment: "node",
    reporters: ["default", "./lib/testing/total-reporter.ts"],
    setupFiles: ["lib/testing/quiet.ts"],
    globalSetup: ["server/testing/global-setup.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: "forks",
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    include: ["{lib,server,prisma,app,components}/**/*.test.ts", "e2e/**/*.spec.ts"],
  },
});
