import { expect, test } from "vitest";
import type { CoverageRow } from "#lib/contract/coverage";
import { foldAlike } from "./alike";

/** A row with two years, the second of which lacks so many of its thousand minutes. */
function row(ticker: string, missing: number | null = 0, changes: Partial<CoverageRow> = {}): CoverageRow {
  const open = missing === null ? null : 1_000;
  return {
    ticker,
    name: ticker,
    asset_class: "forex",
    base_currency: ticker.slice(0, 3),
    quote_currency: ticker.slice(3),
    rows: 2_000 - (missing ?? 0),
    open_minutes: missing === null ? null : 2_000,
    missing_minutes: missing,
    first_at: "2024-12-31T22:00:00.000Z",
    last_at: "2026-01-05T11:59:00.000Z",
    changed_at: null,
    years: [
      { year: 2024, rows: 1_000, open_minutes: open, missing_minutes: missing && 0 },
      { year: 2025, rows: 1_000 - (missing ?? 0), open_minutes: open, missing_minutes: missing },
    ],
    ...changes,
  };
}
const nothing = { rows: 0, first_at: null, last_at: null, open_minutes: null, missing_minutes: null, years: [] };
const folded = (rows: readonly CoverageRow[]) =>
  foldAlike(rows).map((one) => ("like" in one ? one.rows.map(({ ticker }) => ticker).join("+") : one.ticker));

test("complete histories of the same days are one, in the place of the first, and keep their order", () => {
  const rows = [row("EURUSD"), row("GBPUSD", 300), row("USDJPY", 0, { rows: 1_999 }), row("AUDUSD"), row("XAUUSD")];
  expect(folded(rows)).toEqual(["EURUSD+USDJPY+AUDUSD+XAUUSD", "GBPUSD"]);
});

test("a minute of the same day more or less makes no difference, another day or year does", () => {
  const alike = [row("EURUSD"), row("GBPUSD", 0, { last_at: "2026-01-05T12:00:00.000Z" }), row("USDJPY")];
  expect(folded(alike)).toEqual(["EURUSD+GBPUSD+USDJPY"]);
  const earlier = row("AUDUSD", 0, { first_at: "2024-12-30T22:00:00.000Z" });
  const ended = row("NZDUSD", 0, { last_at: "2026-01-04T23:59:00.000Z" });
  const shorter = row("USDCAD", 0, { years: row("USDCAD").years.slice(1) });
  expect(folded([...alike, earlier, ended, shorter])).toEqual(["EURUSD+GBPUSD+USDJPY", "AUDUSD", "NZDUSD", "USDCAD"]);
});

test("what lacks minutes, or has unknown hours, stands on its own, however many are alike", () => {
  const rows = [
    row("EURUSD", 1),
    row("GBPUSD", 1),
    row("USDJPY", 1),
    row("AUDUSD", null),
    row("NZDUSD", null),
    row("USDCAD", null),
  ];
  expect(folded(rows)).toEqual(rows.map(({ ticker }) => ticker));
});

test("instruments without history are alike, and fewer than three stand on their own", () => {
  const [first, second, third] = ["EURUSD", "GBPUSD", "USDJPY"].map((ticker) => row(ticker, 0, nothing));
  if (first === undefined || second === undefined || third === undefined) throw new Error("three rows");
  expect(folded([row("AUDUSD"), first, second, third])).toEqual(["AUDUSD", "EURUSD+GBPUSD+USDJPY"]);
  expect(folded([row("AUDUSD"), first, second])).toEqual(["AUDUSD", "EURUSD", "GBPUSD"]);
});
