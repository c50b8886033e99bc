import { expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { DEMO_COMPUTED_DAYS_PER_MINUTE_COUNT } from "#lib/contract/limits";
import { createDemoDays } from "./demo-days";

test("days beyond the limit of the demo key are refused with a delay after which they pass", async () => {
  const clock = manualClock(Date.UTC(2026, 0, 5));
  const take = createDemoDays(clock);
  take(DEMO_COMPUTED_DAYS_PER_MINUTE_COUNT - 1);
  take(1);
  expect(() => take(1)).toThrow(
    expect.objectContaining({ id: "rate_limited", data: expect.objectContaining({ retry_after: 60 }) }),
  );
  clock.set(clock.now() + 59_000);
  expect(() => take(1)).toThrow(/Try again in 1 s/);
  clock.set(clock.now() + 1_000);
  take(1);
});
