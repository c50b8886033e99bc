import fc from "fast-check";
import { expect, test } from "vitest";
import { joinColumns, klineAt } from "#lib/domain/columns";
import type { Kline } from "#lib/domain/kline";
import { DAY_MS } from "#lib/units";
import { emptyRow, type Row, type RowKind } from "#server/import/rows/row";
import { createIntervals } from "#server/import/survey/timeframe";
import { createMinutes, type MinutesOptions, PART_MAX_TICKS } from "./klines";

const START = Date.UTC(2024, 0, 2);
const tick = (ms: number, bid: number, ask: number, volume = Number.NaN): Row => ({
  ...emptyRow(),
  timeMs: START + ms,
  bid,
  ask,
  volume,
});
const kline = (minute: number, close: number, more: Partial<Row> = {}): Row => ({
  ...emptyRow(),
  timeMs: START + minute * 60_000,
  open: 1.1,
  high: 1.2,
  low: 1.05,
  close,
  tickVolume: 5,
  spread: 0.0001,
  ...more,
});

function fold(kind: RowKind, rows: readonly Row[], options: Partial<MinutesOptions> = {}) {
  const malformed: string[] = [];
  const minutes = createMinutes(kind, {
    ticker: "EURUSD",
    intervals: createIntervals("M1", "forex"),
    hasAsks: false,
    digits: 5,
    range: { low: 0.5, high: 20 },
    dropsFillers: true,
    skipRows: 0,
    newestFirst: false,
    nowMs: Date.UTC(2025, 0, 1),
    onMalformed: (line, reason) => malformed.push(`${line}: ${reason}`),
    onMisaligned: () => undefined,
    ...options,
  });
  rows.forEach((row, index) => {
    minutes.sink.row(row, index + 1);
  });
  const safe = minutes.take("file");
  minutes.finish();
  const last = minutes.take("file");
  const all = joinColumns([safe.klines, last.klines]);
  const klines = [...all.time.keys()].map((row) => klineAt(all, row, "EURUSD", "M1"));
  const ticks = [safe, last].flatMap(({ ticks: { time, bid } }) => [...time].map((at, row) => [at - START, bid[row]] as const));
  return { klines, ticks, safeRows: safe.rows, rows: last.rows, counts: minutes.counts, malformed };
}

test("ticks aggregate to minutes with bid prices, number of quotes, summed volume and smallest spread", () => {
  const { klines, counts } = fold("ticks", [
    tick(0, 1.1, 1.1002, 2),
    tick(500, 1.1003, 1.1004, 1.5),
    tick(59_999, 1.0999, 1.1001),
    tick(60_000, 1.2, 1.3),
  ]);
  const first: Kline = {
    type: "kline",
    ticker: "EURUSD",
    timeframe: "M1",
    time: START / 1000,
    open: 1.1,
    high: 1.1003,
    low: 1.0999,
    close: 1.0999,
    tick_volume: 3,
    real_volume: 3.5,
    spread: 0.0001,
  };
  expect(klines).toEqual([
    first,
    {
      ...first,
      time: START / 1000 + 60,
      open: 1.2,
      high: 1.2,
      low: 1.2,
      close: 1.2,
      tick_volume: 1,
      real_volume: null,
      spread: 0.1,
    },
  ]);
  expect(counts).toMatchObject({ rows: 4, klines: 2, firstMs: START, lastMs: START + 60_000 });
});

test("ticks of the same millisecond are all kept, in the order of the file", () => {
  const { klines } = fold("ticks", [tick(7, 1.1, 1.2), tick(7, 1.3, 1.4), tick(7, 1.2, 1.3)]);
  expect(klines[0]).toMatchObject({ open: 1.1, high: 1.3, close: 1.2, tick_volume: 3 });
});

test("ticks that a push would refuse are refused: bid above ask, which does not make a row malformed, and impossible prices", () => {
  const rows = [
    tick(0, 1.1, 1.1002),
    tick(1, 1.1005, 1.1003),
    tick(2, 1.1001, 1.1001),
    tick(60_000, 1.2, 1.1),
    tick(60_001, 1, 2e12),
  ];
  const { klines, counts, malformed } = fold("ticks", rows);
  expect(klines).toMatchObject([{ high: 1.1001, spread: 0, tick_volume: 2 }]);
  expect(counts).toMatchObject({ rows: 5, crossed: 2, malformed: 1 });
  expect(malformed).toEqual(["5: bid or ask is not a possible price"]);
});

test("late ticks are sorted within their minute and rejected after it", () => {
  const { klines, ticks, counts, malformed } = fold("ticks", [
    tick(10, 1.1, 1.2),
    tick(30, 1.3, 1.4),
    tick(20, 1.4, 1.5),
    tick(60_000, 1, 1.1),
    tick(40, 9, 9),
  ]);
  expect(klines).toMatchObject([{ close: 1.3, high: 1.4 }, { close: 1 }]);
  expect(ticks).toEqual([
    [10, 1.1],
    [20, 1.4],
    [30, 1.3],
    [60_000, 1],
  ]);
  expect(counts).toMatchObject({ outOfOrder: 1, malformed: 1 });
  expect(malformed).toEqual(["5: its time goes back past a minute that is already complete"]);
});

