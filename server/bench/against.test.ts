import { describe, expect, test } from "vitest";
import { againstText, commitOf } from "./against";
import { comparedOf, type Row, row } from "./table";

const one = (id: string, own: number, beside: number): Row =>
  row(id, `case ${id}`, "a rival", "at most", 1, comparedOf([own], [beside]));

describe("this checkout beside another commit", () => {
  test("the figures of both are medians, and the ratios those of each round", () => {
    const here = [[one("a", 10, 5)], [one("a", 12, 6)], [one("a", 30, 10)]];
    const there = [[one("a", 20, 5)], [one("a", 6, 6)], [one("a", 10, 10)]];
    const lines = againstText({ here, there }, "abc").split("\n");
    const cells = (line = "") => line.split("|").map((cell) => cell.trim());
    expect(cells(lines[0])).toEqual(["", "case", "here", "abc", "here to it", "the same, each beside its rival", "better", ""]);
    expect(cells(lines[2])).toEqual(["", "case a", "12", "10", "2 (1.25 to 2.5)", "2 (1.25 to 2.5), a rival", "less", ""]);
  });

  test("cases that only one of them measures are left out", () => {
    const text = againstText({ here: [[one("new", 1, 1), one("a", 1, 1)]], there: [[one("a", 1, 1), one("old", 1, 1)]] }, "abc");
    expect(text).toContain("case a");
    expect(text).not.toMatch(/case (new|old)/);
  });

  test("a commit that git does not know is named", async () => {
    await expect(commitOf("no/such-commit")).rejects.toThrow("--against no/such-commit: git knows no such commit here.");
    await expect(commitOf("--help")).rejects.toThrow("git knows no such commit here");
  });
});
