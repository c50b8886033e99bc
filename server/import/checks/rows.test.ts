import { expect, test } from "vitest";
import { columnsOf } from "#lib/domain/columns";
import { emptyRow, type Row } from "#server/import/rows/row";
import { createRowChecks, createStepCheck, createTickCheck } from "./rows";

const START_MS = Date.UTC(2024, 0, 9);

const NO_CLAIMS = { priceDigits: null, spreadDigits: null, quotesEnd: null };

function doubtsOf(rows: readonly Partial<Row>[], claims: Parameters<typeof createRowChecks>[0] = NO_CLAIMS): string[] {
  const checks = createRowChecks(claims);
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

test("few rows of many may repeat a time, as at the ends of pages of an API: the store counts them", () => {
  const rows = Array.from({ length: 200 }, (_, index) => ({ timeMs: START_MS + index * 60_000 }));
  expect(doubtsOf([...rows, { timeMs: START_MS + 199 * 60_000, close: 1.15 }])).toEqual([]);
});

test("a spread of more than a twentieth of the price is doubtful, even one", () => {
  const rows = Array.from({ length: 200 }, (_, index) => ({ spread: index === 7 ? 12 : 0.0001 }));
  expect(doubtsOf(rows)[0]).toContain("1 of 200 spreads are more than 0.5 % of the price");
});

test("prices with more decimals than those that were taken for points are doubtful", () => {
  const claims = { ...NO_CLAIMS, priceDigits: 4, spreadDigits: 4 };
  expect(doubtsOf([{ close: 1.1001, spread: 0.0002 }], claims)).toEqual([]);
  expect(doubtsOf([{ close: 1.1001 }, { close: 1.10015 }], claims)[0]).toContain("say it with --point-digits");
});

test("ticks of which many share each time are doubtful", () => {
  const doubts = (perTime: number) => {
    const check = createTickCheck();
    for (let tick = 0; tick < 400; tick += 1) check.row({ ...emptyRow(), timeMs: START_MS + Math.floor(tick / perTime) * 1_000 });
    return check.doubts().map(({ reason }) => reason);
  };
  expect(doubts(10)).toEqual([]);
  expect(doubts(40)).toEqual([expect.stringContaining("its 400 ticks have only 10 times")]);
});

test("spreads of more than half a percent of the price are doubtful, unless they are few", () => {
  const rows = (large: number) => Array.from({ length: 200 }, (_, index) => ({ spread: index < large ? 0.01 : 0.0001 }));
  expect(doubtsOf(rows(2))).toEqual([]);
  expect(doubtsOf(rows(3))[0]).toContain("3 of 200 spreads are more than 0.5 % of the price");
  expect(doubtsOf(rows(200)).slice(1)).toContain("line 2: 0.01 at a price of 1.1");
});

test("spreads and volumes of another kind than the first ones are doubtful", () => {
  const points = { ...NO_CLAIMS, spreadDigits: 5 };
  expect(doubtsOf([{ spread: 0.00012 }, { spread: 0.0003 }, { spread: 0 }], points)).toEqual([]);
  expect(doubtsOf([{ spread: 0.00012 }, { spread: 0.0000000012 }], points)).toEqual([
    expect.stringContaining("its first spreads are whole numbers, and 1 later ones are of another kind"),
    "line 3: a spread of 0.00012",
  ]);
  const counts = { ...NO_CLAIMS, quotesEnd: 100_000 };
  expect(doubtsOf([{ tickVolume: 99_999 }, { tickVolume: 0 }], counts)).toEqual([]);
  for (const tickVolume of [120.55, 264_000])
    expect(doubtsOf([{ tickVolume: 42 }, { tickVolume }], counts)).toEqual([
      expect.stringContaining("say what they are with --volume ticks or --volume real"),
      `line 3: a volume of ${tickVolume}`,
    ]);
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
    expect.stringContaining("from about 2024-01-09T01:00Z on its rows are as far apart as those of a longer one"),
  ]);
  expect(stepDoubts("H1", [...every(30, 3_600), ...every(9, 86_400, START_MS / 1000 + 200_000)])).toEqual([
    expect.stringContaining("as far apart as those of a longer one"),
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
  expect(stepDoubts("M1", [...every(30, 60), ...every(30, 600, START_MS / 1000 + 3_600)])).toHaveLength(1);
});
