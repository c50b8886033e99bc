import { availableParallelism } from "node:os";
import { relative } from "node:path";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const UNIT = "{lib,server,prisma,app,components}/**/*.test.ts";
const E2E = "e2e/**/*.spec.ts";
/** Files that mostly wait (for a clock, a disk, a process that stops or starts), slowest first. */
const WAITING = [
  "e2e/faults/faults.spec.ts",
  "e2e/faults/restart.spec.ts",
  "e2e/faults/journal.spec.ts",
  "e2e/push.spec.ts",
  "e2e/lifecycle.spec.ts",
  "e2e/workers.spec.ts",
  "server/database/backup/refusals.test.ts",
  "server/database/embedded/embedded-postgres.test.ts",
  "server/database/backup/backup.test.ts",
  "server/database/database-away.test.ts",
  "server/database/database.test.ts",
  "server/database/backup/command.test.ts",
  "server/store/database/redis.test.ts",
];
/** Files that take long though they are short, slowest first. Without the times of an earlier run, Vitest goes by size. */
const SLOW = [
  "e2e/pages.spec.ts",
  "e2e/faults/side-by-side.spec.ts",
  "e2e/portal.spec.ts",
  "e2e/playground.spec.ts",
  "e2e/hostile/hostile.spec.ts",
  "e2e/hostile/storm.spec.ts",
  "e2e/admin.spec.ts",
  "e2e/firefox.spec.ts",
  "e2e/landing.spec.ts",
  "e2e/samples.spec.ts",
  "e2e/generators.spec.ts",
  "server/cli/build-client.test.ts",
];
const LANES = ["waiting", "e2e", "unit"];
/** So many files of the other lanes start between two that wait. */
const BETWEEN_WAITING_COUNT = 3;

/**
 * Starts the slowest files first, so that no worker is left with a long one at the end. Spreads the waiting files over the
 * end-to-end files: one waits while others work. The unit tests come last and together, because a worker keeps the modules
 * of one unit test for the next.
 */
class LaneSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = [...WAITING, ...SLOW].indexOf(relative(this.ctx.config.root, moduleId));
      return place === -1 ? Number.POSITIVE_INFINITY : place;
    };
    const sorted = (await super.sort(files)).sort((a, b) => Math.sign(rank(a) - rank(b)) || 0);
    const [waiting = [], e2e = [], unit = []] = LANES.map((lane) => sorted.filter(({ project }) => project.name === lane));
    const mixed = waiting.flatMap((file, index) => [
      file,
      ...e2e.slice(index * BETWEEN_WAITING_COUNT, (index + 1) * BETWEEN_WAITING_COUNT),
    ]);
    return [...mixed, ...e2e.slice(waiting.length * BETWEEN_WAITING_COUNT), ...unit];
  }
}

function lane(name: string, test: TestProjectInlineConfiguration["test"]): TestProjectInlineConfiguration {
  return {
    test: {
      name,
      environment: "node",
      setupFiles: ["lib/testing/lean-engine.ts", "lib/testing/quiet.ts", "lib/testing/patient.ts"],
      // No test asserts a time: these end one that waits for what never comes, on a machine several times slower than usual.
      testTimeout: 180_000,
      hookTimeout: 240_000,
      expect: { poll: { timeout: 60_000 } },
      pool: "forks",
      ...test,
    },
  };
}

export default defineConfig({
  test: {
    reporters: ["default", "./lib/testing/total-reporter.ts"],
    globalSetup: ["server/testing/memory-folder.ts", "server/testing/global-setup.ts", "e2e/global-setup.ts"],
    // Two more than there are cores: browsers, databases and whole clusters leave a core idle while they wait.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LaneSequencer },
    projects: [
      lane("waiting", { include: WAITING }),
      // These leave no state behind, so that the next file need not import everything again, nor open a browser.
      lane("e2e", { include: [E2E], exclude: WAITING, isolate: false }),
      lane("unit", { include: [UNIT], exclude: WAITING, isolate: false }),
    ],
  },
});
