import { expect, test } from "vitest";
import { operations } from "#lib/operations/declarations";
import { FILE_READERS } from "./file-readers";

test("DuckDB's sample downloads the file before it reads it, because DuckDB reads nothing over HTTP without an extension", () => {
  const call = {
    operation: operations.file,
    parameters: { id: "ticks-EURUSD-2026-01-05" },
    base: "https://example.com",
    key: null,
  };
  const [download, query] =
    FILE_READERS.find(({ id }) => id === "duckdb")
      ?.generate(call)
      .split("\n") ?? [];
  expect(download).toMatch(
    /^curl .* -o ticks\.parquet "https:\/\/example\.com\/api\/v1\/market\/files\/ticks-EURUSD-2026-01-05"$/,
  );
  expect(query).toBe(`duckdb -c "SELECT * FROM 'ticks.parquet'"`);
});