test("prices lose floating-point noise and are rounded to the instrument's decimals", () => {
  const { klines } = fold("klines", [kline(0, 1.1338300000000001, { spread: 0.00010000000000000005 })]);
  expect(klines[0]).toMatchObject({ close: 1.13383, spread: 0.0001 });
});

test("a row whose prices the instrument cannot have is refused after one whose prices it can", () => {
  const [fine, stray] = [1.1, 1_102];
  const klines = (...prices: number[]) =>
    fold(
      "klines",
      prices.map((price, minute) => kline(minute, price, { open: price, high: price, low: price })),
    );
  const { malformed, klines: stored } = klines(fine, stray, stray, fine);
  expect(malformed).toEqual([2, 3].map((line) => expect.stringContaining(`${line}: its prices are not those of the instrument`)));
  expect(stored).toHaveLength(2);
  // Of another instrument: refused as a whole by the check of its prices.
  expect(klines(stray, stray).malformed).toEqual([]);
  const ticks = fold("ticks", [tick(0, fine, 1.2), tick(1, stray, 1_103), tick(2, fine, 30), tick(3, fine, 1.2)]);
  expect(ticks.malformed).toEqual([
    expect.stringContaining("2: its prices are not those"),
    expect.stringContaining("3: its prices are more than a factor of 3 apart"),
  ]);
  expect(ticks.klines).toMatchObject([{ high: fine }]);
});

test("of a minute that occurs twice, unfinished and finished, the last one counts", () => {
  const { klines, counts } = fold("klines", [kline(0, 1.1), kline(1, 1.11), kline(1, 1.12), kline(2, 1.13), kline(1, 1.14)]);
  expect(counts).toMatchObject({ repeated: 1, outOfOrder: 1, klines: 5 });
  expect(klines.map(({ close }) => close)).toEqual([1.1, 1.11, 1.12, 1.13, 1.14]);
});

test("flat klines without volume are fillers only if the source has volumes", () => {
  const flat = kline(0, 1.1, { high: 1.1, low: 1.1, tickVolume: 0 });
  const dukascopy = { ...flat, tickVolume: Number.NaN, realVolume: 0 };
  expect(fold("klines", [flat, dukascopy]).counts).toMatchObject({ fillers: 2, klines: 0, rows: 2 });
  expect(fold("klines", [flat], { dropsFillers: false }).counts).toMatchObject({ fillers: 0, klines: 1 });
  expect(
    fold("klines", [
      { ...flat, tickVolume: 3 },
      { ...flat, tickVolume: Number.NaN },
    ]).counts,
  ).toMatchObject({ fillers: 0, klines: 2 });
});

test("fields that the source does not have are 0 or unknown", () => {
  const { klines } = fold("klines", [kline(0, 1.1, { tickVolume: Number.NaN, spread: Number.NaN })]);
  expect(klines[0]).toMatchObject({ tick_volume: 0, real_volume: null, spread: null });
});

test.each([
  ["in the future", kline(0, 1.1, { timeMs: Date.UTC(2025, 0, 1, 0, 1) })],
  ["before 1971", kline(0, 1.1, { timeMs: 0 })],
  ["not the start of a minute", kline(0, 1.1, { timeMs: START + 30_000 })],
  ["not between high and low", kline(0, 1.5)],
  ["not between high and low", kline(0, 1.1, { low: 1.3 })],
  ["more than a factor of 3 apart", kline(0, 1.1, { high: 1_102 })],
])("a kline with an impossible value is rejected: %s", (reason, row) => {
  const { malformed, counts } = fold("klines", [row]);
  expect(malformed[0]).toContain(reason);
  expect(counts).toMatchObject({ malformed: 1, klines: 0 });
});

test("the current minute is skipped, because the running service still writes it", () => {
  const nowMs = START + 119_999;
  for (const [kind, rows] of [
    ["klines", [kline(0, 1.1), kline(1, 1.1)]],
    ["ticks", [tick(0, 1.1, 1.2), tick(60_000, 1.1, 1.2), tick(61_000, 1.1, 1.2)]],
  ] as const) {
    expect(fold(kind, rows, { nowMs }).counts).toMatchObject({ klines: 1, unfinished: 1, malformed: 0 });
    expect(fold(kind, rows, { nowMs: nowMs + 1 }).counts).toMatchObject({ klines: 2, unfinished: 0 });
    // Nor are its ticks kept.
    const kept = (atMs: number) => fold(kind, rows, { nowMs: atMs }).ticks.length;
    expect([kept(nowMs), kept(nowMs + 1)]).toEqual(kind === "ticks" ? [1, 3] : [0, 0]);
  }
});

