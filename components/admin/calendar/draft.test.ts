import { expect, test } from "vitest";
import { draftIssues, readJson } from "./draft";

const weekly = {
  kind: "weekly",
  zone: "America/New_York",
  week: [{ day: 1, open: "18:00", close: "02:00" }],
  holidays: [],
  earlyCloses: {},
  lateOpens: {},
  coveredUntil: "",
};

test("a draft is refused field by field in the service's own words", () => {
  const { first, at } = draftIssues({ ...weekly, zone: "Mars/Olympus" });
  expect(first).toMatch(/^`zone` must be an IANA time zone/);
  expect(at("zone")).toMatch(/^Must be an IANA time zone/);
  expect(at("week", 0, "close")).toMatch(/^Must be later than open/);
  expect(at("coveredUntil")).toBe("Must be a date in the form YYYY-MM-DD.");
  expect(at("week", 0, "open")).toBeUndefined();
});

test("JSON becomes a definition only when the service would take it", () => {
  expect(readJson('{ "kind": "never" }')).toEqual({ definition: { kind: "never" } });
  expect(readJson("{")).toEqual({ problem: expect.stringContaining("JSON") });
  expect(readJson('{ "kind": "sometimes" }')).toEqual({ problem: expect.stringMatching(/^`kind` must be one of `weekly`/) });
  expect(readJson("[]")).toEqual({ problem: expect.any(String) });
});
