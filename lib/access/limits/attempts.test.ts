import { expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { createAttempts } from "./attempts";
import { createMemoryBucketStore } from "./bucket-store";

test("password attempts and emails are counted across all nodes with shared buckets, and requests of unknown clients on each node", async () => {
  const clock = manualClock(Date.UTC(2026, 0, 5));
  const shared = createMemoryBucketStore(clock);
  const [a, b] = [createAttempts(clock, shared), createAttempts(clock, shared)];
  // The quota of a minute is lower than the burst.
  for (const node of [a, b, a, b, a]) await node.take("password_both", "203.0.113.7 a@b.example");
  for (const node of [a, b])
    await expect(node.take("password_both", "203.0.113.7 a@b.example")).rejects.toMatchObject({ id: "rate_limited" });
  await b.take("password_both", "203.0.113.8 a@b.example");

  for (let count = 0; count < 60; count += 1) a.takeHere("auth_client", "203.0.113.7");
  expect(() => a.takeHere("auth_client", "203.0.113.7")).toThrow(/Too many attempts. Try again in 1 s/);
  b.takeHere("auth_client", "203.0.113.7");
  a.takeHere("auth_client", "203.0.113.8");
  a.takeHere("auth_network", "203.0.113.7");
});
