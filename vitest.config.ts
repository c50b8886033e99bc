import { defineConfig } from "vitest/config";
import { LongestFirst } from "./lib/testing/longest-first";

export default defineConfig({
  test: {
    environment: "node",
    reporters: ["default", "./lib/testing/total-reporter.ts"],
    setupFiles: ["lib/testing/quiet.ts"],
    globalSetup: ["lib/testing/global-setup.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: "forks",
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    include: ["{lib,server,prisma,app}/**/*.test.ts", "e2e/**/*.spec.ts"],
  },
});
