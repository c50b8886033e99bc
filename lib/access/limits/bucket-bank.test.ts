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

describe("units that a process allowed while the bank was away", () => {
  /** A process whose calls fail while the bank is away: at once, or only when they are answered. */
  function scene() {
    const clock = manualClock(START);
    const bank = createBucketBank(clock);
    let state: "well" | "away" | "failing" = "well";
    const bankLender = createBankLender(clock, async (key, call) => {
      if (state === "failing") throw new Error("the bank went away");
      return bank.lend(key, call);
    });
    const worker = createLeasedBuckets({ lender: { ask: bankLender.ask, connected: () => state !== "away" }, clock });
    return {
      clock,
      bank,
      worker,
      become: (next: typeof state) => {
        state = next;
      },
      report: () => worker.run(AbortSignal.abort()),
      remaining: async () => (await bank.take("a", LIMITS, 0)).remaining,
    };
  }

  test("are reported once when it is back", async () => {
    const { clock, worker, become, report, remaining } = scene();
    await worker.take("a", LIMITS, 1);
    become("away");
    expect(await worker.take("a", LIMITS, 6)).toMatchObject({ allowed: true });
    become("well");
    clock.set(START + 1_500);
    await report();
    expect(await remaining()).toBe(60 - 1 - 6);
    await worker.take("a", LIMITS, 1);
    await report();
    expect(await remaining()).toBe(60 - 1 - 6 - 1);
  });

  test("and that were not used are not reported", async () => {
    const { clock, worker, become, report, remaining } = scene();
    await worker.take("a", LIMITS, 1);
    become("away");
    await worker.take("a", LIMITS, 6);
    worker.giveBack("a", LIMITS, 6, clock.now());
    become("well");
    clock.set(START + 1_500);
    await report();
    expect(await remaining()).toBe(60 - 1);
  });

  test("are not reported once their window is over", async () => {
    const { clock, bank, worker, become, report, remaining } = scene();
    await worker.take("a", LIMITS, 1);
    become("away");
    await worker.take("a", LIMITS, 6);
    clock.set(START + 60_000);
    await bank.take("a", LIMITS, 1);
    await worker.take("a", LIMITS, 5);
    become("well");
    clock.set(START + 61_500);
    await worker.take("a", LIMITS, 1);
    await report();
    expect(await remaining()).toBe(60 - 1 - 5 - 1);
  });

  test("are those first that were lost on their way back, which the bank has subtracted already", async () => {
    const { clock, worker, become, report, remaining } = scene();
    await worker.take("a", LIMITS, 1);
    const held = 60 - 1 - (await remaining());
    expect(held).toBeGreaterThan(0);
    become("failing");
    clock.set(START + 2_500);
    await report();
    become("away");
    await worker.take("a", LIMITS, held);
    become("well");
    clock.set(START + 5_000);
    await report();
    expect(await remaining()).toBe(60 - 1 - held);
  });
});
