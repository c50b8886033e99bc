import { expect, test } from "vitest";
import { columnsOf } from "#lib/domain/columns";
import { emptyRow, type Row } from "#server/import/rows/row";
import { createRowChecks, createStepCheck } from "./rows";

const START_MS = Date.UTC(2024, 0, 9);

function doubtsOf(rows: readonly Partial<Row>[]): string[] {
  const checks = createRowChecks();
  for (const [index, row] of rows.entries())
    checks.row({ ...emptyRow(), timeMs: START_MS + index * 60_000, open: 1.1, high: 1.2, low: 1, close: 1.1, ...row }, index + 2);
  return checks.doubts().flatMap(({ reason, rows: examples }) => [reason, ...examples]);
}

test("rows that repeat a time with other prices are doubtful, with the same prices they are not", () => {
  expect(doubtsOf([{ timeMs: START_MS }, { timeMs: START_MS }])).toEqual([]);
  expect(doubtsOf([{ timeMs: START_MS }, { timeMs: START_MS, close: 1.15 }])).toEqual([
    expect.stringContaining("1 rows repeat the time of the row before with other prices"),
    "line 3: 2024-01-09T00:00:00Z  1.1  1.2  1  1.15",
  ]);
});

test("spreads of more than half a percent of the price are doubtful, unless they are few", () => {
  const rows = (large: number) => Array.from({ length: 200 }, (_, index) => ({ spread: index < large ? 0.6 : 0.0001 }));
  expect(doubtsOf(rows(2))).toEqual([]);
  expect(doubtsOf(rows(3))[0]).toContain("3 of 200 spreads are more than 0.5 % of the price");
  expect(doubtsOf(rows(200)).slice(1)).toContain("line 2: 0.6 at a price of 1.1");
});

/** The doubts about klines of a timeframe at these times, Unix seconds, in two parts. */
function stepDoubts(timeframe: "M1" | "H1", times: readonly number[]): string[] {
  const check = createStepCheck(timeframe);
  const prices = { open: 1, high: 1, low: 1, close: 1, tick_volume: 1, real_volume: null, spread: null };
  const klines = times.map((time) => ({ type: "kline" as const, ticker: "EURUSD", timeframe, time, ...prices }));
  const middle = Math.floor(klines.length / 2);
  for (const part of [klines.slice(0, middle), klines.slice(middle)]) check.take(columnsOf(part));
  return check.doubts().map(({ reason }) => reason);
}

const every = (count: number, stepS: number, from = START_MS / 1000) =>
  Array.from({ length: count }, (_, index) => from + index * stepS);

test("klines of a longer timeframe behind those of a file are doubtful", () => {
  expect(stepDoubts("M1", [...every(30, 60), ...every(40, 3_600, START_MS / 1000 + 3_600)])).toEqual([
    expect.stringContaining("from about 2024-01-09T01:00Z on they are those of H1"),
  ]);
  expect(stepDoubts("H1", [...every(30, 3_600), ...every(9, 86_400, START_MS / 1000 + 200_000)])).toEqual([
    expect.stringContaining("they are those of D1"),
  ]);
});

test("gaps, weekends and sparse minutes are not", () => {
  const weeks = every(40, 3_600).flatMap((time) => [time, time + 7 * 86_400]);
  expect(
    stepDoubts(
      "H1",
      weeks.toSorted((a, b) => a - b),
    ),
  ).toEqual([]);
  expect(
    stepDoubts(
      "M1",
      every(900, 60).filter((_, index) => (index * 7919) % 13 < 4),
    ),
  ).toEqual([]);
  expect(stepDoubts("M1", every(15, 3_600))).toEqual([]);
});
