import { availableParallelism } from "node:os";
import { relative } from "node:path";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const UNIT = "{lib,server,prisma,app,components}/**/*.test.ts";
const E2E = "e2e/**/*.spec.ts";
/** The lanes that `npm test` runs, and the one of the slow tests. */
export const QUICK_LANES = ["waiting", "e2e", "unit"];
export const SLOW_LANE = "slow";
/** Marks the tests of the quick lanes that `npm test` leaves out. */
export const SLOW_TAG = "slow";

/**
 * The slow tests, and the folders and files whose change can break each. `npm run test:all` runs all of them, with `--changed` those that a
 * change touches. Everything else is in `npm test`.
 */
export const SLOW_TESTS: Readonly<Record<string, readonly string[]>> = {
  "e2e/accounts.spec.ts": ["app/admin/", "components/admin/", "lib/contract/", "server/pages/"],
  "e2e/admin.spec.ts": ["app/admin/", "components/", "lib/contract/", "server/pages/"],
  "e2e/bench.spec.ts": ["server/bench/", "lib/contract/", "server/hub/", "server/http/"],
  "e2e/billing.spec.ts": ["app/admin/", "server/pages/", "server/store/usage/", "server/jobs/"],
  "e2e/brand.spec.ts": ["app/", "components/", "lib/brand", "lib/env-brand", "lib/docs/", "lib/mail/"],
  "e2e/charts.spec.ts": ["components/chart/", "components/markets/", "app/markets/"],
  "e2e/csv.spec.ts": ["lib/http/", "lib/contract/csv", "lib/docs/guides/csv"],
  "e2e/customers.spec.ts": ["app/", "components/", "server/pages/"],
  "e2e/data.spec.ts": ["app/admin/", "app/data/", "components/", "server/import/", "server/store/"],
  "e2e/dialogs.spec.ts": ["components/", "app/"],
  "e2e/docs.spec.ts": ["lib/docs/", "components/docs/", "app/docs/"],
  "e2e/faults/": ["server/", "lib/client/", "lib/access/", "prisma/"],
  "e2e/firefox.spec.ts": ["components/", "app/", "lib/client/"],
  "e2e/forms.spec.ts": ["components/", "lib/contract/"],
  "e2e/generators.spec.ts": ["lib/docs/", "lib/contract/", "lib/operations/"],
  "e2e/guides.spec.ts": ["lib/docs/guides/", "lib/client/"],
  "e2e/hostile/": ["server/", "lib/http/", "lib/access/"],
  "e2e/landing.spec.ts": ["app/", "components/", "lib/client/"],
  "e2e/lifecycle.spec.ts": ["server/", "prisma/"],
  "e2e/mcp-sign-in.spec.ts": ["lib/mcp/", "lib/access/", "server/pages/", "app/"],
  "e2e/monitoring.spec.ts": ["server/ops/", "lib/metrics", "lib/spans"],
  "e2e/operators.spec.ts": ["app/admin/", "components/admin/", "server/pages/", "server/import/"],
  "e2e/organisation.spec.ts": ["app/", "components/", "server/pages/"],
  "e2e/origins.spec.ts": ["lib/http/", "lib/mcp/", "server/socket/"],
  "e2e/pages.spec.ts": ["app/", "components/", "lib/docs/"],
  "e2e/proxies.spec.ts": ["server/http/", "server/socket/", "lib/docs/guides/", "server/deploy/"],
  "e2e/python/": ["lib/client-python/", "lib/contract/", "lib/operations/", "server/socket/"],
  "e2e/repair.spec.ts": ["server/feed/", "server/engine/", "server/store/"],
  "e2e/samples.spec.ts": ["lib/docs/samples/", "lib/contract/", "lib/operations/"],
  "e2e/stream-browser.spec.ts": ["lib/client/", "server/socket/"],
  "e2e/systemd.spec.ts": ["server/deploy/systemd/", "lib/docs/guides/"],
  "e2e/tickets.spec.ts": ["lib/client/", "server/socket/", "lib/docs/guides/"],
  "e2e/venues.spec.ts": ["app/", "components/", "server/ops/"],
  "e2e/workers.spec.ts": ["server/"],
  "e2e/zones.spec.ts": ["app/", "components/"],
  "lib/docs/linters.test.ts": ["lib/docs/", "lib/contract/", "lib/operations/"],
  "lib/operations/marketSummary/questions.test.ts": ["lib/operations/marketSummary/", "lib/market/", "lib/domain/"],
  "prisma/side-by-side.test.ts": ["prisma/"],
  "server/cli/build-client.test.ts": ["lib/client/", "server/cli/", "package.json"],
  "server/database/backup/": ["server/database/", "prisma/", "server/store/"],
  "server/database/database-away.test.ts": ["server/database/", "server/store/database/", "server/http/"],
  "server/database/embedded/": ["server/database/"],
  "server/database/database.test.ts": ["server/database/", "server/store/database/"],
  "server/database/pooler.test.ts": ["server/database/", "server/store/database/", "prisma/"],
  "server/database/start-up.test.ts": ["server/database/", "prisma/"],
  "server/deploy/": ["server/deploy/", "lib/env", "lib/metrics", "server/ops/"],
  "server/feed/upstream/fix/quickfix.test.ts": ["server/feed/upstream/"],
  "server/feed/sandbox/files.test.ts": ["server/feed/sandbox/", "server/store/files/"],
  "server/feeders/mt5/advisor.test.ts": ["server/feeders/", "lib/operations/", "server/market/"],
  "server/import/golden.test.ts": ["server/import/", "lib/domain/"],
  "server/import/longer.test.ts": ["server/import/", "lib/domain/"],
  "server/jobs/backups.test.ts": ["server/jobs/", "server/database/"],
  "server/processes/json-output.test.ts": ["server/"],
  "server/socket/pressure.test.ts": ["server/socket/", "server/hub/", "server/http/"],
};

