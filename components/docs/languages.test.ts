import { expect, test } from "vitest";
import { languagesOf, withLanguage } from "./languages";

test("an invalid cookie yields no languages, and a long one only a limited number", () => {
  expect(languagesOf(undefined)).toEqual([]);
  expect(languagesOf("<script>,,Python,\u0000")).toEqual(["Python"]);
  expect(languagesOf(Array(500).fill("curl").join(","))).toHaveLength(8);
});

test("the latest choice comes first and appears only once", () => {
  expect(withLanguage(["curl", "Python"], "Python")).toEqual(["Python", "curl"]);
  expect(withLanguage(["1", "2", "3", "4", "5", "6", "7", "8"], "C#")).toEqual(["C#", "1", "2", "3", "4", "5", "6", "7"]);
});
