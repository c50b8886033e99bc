import { expect, test } from "vitest";
import { changesOf } from "./diff";

test("a diff lists exactly the changed values", () => {
  expect(changesOf({ plan: "free", limits: { burst: 5, calls: 1 } }, { plan: "pro", limits: { burst: 5, calls: 2 } })).toEqual([
    { path: "plan", before: "free", after: "pro" },
    { path: "limits.calls", before: "1", after: "2" },
  ]);
});

test("a diff compares a list of plain values as a set", () => {
  expect(changesOf({ holidays: ["2026-01-01", "2026-12-25"] }, { holidays: ["2026-12-25", "2026-12-26"] })).toEqual([
    { path: "holidays", before: "2026-01-01", after: undefined },
    { path: "holidays", before: undefined, after: "2026-12-26" },
  ]);
});

test("a diff shows created and deleted values on one side only", () => {
  expect(changesOf(null, { name: "key" })).toEqual([{ path: "name", before: undefined, after: "key" }]);
  expect(changesOf({ until: null }, null)).toEqual([{ path: "until", before: "–", after: undefined }]);
  expect(changesOf(null, null)).toEqual([]);
});
