import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type CommittedTable, PLACES, readTable, withTable, worseThan } from "./committed";
import { MEASURED } from "./nodes";
import { joined, listItem, type Row, tableText, verdictOf } from "./table";

const folder = mkdtempSync(path.join(tmpdir(), "bench-table-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const even = (value: number) => ({ median: value, low: value, high: value });
const row = (id: string, ratio: number, bound: "at least" | "at most" = "at least", beside = 1): Row => ({
  id,
  what: `the ${id}`,
  against: "it",
  target: 1,
  bound,
  own: ratio * beside,
  beside,
  ratio: even(ratio),
});
const table = (...rows: Row[]): CommittedTable => ({ date: "2026-11-23", machine: "2 cores", rows: joined({ 20: rows }) });

describe("the committed table", () => {
  test.each(PLACES)("$file shows it: run npm run bench -- --write after a change", (place) => {
    const text = readFileSync(place.file, "utf8");
    expect(withTable(text, readTable(), place)).toBe(text);
  });

  test("every row has figures of the newest Node, those of calls and streams of the oldest too, and no id twice", () => {
    const { rows } = readTable();
    for (const { what, on } of rows) expect(Object.keys(on), what).toContain("26");
    for (const id of ["quotes-equal", "fanout-ws-5"])
      expect(Object.keys(rows.find((row) => row.id === id)?.on ?? {})).toEqual(MEASURED);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  });

  test("a missing table names its file and the command that writes it", () => {
    expect(() => readTable(path.join(folder, "none.json"))).toThrow(/none\.json is missing\. Run npm run bench -- --write/);
  });

  test.each([
    ["cut.json", '{"date": "2026-11-23", "rows"', "is damaged"],
    ["text.json", '"a table"', "expected object"],
    ["empty.json", '{"date":"2026-11-23","machine":"mine","rows":[]}', "rows"],
    ["date.json", '{"date":"yesterday","machine":"mine","rows":[{"id":"a"}]}', "date"],
    ["row.json", '{"date":"2026-11-23","machine":"mine","rows":[{"id":"a","target":"1"}]}', "target"],
  ])("a damaged table says what is wrong: %s", (name, text, words) => {
    const file = path.join(folder, name);
    writeFileSync(file, text);
    expect(() => readTable(file)).toThrow(words);
    expect(() => readTable(file)).toThrow("Run npm run bench -- --write");
  });

  test.each(PLACES)("$file without a place for it is refused", (place) => {
    expect(() => withTable("# Product", readTable(), place)).toThrow(`${place.file} has no`);
  });

  test("a table without a row that README shows is refused", () => {
    for (const place of PLACES.filter(({ file }) => file === "README.md"))
      expect(() => withTable(readFileSync(place.file, "utf8"), table(row("a", 1)), place)).toThrow(
        'The table has no row "quotes-equal"',
      );
    expect.assertions(1);
  });
});

describe("a run beside the committed table", () => {
  const before = table(row("a", 0.8), row("b", 2, "at most"));
  const worse = (...rows: Row[]) => worseThan(before, joined({ 20: rows }));

  test("is as good down to half of the committed ratio, or up to twice a ratio that should be small", () => {
    expect(worse(row("a", 0.4), row("b", 4, "at most"))).toEqual([]);
  });

  test("names each ratio that is less than half as good", () => {
    expect(worse(row("a", 0.39), row("b", 4.1, "at most"))).toEqual([
      "less than half as good: the a, Node 20: 0.39 × it, 0.80 on 2026-11-23",
      "less than half as good: the b, Node 20: 4.10 × it, 2.00 on 2026-11-23",
    ]);
  });

  test("names a case that is not committed", () => {
    expect(worse(row("new", 1))).toEqual(["new: the new, Node 20"]);
  });
});

describe("the text of a table", () => {
  const both = joined({ 20: [row("a", 3, "at least", 10_000)], 26: [row("a", 2, "at least", 12_000)] });

  test("it has a column for each Node, and a reach is met when each of them met it", () => {
    expect(tableText(both)).toBe(
      [
        "| case  | beside | Node 20                        | Node 26                        | reach   |",
        "| ----- | ------ | ------------------------------ | ------------------------------ | ------- |",
        "| the a | it     | 3 × (3 to 3): 30,000 to 10,000 | 2 × (2 to 2): 24,000 to 12,000 | ≥ 1 met |",
        "",
      ].join("\n"),
    );
    const [one] = both;
    const verdict = (target: number, bound: "at least" | "at most") => one && verdictOf({ ...one, target, bound });
    expect(verdict(2, "at least")).toBe("≥ 2 met");
    expect(verdict(2.5, "at least")).toBe("≥ 2.5 missed");
    expect(verdict(3, "at most")).toBe("≤ 3 met");
    expect(verdict(2.5, "at most")).toBe("≤ 2.5 missed");
  });

  test("an item of a list has the ratio of each Node", () => {
    expect(both.map(listItem)).toEqual(["- the a: 3 × on Node 20, 2 × on Node 26 of it; more is better"]);
  });
});
