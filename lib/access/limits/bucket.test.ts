import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Bucket, giveBack, PARTS_PER_UNIT, take, WINDOW_MS } from "./bucket";

const LIMITS = { restPerMinute: 60, restBurst: 20 };
const START = 1_767_225_600_000;

/** Makes requests of a cost after a pause and returns the outcomes. */
function play(limits: typeof LIMITS, requests: readonly { afterMs: number; cost: number }[]) {
  let bucket: Bucket | undefined;
  let now = START;
  return requests.map(({ afterMs, cost }) => {
    now += afterMs;
    const taken = take(bucket, limits, cost, now);
    bucket = taken.bucket;
    return { now, cost, ...taken.verdict };
  });
}

const request = fc.record({ afterMs: fc.nat(20_000), cost: fc.integer({ min: 1, max: 5 }) });
const limits = fc.record({ restPerMinute: fc.integer({ min: 5, max: 600 }), restBurst: fc.integer({ min: 5, max: 200 }) });

describe("bucket", () => {
  test("a bucket allows a burst, then one request per refill interval", () => {
    const verdicts = play(
      LIMITS,
      Array.from({ length: 21 }, () => ({ afterMs: 0, cost: 1 })),
    );
    expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(20);
    expect(verdicts.at(-1)).toMatchObject({ allowed: false, remaining: 40, resetS: 60, retryAfterS: 1, refusedBy: "burst" });
  });

  test("a bucket counts the quota down and gives the seconds until the window ends", () => {
    const [first, second, third] = play(LIMITS, [
      { afterMs: 0, cost: 1 },
      { afterMs: 18_500, cost: 5 },
      { afterMs: 41_500, cost: 1 },
    ]);
    expect(first).toMatchObject({ limit: 60, remaining: 59, resetS: 60 });
    expect(second).toMatchObject({ remaining: 54, resetS: 42 });
    expect(third).toMatchObject({ remaining: 59, resetS: 60 });
  });

  test("a bucket rejects requests over the quota until the window ends", () => {
    const wide = { restPerMinute: 60, restBurst: 1_000 };
    const verdicts = play(wide, [...Array.from({ length: 61 }, () => ({ afterMs: 10, cost: 1 })), { afterMs: 59_400, cost: 1 }]);
    expect(verdicts[59]).toMatchObject({ allowed: true, remaining: 0 });
    expect(verdicts[60]).toMatchObject({ allowed: false, remaining: 0, retryAfterS: 60, refusedBy: "quota" });
    expect(verdicts[61]).toMatchObject({ allowed: true, remaining: 59 });
  });

  test("a bucket never allows more than the quota in a window, nor more than burst plus refill in any period", () => {
    fc.assert(
      fc.property(limits, fc.array(request, { maxLength: 200 }), (limit, requests) => {
        const passed = play(limit, requests).filter(({ allowed }) => allowed);
        for (let from = 0; from < passed.length; from += 1) {
          let units = 0;
          for (const { now, cost } of passed.slice(from)) {
            units += cost;
            const allowance = limit.restBurst * WINDOW_MS + (now - (passed[from]?.now ?? 0)) * limit.restPerMinute;
            expect(units * WINDOW_MS).toBeLessThanOrEqual(allowance);
          }
        }
      }),
    );
  });

  test("a bucket allows a rejected request after exactly the seconds it gave", () => {
    fc.assert(
      fc.property(limits, fc.array(request, { maxLength: 100 }), fc.integer({ min: 1, max: 5 }), (limit, requests, cost) => {
        let bucket: Bucket | undefined;
        let now = START;
        for (const { afterMs, cost: each } of requests) {
          now += afterMs;
          bucket = take(bucket, limit, each, now).bucket;
        }
        const { verdict, bucket: after } = take(bucket, limit, cost, now);
        fc.pre(!verdict.allowed);
        expect(take(after, limit, cost, now + verdict.retryAfterS * 1000).verdict.allowed).toBe(true);
      }),
    );
  });

  test("at 36 a minute, an empty burst allowance refills to exactly three units in the five seconds that the bucket gives", () => {
    const limit = { restPerMinute: 36, restBurst: 5 };
    const [, refused, early, passed] = play(limit, [
      { afterMs: 0, cost: 5 },
      { afterMs: 0, cost: 3 },
      { afterMs: 4_999, cost: 3 },
      { afterMs: 1, cost: 3 },
    ]);
    expect(refused).toMatchObject({ allowed: false, retryAfterS: 5 });
    expect([early?.allowed, passed?.allowed]).toEqual([false, true]);
  });

  test("the burst allowance is a whole number of parts at every rate, including the slowest and the largest", () => {
    const rates = fc.oneof(fc.constant(0.1), fc.integer({ min: 1, max: 2 ** 31 - 1 }));
    const anyLimits = fc.record({ restPerMinute: rates, restBurst: fc.integer({ min: 1, max: 2 ** 31 - 1 }) });
    fc.assert(
      fc.property(anyLimits, fc.array(request, { maxLength: 50 }), (limit, requests) => {
        let bucket: Bucket | undefined;
        let now = START;
        for (const { afterMs, cost } of requests) {
          now += afterMs;
          bucket = take(bucket, limit, cost, now).bucket;
          expect(Number.isSafeInteger(bucket.parts)).toBe(true);
          expect(bucket.parts).toBeLessThanOrEqual(limit.restBurst * PARTS_PER_UNIT);
        }
      }),
    );
  });

  test("remaining and reset stay within their bounds for any clock", () => {
    fc.assert(
      fc.property(
        limits,
        fc.array(fc.record({ afterMs: fc.integer({ min: -90_000, max: 90_000 }), cost: fc.integer({ min: 1, max: 5 }) })),
        (limit, requests) => {
          for (const { remaining, resetS, retryAfterS } of play(limit, requests)) {
            expect(remaining).toBeGreaterThanOrEqual(0);
            expect(remaining).toBeLessThanOrEqual(limit.restPerMinute);
            expect(resetS).toBeGreaterThan(0);
            expect(resetS).toBeLessThanOrEqual(60);
            expect(retryAfterS).toBeGreaterThanOrEqual(0);
          }
        },
      ),
    );
  });

  test("a request whose cost exceeds the burst takes the whole burst and is not rejected forever", () => {
    const [first, second] = play({ restPerMinute: 60, restBurst: 2 }, [
      { afterMs: 0, cost: 5 },
      { afterMs: 0, cost: 5 },
    ]);
    expect(first).toMatchObject({ allowed: true, remaining: 55 });
    expect(second).toMatchObject({ allowed: false, retryAfterS: 2 });
  });

  test("units that were taken and not used come back to quota and burst, never above them", () => {
    const { bucket } = take(undefined, LIMITS, 5, START);
    const back = giveBack(bucket, LIMITS, 5, START, START);
    expect([back.used, back.parts]).toEqual([0, 20 * PARTS_PER_UNIT]);
    expect(giveBack(bucket, LIMITS, 7, START, START)).toMatchObject({ used: 0, parts: 20 * PARTS_PER_UNIT });
    expect(take(back, LIMITS, 20, START).verdict).toMatchObject({ allowed: true, remaining: 40 });
  });

  test("units of an earlier window come back to nothing: they were not of the window that runs now", () => {
    const { bucket: first } = take(undefined, LIMITS, 5, START);
    const { bucket: second } = take(first, LIMITS, 3, START + WINDOW_MS);
    expect(giveBack(second, LIMITS, 5, START, START + WINDOW_MS)).toEqual(second);
    const third = giveBack(second, LIMITS, 3, START + WINDOW_MS, START + 2 * WINDOW_MS);
    expect(third).toMatchObject({ used: 0, windowStartMs: START + 2 * WINDOW_MS });
  });
});
