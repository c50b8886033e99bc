import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PLAN_DEFAULTS } from "#lib/contract/limits";
import { type TestRuntime, testRuntime } from "#lib/testing/runtime";
import { listPlans, putPlan } from "./plan-admin";

let t: TestRuntime;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

describe("plans", () => {
  test("are listed with their limits, the smallest first", async () => {
    const plans = (await listPlans(t)).filter(({ name }) => name in PLAN_DEFAULTS);
    expect(plans.map(({ name }) => name)).toEqual(["demo", "free", "standard", "pro"]);
    expect(plans[1]).toMatchObject(PLAN_DEFAULTS.free);
  });

  test("count as they were changed, from the next request on", async () => {
    const { text: key } = await t.issueKey({ plan: "free" });
    const limit = async () => (await t.ask("/api/v1/market/instruments", { key })).headers.get("x-ratelimit-limit");
    expect(await limit()).toBe("120");
    const raised = { ...PLAN_DEFAULTS.free, restPerMinute: 240 };
    expect(await putPlan(t, "free", raised)).toEqual({ before: PLAN_DEFAULTS.free, after: raised });
    await t.settle();
    expect(await limit()).toBe("240");
  });

  test("can be made anew, and are refused with the name of what cannot be", async () => {
    expect(await putPlan(t, "team-a", PLAN_DEFAULTS.pro)).toEqual({ before: null, after: PLAN_DEFAULTS.pro });
    for (const [parameter, limits] of [
      ["restBurst", { ...PLAN_DEFAULTS.pro, restBurst: 0 }],
      ["streamConnections", { ...PLAN_DEFAULTS.pro, streamConnections: 1.5 }],
      ["restPerMinute", { ...PLAN_DEFAULTS.pro, restPerMinute: 1e12 }],
    ] as const)
      await expect(putPlan(t, "team-a", limits)).rejects.toMatchObject({ id: "invalid_parameter", data: { parameter } });
    await expect(putPlan(t, "Team A", PLAN_DEFAULTS.pro)).rejects.toMatchObject({ data: { parameter: "name" } });
  });
});
