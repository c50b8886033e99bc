import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Clock, manualClock } from "#lib/clock";
import { bucketStoreSuite } from "#lib/testing/bucket-store-suite";
import { type Bucket, take } from "./bucket";
import { createBankLender, createBucketBank } from "./bucket-bank";
import { createLeasedBuckets } from "./leased-buckets";

const START = 1_767_225_600_000;
const LIMITS = { restPerMinute: 60, restBurst: 20 };

/** A bank, and processes that lease from it; a call passes as JSON, and its answer comes in a later turn. */
function open(clock: Clock, count: number) {
  const bank = createBucketBank(clock);
  let calls = 0;
  const lender = createBankLender(clock, async (key, call) => {
    calls += 1;
    return JSON.parse(JSON.stringify(bank.lend(key, JSON.parse(JSON.stringify(call)))));
  });
  const workers = Array.from({ length: count }, () => createLeasedBuckets({ lender, clock }));
  return { bank, workers, calls: () => calls };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

bucketStoreSuite("of the bank", (clock) => createBucketBank(clock));
bucketStoreSuite("leased from the bank", (clock) => open(clock, 1).workers[0] as never);

describe("buckets of the market process, leased by its edge workers", () => {
  test("never allow more than one bucket would, for any sequence of requests to any process", async () => {
    const request = fc.record({ at: fc.nat(4), cost: fc.integer({ min: 0, max: 5 }) });
    const step = fc.record({
      afterMs: fc.oneof(fc.nat(300), fc.nat(3_000), fc.nat(70_000)),
      requests: fc.array(request, { maxLength: 12 }),
      sweeps: fc.boolean(),
    });
    const limits = fc.record({ restPerMinute: fc.integer({ min: 5, max: 200 }), restBurst: fc.integer({ min: 5, max: 60 }) });
    await fc.assert(
      fc.asyncProperty(limits, fc.array(step, { minLength: 5, maxLength: 25 }), async (limit, steps) => {
        const clock = manualClock(START);
        const { bank, workers } = open(clock, 4);
        let oracle: Bucket | undefined;
        let passed = 0;
        for (const { afterMs, requests, sweeps } of steps) {
          clock.set(clock.now() + afterMs);
          if (sweeps) await Promise.all(workers.map((worker) => worker.run(AbortSignal.abort())));
          const verdicts = await Promise.all(
            requests.map(async ({ at, cost }) => ({ cost, ...(await (workers[at] ?? bank).take("a", limit, cost)) })),
          );
          await settled();
          for (const { cost, allowed, remaining, resetS } of verdicts) {
            expect(remaining).toBeGreaterThanOrEqual(0);
            expect(remaining).toBeLessThanOrEqual(limit.restPerMinute);
            expect(resetS).toBeLessThanOrEqual(60);
            const judged = take(oracle, limit, allowed ? cost : 0, clock.now());
            expect(judged.verdict.allowed || !allowed).toBe(true);
            oracle = judged.bucket;
            if (allowed) passed += 1;
          }
        }
        // It must not be safe by refusing everything.
        expect(passed).toBeGreaterThanOrEqual(steps.some(({ requests }) => requests.length > 0) ? 1 : 0);
      }),
      { numRuns: 100 },
    );
  });

  test("need no call for most requests of an active client", async () => {
    const clock = manualClock(START);
    const wide = { restPerMinute: 60_000, restBurst: 8_000 };
    const { workers, calls } = open(clock, 1);
    for (let index = 0; index < 1_000; index += 1) {
      expect((await workers[0]?.take("a", wide, 1))?.allowed).toBe(true);
      await settled();
    }
    expect(calls()).toBeLessThan(10);
  });

  test("lose at most a block to a worker that dies, and only until the window ends", async () => {
    const clock = manualClock(START);
    const { bank, workers } = open(clock, 1);
    expect((await workers[0]?.take("a", LIMITS, 1))?.allowed).toBe(true);
    const spend = async (wanted: number) => {
      let passed = 0;
      for (let index = 0; index < wanted; index += 1) if ((await bank.take("a", LIMITS, 1)).allowed) passed += 1;
      return passed;
    };
    const passed = await spend(20);
    expect(passed).toBeGreaterThanOrEqual(19 - Math.ceil(LIMITS.restBurst / 8));
    expect(passed).toBeLessThan(19);
    clock.set(START + 60_000);
    expect(await spend(21)).toBe(20);
  });

  test("a worker whose market process does not answer decides by what it knows", async () => {
    const clock = manualClock(START);
    const lender = createBankLender(clock, () => Promise.reject(new Error("no answer")));
    const alone = createLeasedBuckets({ lender, clock });
    for (let index = 0; index < 20; index += 1) expect((await alone.take("a", LIMITS, 1)).allowed).toBe(true);
    expect(await alone.take("a", LIMITS, 1)).toMatchObject({ allowed: false, refusedBy: "burst" });
  });
});
