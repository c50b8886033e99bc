import { describe, expect, test } from "vitest";
import { type Clock, manualClock } from "#lib/clock";
import { bucketStoreSuite, expectOneBucket } from "#lib/testing/bucket-store-suite";
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
    await expectOneBucket({ count: 5, numRuns: 100 }, (clock) => {
      const { bank, workers } = open(clock, 4);
      return {
        stores: [...workers, bank],
        sweep: () => Promise.all(workers.map((worker) => worker.run(AbortSignal.abort()))),
        settled,
        close: () => undefined,
      };
    });
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
