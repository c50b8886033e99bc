import { expect, test } from "vitest";
import { instantOf, localText } from "./local-time";

test.each(["2026-01-02T10:00:00.000Z", "2026-07-02T23:59:00.000Z"])(
  "%s is the same after it was shown in a control",
  (instant) => {
    expect(localText(instant)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/);
    expect(instantOf(localText(instant))).toBe(instant);
  },
);

test("no instant is an empty control, and what is no time is left to the service", () => {
  expect(localText(null)).toBe("");
  expect(instantOf("2026-13-40T99:00")).toBe("2026-13-40T99:00");
  expect(instantOf("")).toBe("");
});