test("only complete minutes count as stored, so that a resumed import starts at a minute", () => {
  const ticks = [tick(0, 1.1, 1.2), tick(1, 1.1, 1.2), tick(60_000, 1.1, 1.2), tick(60_001, 1.1, 1.2)];
  expect(fold("ticks", ticks)).toMatchObject({ safeRows: 2, rows: 4 });
  expect(fold("klines", [kline(0, 1.1), kline(1, 1.1)])).toMatchObject({ safeRows: 2, rows: 2 });
});

/** A reader of ticks that says when a part of the file can be taken. */
function tickReader() {
  const refused: string[] = [];
  const minutes = createMinutes("ticks", {
    ticker: "EURUSD",
    intervals: createIntervals("M1", "forex"),
    hasAsks: false,
    digits: 5,
    range: null,
    dropsFillers: false,
    skipRows: 0,
    newestFirst: false,
    nowMs: Date.UTC(2025, 0, 1),
    onMalformed: (_, reason) => refused.push(reason),
    onMisaligned: () => undefined,
  });
  let line = 0;
  function add(ms: number): void {
    line += 1;
    minutes.sink.row(tick(ms, 1.1, 1.2), line);
  }
  return { minutes, refused, add };
}

test("a part of ticks is taken once enough of them are complete, up to the end of a UTC day", () => {
  const { minutes, add } = tickReader();
  const isFull = () => minutes.isFull({ batchKlines: 1_000, batchTicks: 3 });
  for (let at = 0; at < 5; at += 1) add(at * 60_000);
  expect(isFull()).toBe(false);
  for (const at of [0, 60_000]) add(DAY_MS + at);
  expect(isFull()).toBe(true);
  const { ticks, klines, rows } = minutes.take("period");
  expect([ticks.time.length, klines.time.length, rows]).toEqual([5, 5, 5]);
  expect(isFull()).toBe(false);
  minutes.finish();
  expect(minutes.take("file")).toMatchObject({ ticks: { time: { length: 2 } }, rows: 7 });
});

test("a day, or a minute, of more ticks than any instrument has does not grow without end", () => {
  const { minutes, refused, add } = tickReader();
  for (let at = 0; at < PART_MAX_TICKS + 2; at += 1) add(0);
  expect(refused).toEqual(new Array(2).fill("there are more than 1,000,000 ticks in its minute"));
  add(60_000);
  expect(minutes.isFull({ batchKlines: 1_000, batchTicks: 3 })).toBe(true);
  expect(minutes.take("period").ticks.time.length).toBe(PART_MAX_TICKS);
});

const anyTicks = fc
  .array(fc.tuple(fc.nat(40_000), fc.integer({ min: 1, max: 999 })), { minLength: 1, maxLength: 60 })
  .map((steps) => {
    let ms = 0;
    return steps.map(([step, price]) => {
      ms += step;
      return tick(ms, price / 100, (price + 3) / 100);
    });
  });

test.each(["klines", "ticks"] as const)("of %s, a part ends with a month, and the next one begins where it ended", (kind) => {
  const minutes = createMinutes(kind, {
    ticker: "EURUSD",
    intervals: createIntervals("M1", "forex"),
    hasAsks: false,
    digits: 5,
    range: null,
    dropsFillers: true,
    skipRows: 0,
    newestFirst: false,
    nowMs: Date.UTC(2025, 0, 1),
    onMalformed: () => undefined,
    onMisaligned: () => undefined,
  });
  const monthEnd = (Date.UTC(2024, 1, 1) - START) / 60_000;
  const rowAt = (minute: number) => (kind === "klines" ? kline(minute, 1.1) : tick(minute * 60_000, 1.1, 1.2));
  const give = (...offsets: number[]) => {
    for (const offset of offsets) minutes.sink.row(rowAt(monthEnd + offset), 1);
  };
  const timesOf = ({ klines }: { klines: { time: Float64Array } }) =>
    [...klines.time].map((time) => (time * 1_000 - START) / 60_000 - monthEnd);
  give(-3, -2, -1, 0, 1, 2);
  const before = minutes.take("period");
  expect([timesOf(before), before.rows]).toEqual([[-3, -2, -1], 3]);
  // Nothing ends here: all that is complete.
  const within = minutes.take("period");
  const complete = kind === "klines" ? [0, 1, 2] : [0, 1];
  expect([timesOf(within), within.rows]).toEqual([complete, 3 + complete.length]);
  give(3);
  minutes.finish();
  const rest = minutes.take("file");
  expect([timesOf(rest), rest.rows]).toEqual([[0, 1, 2, 3].slice(complete.length), 7]);
});

test("an import that stops anywhere and resumes gives the same klines and ticks as an uninterrupted one", () => {
  fc.assert(
    fc.property(anyTicks, fc.nat(60), (ticks, cut) => {
      const whole = fold("ticks", ticks);
      const { safeRows } = fold("ticks", ticks.slice(0, cut));
      const stored = fold("ticks", ticks.slice(0, safeRows));
      const rest = fold("ticks", ticks, { skipRows: safeRows });
      expect([...stored.klines, ...rest.klines]).toEqual(whole.klines);
      expect([...stored.ticks, ...rest.ticks]).toEqual(whole.ticks);
    }),
  );
});
