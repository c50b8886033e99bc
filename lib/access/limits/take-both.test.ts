import { expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { createMemoryBucketStore } from "./bucket-store";
import { createTakeBoth } from "./take-both";

const limits = (restPerMinute: number, restBurst = restPerMinute) => ({ restPerMinute, restBurst });

/** Takes from a key's bucket and its account's; `left` are the units of both. */
function scene(own: ReturnType<typeof limits>, account: ReturnType<typeof limits>) {
  const clock = manualClock(1_767_225_600_000);
  const store = createMemoryBucketStore(clock);
  const both = createTakeBoth(store, clock);
  return {
    store,
    take: (cost: number) => both({ name: "key", limits: own }, { name: "account", limits: account }, cost),
    left: () => [store.take("key", own, 0).remaining, store.take("account", account, 0).remaining],
  };
}

test("a request takes from the key and from the account, and gets the verdict of the one that has less left", async () => {
  const narrow = scene(limits(10), limits(20));
  expect(await narrow.take(3)).toEqual({ allowed: true, limit: 10, remaining: 7, resetS: 60, retryAfterS: 0, of: "key" });
  expect(narrow.left()).toEqual([7, 17]);
  for (const own of [20, 10]) {
    const wide = scene(limits(own), limits(10));
    expect(await wide.take(3)).toEqual({ allowed: true, limit: 10, remaining: 7, resetS: 60, retryAfterS: 0 });
    expect(wide.left()).toEqual([own - 3, 7]);
  }
});

test("a key that used up its own limit takes nothing from the account", async () => {
  const { take, left } = scene(limits(2), limits(20));
  expect((await take(2)).allowed).toBe(true);
  expect(await take(1)).toMatchObject({ allowed: false, limit: 2, refusedBy: "quota", of: "key" });
  expect(left()).toEqual([0, 18]);
});

test("what the account refuses comes back to the key", async () => {
  const { store, take, left } = scene(limits(10), limits(20, 4));
  store.take("account", limits(20, 4), 3);
  const refused = await take(2);
  expect(refused).toMatchObject({ allowed: false, limit: 20, refusedBy: "burst" });
  expect(refused).not.toHaveProperty("of");
  expect(left()).toEqual([10, 17]);
});
