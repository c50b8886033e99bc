import { expect, test } from "vitest";
import type { HealthReport } from "#lib/contract/portal-health";
import { ratesOf } from "./rates";

const report = (process: string, at_ms: number, calls: number, taken: number) =>
  ({
    node: { process, at_ms, calls, rejected: 0, failed: 0, messages: 0 },
    venues: [{ venue: "live", taken }],
  }) as unknown as HealthReport;

test("counters of the same process become rates per minute", () => {
  expect(ratesOf(report("1", 0, 100, 10), report("1", 30_000, 150, 40))).toMatchObject({
    calls: 100,
    failed: 0,
    ticks: { live: 60 },
  });
});

test("there are no rates before the second report, and none across a restart", () => {
  expect(ratesOf(undefined, report("1", 0, 1, 1))).toBeUndefined();
  expect(ratesOf(report("1", 0, 100, 10), report("2", 5_000, 3, 1))).toBeUndefined();
  expect(ratesOf(report("1", 0, 100, 10), report("1", 0, 100, 10))).toBeUndefined();
});
