import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Bucket, take } from "#lib/access/limits/bucket";
import type { BucketStore } from "#lib/access/limits/bucket-store";
import { type ManualClock, manualClock } from "#lib/clock";

const START = 1_767_225_600_000;
const LIMITS = { restPerMinute: 60, restBurst: 20 };

/** What every bucket store guarantees; run it on each adapter. */
export function bucketStoreSuite(name: string, open: (clock: ManualClock) => BucketStore | Promise<BucketStore>): void {
  describe(`bucket store: ${name}`, () => {
    test("a bucket store counts each key separately", async () => {
      const store = await open(manualClock(START));
      for (let index = 0; index < 20; index += 1) expect((await store.take("a", LIMITS, 1)).allowed).toBe(true);
      expect((await store.take("a", LIMITS, 1)).allowed).toBe(false);
      expect(await store.take("b", LIMITS, 1)).toMatchObject({ allowed: true, remaining: 59 });
    });

    test("a bucket store never admits more simultaneous requests than the limit", async () => {
      const store = await open(manualClock(START));
      const verdicts = await Promise.all(Array.from({ length: 50 }, () => store.take("a", LIMITS, 1)));
      expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(20);
    });

    test("a bucket store refills over time and starts a new window after the old one", async () => {
      const clock = manualClock(START);
      const store = await open(clock);
      expect(await store.take("a", LIMITS, 20)).toMatchObject({ remaining: 40, resetS: 60 });
      clock.set(START + 5_000);
      expect(await store.take("a", LIMITS, 5)).toMatchObject({ allowed: true, remaining: 35, resetS: 55 });
      expect(await store.take("a", LIMITS, 1)).toMatchObject({ allowed: false, retryAfterS: 1 });
      clock.set(START + 60_000);
      expect(await store.take("a", LIMITS, 1)).toMatchObject({ allowed: true, remaining: 59, resetS: 60 });
    });

    test("a bucket store takes units back that were not used, within their window and never more than were taken", async () => {
      const clock = manualClock(START);
      const store = await open(clock);
      await store.take("a", LIMITS, 20);
      expect(await store.take("a", LIMITS, 5)).toMatchObject({ allowed: false });
      store.giveBack("a", LIMITS, 5, START);
      expect(await store.take("a", LIMITS, 5)).toMatchObject({ allowed: true, remaining: 40 });
      expect(await store.take("a", LIMITS, 1)).toMatchObject({ allowed: false });
      clock.set(START + 60_000);
      await store.take("a", LIMITS, 10);
      store.giveBack("a", LIMITS, 20, START);
      expect(await store.take("a", LIMITS, 1)).toMatchObject({ allowed: true, remaining: 49 });
      store.giveBack("nobody", LIMITS, 5, START);
      expect(await store.take("nobody", LIMITS, 1)).toMatchObject({ remaining: 59 });
    });

    test("a bucket store uses the current limits, so that an edited plan applies at once", async () => {
      const store = await open(manualClock(START));
      await store.take("a", LIMITS, 10);
      expect(await store.take("a", { restPerMinute: 12, restBurst: 5 }, 1)).toMatchObject({ limit: 12, remaining: 1 });
    });
  });
}

/** Stores that share buckets, as processes do. */
interface SharingStores {
  readonly stores: readonly Pick<BucketStore, "take">[];
  /** Runs the background work of each, once. */
  sweep(): Promise<unknown>;
  /** Resolves when the calls between them have ended. */
  settled(): Promise<unknown>;
  close(): void;
}

/** For any sequence of requests to any of them, stores that share a bucket never allow more than one bucket would. */
export async function expectOneBucket(
  { count, numRuns }: { readonly count: number; readonly numRuns: number },
  open: (clock: ManualClock) => SharingStores | Promise<SharingStores>,
): Promise<void> {
  const request = fc.record({ at: fc.nat(count - 1), cost: fc.integer({ min: 0, max: 5 }) });
  const step = fc.record({
    afterMs: fc.oneof(fc.nat(300), fc.nat(3_000), fc.nat(70_000)),
    requests: fc.array(request, { maxLength: 12 }),
    sweeps: fc.boolean(),
  });
  const limits = fc.record({ restPerMinute: fc.integer({ min: 5, max: 200 }), restBurst: fc.integer({ min: 5, max: 60 }) });
  await fc.assert(
    fc.asyncProperty(limits, fc.array(step, { minLength: 5, maxLength: 25 }), async (limit, steps) => {
      const clock = manualClock(START);
      const { stores, sweep, settled, close } = await open(clock);
      let oracle: Bucket | undefined;
      let passed = 0;
      for (const { afterMs, requests, sweeps } of steps) {
        clock.set(clock.now() + afterMs);
        if (sweeps) await sweep();
        const verdicts = await Promise.all(
          requests.map(async ({ at, cost }) => ({
            cost,
            ...(await (stores[at] as SharingStores["stores"][number]).take("a", limit, cost)),
          })),
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
      close();
    }),
    { numRuns },
  );
}
