import { expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { bucketStoreSuite } from "#lib/testing/bucket-store-suite";
import { createMemoryBucketStore } from "./bucket-store";

bucketStoreSuite("memory", (clock) => createMemoryBucketStore(clock));

test("a bucket store keeps a limited number of buckets and drops the least recently used", async () => {
  const limits = { restPerMinute: 60, restBurst: 20 };
  const store = createMemoryBucketStore(manualClock(0), 2);
  await store.take("a", limits, 1);
  await store.take("b", limits, 1);
  await store.take("a", limits, 1);
  await store.take("c", limits, 1);
  expect(await store.take("a", limits, 1)).toMatchObject({ remaining: 57 });
  expect(await store.take("b", limits, 1)).toMatchObject({ remaining: 59 });
});
