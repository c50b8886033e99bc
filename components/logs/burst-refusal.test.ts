import { expect, test } from "vitest";
import { PLAN_DEFAULTS } from "#lib/contract/limits";
import { applyVerdict } from "#lib/http/guards";
import { isBurstRefusal } from "./burst-refusal";

/** What the log keeps of a request that a limit of the plan refused. */
function detailOf(refusedBy: "quota" | "burst"): string | null {
  const limit = PLAN_DEFAULTS.free.restPerMinute;
  try {
    applyVerdict({ allowed: false, limit, remaining: 80, resetS: 30, retryAfterS: 1, refusedBy }, 1, "free", {});
  } catch (error) {
    return (error as { data: { detail: string } }).data.detail;
  }
  return null;
}

test("a refusal by the burst limit is told apart from a refusal by the limit per minute", () => {
  expect(isBurstRefusal({ detail: detailOf("burst") })).toBe(true);
  expect(isBurstRefusal({ detail: detailOf("quota") })).toBe(false);
  expect(isBurstRefusal({ detail: null })).toBe(false);
});
