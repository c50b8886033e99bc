import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PLAN_DEFAULTS } from "#lib/contract/limits";
import { PLANS_MAX_COUNT } from "#lib/contract/portal-admin";
import { NO_PLAN_TERMS } from "#lib/testing/plan";
import { type TestRuntime, testRuntime } from "#server/testing/runtime";
import { listPlans, putPlan } from "./plan-admin";

/** The free plan in the form of requests and responses. */
const FREE = {
  rest_per_minute: PLAN_DEFAULTS.free.restPerMinute,
  rest_burst: PLAN_DEFAULTS.free.restBurst,
  stream_connections: PLAN_DEFAULTS.free.streamConnections,
  subscriptions_per_connection: PLAN_DEFAULTS.free.subscriptionsPerConnection,
  live_access: false,
  ...NO_PLAN_TERMS,
};

let t: TestRuntime;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

describe("plans", () => {
  test("plans are listed with their limits, the smallest first", async () => {
    const plans = (await listPlans(t)).filter(({ name }) => name in PLAN_DEFAULTS);
    expect(plans.map(({ name }) => name)).toEqual(["demo", "free", "standard", "pro"]);
    expect(plans[1]).toMatchObject(FREE);
  });

  test("a changed plan applies from the next request on", async () => {
    const { text: key } = await t.issueKey({ plan: "free" });
    const limit = async () => (await t.ask("/api/v1/market/instruments", { key })).headers.get("x-ratelimit-limit");
    expect(await limit()).toBe("120");
    const raised = { ...FREE, rest_per_minute: 240 };
    expect(await putPlan(t, "free", { ...raised, revision: 1 })).toEqual({ before: FREE, after: raised, revision: 2 });
    await t.settle();
    expect(await limit()).toBe("240");
  });

  test("plans can be added with a valid name, up to a limit", async () => {
    const added = { ...FREE, revision: null };
    expect(await putPlan(t, "team-a", added)).toEqual({ before: null, after: FREE, revision: 1 });
    for (const name of ["Team A", "", "-", "a".repeat(41)])
      await expect(putPlan(t, name, added)).rejects.toMatchObject({ id: "invalid_parameter", data: { parameter: "name" } });
    for (let count = (await listPlans(t)).length; count < PLANS_MAX_COUNT; count += 1) await putPlan(t, `plan-${count}`, added);
    await expect(putPlan(t, "one-more", added)).rejects.toMatchObject({ id: "invalid_parameter", data: { parameter: "name" } });
    const equal = (await listPlans(t)).filter((plan) => plan.rest_per_minute === FREE.rest_per_minute);
    expect(equal.map(({ name }) => name)).toEqual(equal.map(({ name }) => name).sort());
    expect(await putPlan(t, "team-a", { ...FREE, rest_burst: 1, revision: 1 })).toMatchObject({ before: FREE });
  });
});
