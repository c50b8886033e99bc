import { afterAll, beforeAll, expect, test } from "vitest";
import type { Access } from "#lib/access/access";
import type { Redis } from "#server/store/database/redis";
import { describeRedis } from "#server/testing/redis-nodes";
import { freshAddress, TEST_SECRET, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { createAccess } from "./create-access";

describeRedis("access at two nodes of one installation", (nodes) => {
  let t: TestRuntime;
  beforeAll(async () => {
    t = await testRuntime();
  });
  afterAll(() => t.close());

  test("shares buckets, and takes a ticket of the other node once", async () => {
    const open = (redis: Redis): Access => createAccess({ ...t, secret: TEST_SECRET, controlConnected: () => true, redis });
    const [a, b] = [open(await nodes.open("access")), open(await nodes.open("access"))];
    const key = (await t.issueKey({ account: "two nodes", plan: "free", scopes: ["market:read", "market:stream"] })).text;
    const principal = await a.verify(key, freshAddress());
    expect(await a.take(principal, 30, freshAddress())).toMatchObject({ allowed: true, remaining: 90 });
    expect(await b.take(principal, 11, freshAddress())).toMatchObject({ allowed: false, refusedBy: "burst" });
    const { remaining } = await b.remaining(principal.accountId, principal.plan);
    expect(remaining).toBeLessThanOrEqual(90);

    const { ticket } = a.mintTicket(principal, null);
    expect(await b.redeemTicket(ticket, null, freshAddress())).toMatchObject({ keyId: principal.keyId });
    await expect(a.redeemTicket(ticket, null, freshAddress())).rejects.toMatchObject({ id: "unauthorized" });
    await Promise.all([a.stop(), b.stop()]);
    expect(
      await nodes.open("access").then((redis) => redis.client.ttl(redis.key(`b:${principal.accountId}`, "bucket"))),
    ).toBeGreaterThan(0);
  });
});
