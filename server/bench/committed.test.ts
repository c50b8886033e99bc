import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type CommittedTable, readTable, withTable, worseThan } from "./committed";
import type { Row } from "./table";

const folder = mkdtempSync(path.join(tmpdir(), "bench-table-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const row = (id: string, value: number, bound: "at least" | "at most" = "at least"): Row => ({
  ...{ id, what: `the ${id}`, value: "1" },
  ratio: { value, target: 1, against: "it", bound },
});
const table = (...rows: Row[]): CommittedTable => ({ date: "2026-11-23", machine: "2 cores", rows });

describe("the committed table", () => {
  test("README shows it: run npm run bench -- --write after a change", () => {
    const readme = readFileSync("README.md", "utf8");
    expect(withTable(readme, readTable())).toBe(readme);
  });

  test("every case has a ratio, and no id twice", () => {
    const { rows } = readTable();
    for (const { what, ratio } of rows) expect(ratio, what).toBeDefined();
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  });

  test("a missing table names its file and the command that writes it", () => {
    expect(() => readTable(path.join(folder, "none.json"))).toThrow(/none\.json is missing\. Run npm run bench -- --write/);
  });

  test.each([
    ["cut.json", '{"date": "2026-11-23", "rows"', "is damaged"],
    ["text.json", '"a table"', "expected object"],
    ["empty.json", '{"date":"2026-11-23","machine":"mine","rows":[]}', "rows"],
    ["date.json", '{"date":"yesterday","machine":"mine","rows":[{"what":"a","value":"b"}]}', "date"],
    [
      "ratio.json",
      '{"date":"2026-11-23","machine":"mine","rows":[{"what":"a","value":"b","ratio":{"value":"1"}}]}',
      "ratio.value",
    ],
  ])("a damaged table says what is wrong: %s", (name, text, words) => {
    const file = path.join(folder, name);
    writeFileSync(file, text);
    expect(() => readTable(file)).toThrow(words);
    expect(() => readTable(file)).toThrow("Run npm run bench -- --write");
  });

  test("a README without a place for it is refused", () => {
    expect(() => withTable("# Product", table(row("a", 1)))).toThrow("README.md has no");
  });
});

describe("a short run", () => {
  test("passes down to half of the committed ratio, or up to twice a ratio that should be small", () => {
    expect(worseThan(table(row("a", 0.8), row("b", 2, "at most")), [row("a", 0.4), row("b", 4, "at most")])).toEqual([]);
  });

  test("names each ratio that is less than half as good", () => {
    const found = worseThan(table(row("a", 0.8), row("b", 2, "at most")), [row("a", 0.39), row("b", 4.1, "at most")]);
    expect(found).toEqual(["the a: 0.39 × it, 0.80 on 2026-11-23", "the b: 4.10 × it, 2.00 on 2026-11-23"]);
  });

  test("names a case that is not committed", () => {
    expect(worseThan(table(row("a", 1)), [row("new", 1)])).toEqual(['the new: the committed table has no row "new"']);
  });
});
