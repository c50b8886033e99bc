import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { type Bucket, take } from "./bucket";
import { type BankCall, createBucketBank, createBucketBanks, STRANGER } from "./bucket-bank";
import { LEASE_MS, LEASE_NOTED_MS, LEASE_PART } from "./bucket-lender";

const START = 1_767_225_600_000;
const WINDOW_MS = 60_000;
/** So that a burst of twenty refills in a fifth of a second. */
const FAST = { restPerMinute: 6_000, restBurst: 20 };
/** So that only the quota limits. */
const WIDE = { restPerMinute: 60, restBurst: 10_000 };

function scene(limits = FAST) {
  const clock = manualClock(START);
  const bank = createBucketBank(clock);
  const lend = (call: Partial<BankCall>) =>
    bank.lend("key", { node: "a", limits, cost: 0, want: 0, held: 0, back: 0, owed: 0, opens: true, ...call });
  return {
    lend,
    /** Takes single units until one is refused; returns how many there were. */
    drain: () => {
      let count = 0;
      while (bank.take("key", limits, 1).allowed) count += 1;
      return count;
    },
    left: () => bank.take("key", limits, 0).remaining,
    at: (ms: number) => clock.set(START + ms),
    bank,
    clock,
  };
}

describe("a bank", () => {
  test("decides alone as one bucket does, for any requests at any time", () => {
    const request = fc.record({ afterMs: fc.oneof(fc.nat(900), fc.integer({ min: -2_000, max: 70_000 })), cost: fc.nat(12) });
    const limits = fc.record({ restPerMinute: fc.integer({ min: 1, max: 100 }), restBurst: fc.integer({ min: 1, max: 30 }) });
    fc.assert(
      fc.property(limits, fc.array(request, { maxLength: 60 }), (limit, requests) => {
        const { bank, clock } = scene();
        let bucket: Bucket | undefined;
        for (const { afterMs, cost } of requests) {
          clock.set(clock.now() + afterMs);
          const judged = take(bucket, limit, cost, clock.now());
          bucket = judged.bucket;
          expect(bank.take("a", limit, cost)).toEqual(judged.verdict);
        }
      }),
    );
  });

  test("and those that lease from it never have more than one burst together, however long it refills", () => {
    const { lend, drain, at } = scene();
    const { leased } = lend({ cost: 1, want: 100 });
    expect(leased).toBe(Math.floor((FAST.restBurst - 1) / LEASE_PART));
    at(1_000);
    expect(leased + drain()).toBe(FAST.restBurst);
  });

  test.each([
    ["when it can no longer be spent", LEASE_NOTED_MS],
    ["when the clock went back before it was lent", -1],
  ])("refills up to the whole burst %s", (_, ms) => {
    const { lend, drain, at } = scene();
    at(0);
    lend({ cost: 1, want: 100 });
    at(ms);
    drain();
    at(ms + 1_000);
    expect(drain()).toBe(FAST.restBurst);
  });

  test("lends a part of what is left of the burst and of the quota, and nothing with a refused request", () => {
    const burst = scene({ restPerMinute: 60, restBurst: 9 });
    expect(burst.lend({ cost: 1, want: 100 }).leased).toBe(2);
    expect(burst.lend({ node: "b", cost: 7, want: 100 })).toMatchObject({ leased: 0, used: 3 });
    expect(burst.left()).toBe(60 - 3);
    const quota = scene(WIDE);
    quota.bank.take("key", WIDE, 40);
    expect(quota.lend({ cost: 1, want: 100 }).leased).toBe(Math.floor((60 - 41) / LEASE_PART));
    expect(quota.lend({ node: "b", cost: 30, want: 100 })).toMatchObject({ leased: 0, used: 45 });
    expect(quota.left()).toBe(60 - 45);
  });

  test("takes back what it lent, and no more, in quota and burst", () => {
    const { lend, drain, left } = scene({ restPerMinute: 60, restBurst: 20 });
    expect(lend({ cost: 1, want: 100 }).leased).toBe(4);
    // Two of the four are still held, so that only the others can come back.
    lend({ held: 2, back: 4, opens: false });
    expect(left()).toBe(60 - 1 - 2);
    lend({ back: 2, opens: false });
    expect(left()).toBe(60 - 1);
    expect(drain()).toBe(19);
  });

  test("subtracts from quota and burst what a process allowed on its own", () => {
    const { lend, drain, left } = scene({ restPerMinute: 60, restBurst: 20 });
    lend({ cost: 1 });
    lend({ owed: 6, opens: false });
    expect(left()).toBe(60 - 1 - 6);
    expect(drain()).toBe(20 - 1 - 6);
  });

  test("lends until the window ends, and units of an earlier window neither count nor come back in the next one", () => {
    const { lend, left, at, bank } = scene(WIDE);
    bank.take("key", WIDE, 1);
    expect(lend({ want: 1 }).lastsMs).toBe(LEASE_MS);
    at(WINDOW_MS - 500);
    expect(lend({ cost: 1, want: 4 })).toMatchObject({ leased: 4, lastsMs: 500 });
    at(WINDOW_MS);
    bank.take("key", WIDE, 1);
    expect(lend({ want: 4, held: 4 })).toMatchObject({ leased: 0, lastsMs: 0, ageMs: 0 });
    lend({ back: 4, opens: false });
    expect(left()).toBe(60 - 1);
    expect(lend({ cost: 1, want: 4 })).toMatchObject({ leased: 4, lastsMs: LEASE_MS });
  });

  test.each(["of a key that it does not know", "after a window"])("begins no window for work in the background %s", (when) => {
    const { lend, at, bank } = scene(WIDE);
    if (when === "after a window") bank.take("key", WIDE, 1);
    at(WINDOW_MS);
    expect(lend({ want: 4, opens: false })).toMatchObject({ leased: 0, lastsMs: 0, used: 0 });
    at(WINDOW_MS + 1_500);
    expect(bank.take("key", WIDE, 1)).toMatchObject({ remaining: 59, resetS: 60 });
  });
});

test("the buckets of strangers and of others are apart, also for a process that leases", () => {
  const { buckets, strangers, lend } = createBucketBanks(manualClock(START));
  const call = { node: "a", limits: WIDE, cost: 1, want: 0, held: 0, back: 0, owed: 0, opens: true };
  lend("key", call);
  for (let count = 0; count < 2; count += 1) lend(`${STRANGER}key`, call);
  const left = (bank: typeof buckets, key: string) => bank.take(key, WIDE, 0);
  expect(left(buckets, "key")).toMatchObject({ remaining: 59 });
  expect(left(buckets, `${STRANGER}key`)).toMatchObject({ remaining: 60 });
  expect(left(strangers, `${STRANGER}key`)).toMatchObject({ remaining: 58 });
  expect(left(strangers, "key")).toMatchObject({ remaining: 60 });
});
