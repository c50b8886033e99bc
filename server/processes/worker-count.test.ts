import { mkdtempSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { readEnv } from "#server/env";
import { poolShares } from "./pool-shares";
import { availableCores, coresOfQuota, workerCount } from "./worker-count";

const REDIS = { DATABASE_URL: "postgresql://u:p@db/spotwire", REDIS_URL: "redis://redis" };
const count = (variables: Record<string, string>, cores: number) => workerCount(readEnv(variables), cores);

test.each<[cores: number, workers: number]>([
  [1, 1],
  [2, 1],
  [3, 1],
  [4, 2],
  [16, 14],
  [256, 64],
])("by default a node with %i cores keeps one for the market and one for the pages: %i edge workers", (cores, workers) => {
  expect(count({}, cores)).toBe(workers);
});

test.each<[variables: Record<string, string>, workers: number]>([
  [{ WORKERS: "5" }, 5],
  [{ WORKERS: "1" }, 1],
  [{ PORTAL: "off" }, 7],
  [{ NODE_ENV: "development" }, 1],
  [REDIS, 1],
  [{ ...REDIS, ROLE: "ingest" }, 1],
  [{ DATABASE_POOL_SIZE: "10" }, 3],
  [{ DATABASE_POOL_SIZE: "2" }, 1],
])("on 8 cores %j makes %i edge workers", (variables, workers) => {
  expect(count(variables, 8)).toBe(workers);
});

test.each([
  [{ WORKERS: "0" }, "`WORKERS` must be at least 1."],
  [{ WORKERS: "65" }, "`WORKERS` must be at most 64."],
  [{ WORKERS: "2.5" }, "`WORKERS` must be auto, or a whole number from 1 to 64."],
  [{ WORKERS: "all" }, "`WORKERS` must be auto, or a whole number from 1 to 64."],
  [{ ...REDIS, WORKERS: "2" }, "`WORKERS` must be 1 with REDIS_URL"],
  [{ WORKERS: "4", DATABASE_POOL_SIZE: "11" }, "`DATABASE_POOL_SIZE` must be at least 12 with WORKERS=4."],
])("%j is refused with what is allowed", (variables, message) => {
  expect(() => readEnv(variables)).toThrow(message);
});

test("the connections of all processes together stay within DATABASE_POOL_SIZE, and each process has two at least", () => {
  for (const PORTAL of ["on", "off"] as const)
    for (let workers = 1; workers <= 64; workers += 1)
      for (const DATABASE_POOL_SIZE of [undefined, 2, 10, 12, 33, 133, 200]) {
        const processes = (workers > 1 ? workers : 0) + 1 + (PORTAL === "on" ? 1 : 0);
        if ((DATABASE_POOL_SIZE ?? 2 * processes) < 2 * processes) continue;
        const { market, portal, worker } = poolShares({ PORTAL, ROLE: "all", DATABASE_POOL_SIZE }, workers);
        expect(market).toBeGreaterThanOrEqual(2);
        if (PORTAL === "on") expect(portal).toBeGreaterThanOrEqual(2);
        if (workers > 1) expect(worker).toBeGreaterThanOrEqual(2);
        const all = market + portal + (workers > 1 ? workers * worker : 0);
        expect(all).toBeLessThanOrEqual(DATABASE_POOL_SIZE ?? 10 + 2 * workers);
      }
});

test("the quota of a container counts, not the cores of its machine", () => {
  expect(coresOfQuota("250000 100000\n")).toBe(2.5);
  expect(coresOfQuota("max 100000\n")).toBe(Number.POSITIVE_INFINITY);
  expect(coresOfQuota("")).toBe(Number.POSITIVE_INFINITY);
  const file = path.join(mkdtempSync(path.join(tmpdir(), "spotwire-quota-")), "cpu.max");
  writeFileSync(file, "50000 100000\n");
  expect(availableCores(file)).toBe(1);
  writeFileSync(file, "max 100000\n");
  expect(availableCores(file)).toBe(availableParallelism());
  expect(availableCores(path.join(file, "nowhere"))).toBe(availableParallelism());
});