/** The commands of package.json that are slow tests, and what can break them. */
export const SLOW_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  "bench:smoke": ["server/", "lib/"],
  "test:image": ["Dockerfile", ".dockerignore", "package", "server/cli/", "e2e/image/"],
};

/**
 * The names in a table of which a place has changed; all without a list of changed files.
 * @param changed paths of files; a place is the beginning of one
 */
export function touchedBy(changed: readonly string[] | undefined, table: Readonly<Record<string, readonly string[]>>): string[] {
  return Object.entries(table)
    .filter(([name, places]) => changed?.some((path) => [name, ...places].some((place) => path.startsWith(place))) ?? true)
    .map(([name]) => name);
}

/** The slow tests as patterns of files. */
const SLOW_PATTERNS = Object.keys(SLOW_TESTS).map((place) => (place.endsWith("/") ? `${place}**/*.{test,spec}.ts` : place));

/** Files that mostly wait (for a clock, a disk, a process that stops or starts), slowest first. */
const WAITING = ["e2e/push.spec.ts", "server/store/database/redis.test.ts"];
/** Files that take long though they are short, slowest first. Without the times of an earlier run, Vitest goes by size. */
const SLOW_FIRST = [
  "e2e/pages.spec.ts",
  "e2e/faults/faults.spec.ts",
  "e2e/faults/side-by-side.spec.ts",
  "e2e/faults/restart.spec.ts",
  "e2e/portal.spec.ts",
  "e2e/playground.spec.ts",
  "e2e/hostile/hostile.spec.ts",
  "e2e/hostile/storm.spec.ts",
  "e2e/admin.spec.ts",
];
const LANES = [...QUICK_LANES, SLOW_LANE];
/** Names files that a run leaves out, because what they need cannot be had. */
export const LEFT_OUT = "SPOTWIRE_TEST_LEFT_OUT";
const leftOut = process.env[LEFT_OUT]?.split(",").filter(Boolean) ?? [];
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
      const place = [...WAITING, ...SLOW_FIRST].indexOf(relative(this.ctx.config.root, moduleId));
      return place === -1 ? Number.POSITIVE_INFINITY : place;
    };
    const sorted = (await super.sort(files)).sort((a, b) => Math.sign(rank(a) - rank(b)) || 0);
    const [waiting = [], e2e = [], unit = [], slow = []] = LANES.map((lane) =>
      sorted.filter(({ project }) => project.name === lane),
    );
    const mixed = waiting.flatMap((file, index) => [
      file,
      ...e2e.slice(index * BETWEEN_WAITING_COUNT, (index + 1) * BETWEEN_WAITING_COUNT),
    ]);
    return [...mixed, ...e2e.slice(waiting.length * BETWEEN_WAITING_COUNT), ...unit, ...slow];
  }
}

function lane(name: string, test: TestProjectInlineConfiguration["test"]): TestProjectInlineConfiguration {
  return {
    test: {
      name,
      environment: "node",
      setupFiles: ["lib/testing/lean-engine.ts", "lib/testing/quiet.ts", "lib/testing/patient.ts", "lib/testing/seed.ts"],
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
    globalSetup: [
      "lib/testing/leftovers.ts",
      "server/testing/memory-folder.ts",
      "server/testing/global-setup.ts",
      "e2e/global-setup.ts",
    ],
    // Two more than there are cores: browsers, databases and whole clusters leave a core idle while they wait.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LaneSequencer },
    // A slow test of a file whose others are in `npm test`.
    tags: [{ name: SLOW_TAG }],
    projects: [
      lane("waiting", { include: WAITING }),
      // These leave no state behind, so that the next file need not import everything again, nor open a browser.
      lane("e2e", { include: [E2E], exclude: [...WAITING, ...SLOW_PATTERNS, ...leftOut], isolate: false }),
      lane("unit", { include: [UNIT], exclude: [...WAITING, ...SLOW_PATTERNS], isolate: false }),
      lane(SLOW_LANE, { include: SLOW_PATTERNS, exclude: leftOut, isolate: false }),
    ],
  },
});
