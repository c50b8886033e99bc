import fc from "fast-check";
import { expect, test } from "vitest";
import { createAlignment, TIMEFRAME_SECONDS, TIMEFRAMES_ORDER } from "./timeframe";
import { answerWindow, resolveWindow, type WindowAnswer, type WindowRequest } from "./window";

const NOW = 1_767_268_800;
const NOW_MS = NOW * 1000 + 250;
const ALIGNMENT = createAlignment();

interface Row {
  readonly time: number;
}

/** A store of rows that behaves as the kline store does. */
function ask(
  rows: readonly Row[],
  request: WindowRequest,
  timeframe: (typeof TIMEFRAMES_ORDER)[number] = "M1",
): WindowAnswer<Row> {
  const window = resolveWindow(request, NOW_MS);
  const { read } = window;
  const inside = read === null ? [] : rows.filter(({ time }) => time >= read.from && time < read.to);
  const kept = read?.end === "newest" ? inside.slice(-read.limit) : inside.slice(0, read?.limit);
  return answerWindow(window, kept, timeframe);
}

const minutes = (count: number): Row[] => Array.from({ length: count }, (_, index) => ({ time: NOW - (count - 1 - index) * 60 }));
const times = (answer: WindowAnswer<Row>) => answer.items.map(({ time }) => time);

test("a window without bounds returns the newest rows, ascending, and starts at the oldest of them", () => {
  const answer = ask(minutes(10), { limit: 3 });
  expect(answer).toEqual({
    from: NOW - 120,
    to: NOW + 1,
    count: 3,
    limit: 3,
    next_from: null,
    items: [{ time: NOW - 120 }, { time: NOW - 60 }, { time: NOW }],
  });
});

test("a window with only `to` returns the newest rows before it", () => {
  const answer = ask(minutes(10), { to: NOW - 60, limit: 2 });
  expect(times(answer)).toEqual([NOW - 180, NOW - 120]);
  expect(answer).toMatchObject({ from: NOW - 180, to: NOW - 60, next_from: null });
});

test("a window with only `from` returns the oldest rows from there, and the next open time", () => {
  const answer = ask(minutes(10), { from: NOW - 300, limit: 2 });
  expect(times(answer)).toEqual([NOW - 300, NOW - 240]);
  expect(answer).toMatchObject({ from: NOW - 300, to: NOW + 1, next_from: NOW - 180 });
});

test("a window with both bounds returns the oldest rows from `from`, not past `to`", () => {
  expect(ask(minutes(10), { from: NOW - 300, to: NOW - 180, limit: 5 })).toEqual({
    from: NOW - 300,
    to: NOW - 180,
    count: 2,
    limit: 5,
    next_from: null,
    items: [{ time: NOW - 300 }, { time: NOW - 240 }],
  });
});

test("a window with exactly `limit` rows has no next_from", () => {
  expect(ask(minutes(10), { from: NOW - 300, to: NOW - 180, limit: 2 }).next_from).toBeNull();
});

test("a `to` in the future counts as now, and a kline that opens in this second is included", () => {
  for (const to of [undefined, NOW + 1, NOW + 1_000_000]) {
    const answer = ask(minutes(2), { from: NOW - 60, to, limit: 5 });
    expect(times(answer)).toEqual([NOW - 60, NOW]);
    expect(answer.to).toBe(NOW + 1);
  }
});

test("a window in the future is empty and valid, and nothing is read for it", () => {
  for (const to of [undefined, NOW + 2_000]) {
    expect(resolveWindow({ from: NOW + 1_000, to, limit: 5 }, NOW_MS).read).toBeNull();
    expect(ask(minutes(2), { from: NOW + 1_000, to, limit: 5 })).toMatchObject({ from: NOW + 1_000, to: NOW + 1_001, count: 0 });
  }
});

test("a window reads one row more than its limit from the oldest on, its limit of the newest, and nothing where no row can be", () => {
  const read = (request: WindowRequest) => resolveWindow(request, NOW_MS).read;
  expect(read({ from: 5, limit: 3 })).toEqual({ from: 5, to: NOW + 1, limit: 4, end: "oldest" });
  expect(read({ to: 5, limit: 3 })).toEqual({ from: 0, to: 5, limit: 3, end: "newest" });
  expect(read({ from: NOW, limit: 3 })).toEqual({ from: NOW, to: NOW + 1, limit: 4, end: "oldest" });
  expect(read({ from: NOW + 1, limit: 3 })).toBeNull();
  expect(read({ to: 0, limit: 3 })).toBeNull();
});

test("of more rows than were requested, an answer has the newest when they were requested, otherwise the oldest", () => {
  const answer = (request: WindowRequest) => times(answerWindow(resolveWindow(request, NOW_MS), minutes(9), "M1"));
  expect(answer({ limit: 2 })).toEqual([NOW - 60, NOW]);
  expect(answer({ from: NOW - 480, limit: 2 })).toEqual([NOW - 480, NOW - 420]);
});

test("an empty window of the newest rows spans `limit` nominal klines, and never starts before 1970", () => {
  expect(ask([], { limit: 10 }, "H1")).toMatchObject({ from: NOW + 1 - 36_000, to: NOW + 1, items: [] });
  expect(ask([], { to: 1_000, limit: 10 }, "MN1")).toMatchObject({ from: 0, to: 1_000, items: [] });
  expect(ask([], { to: 0, limit: 10 })).toMatchObject({ from: 0, to: 0, items: [] });
});

const rows = fc
  .uniqueArray(fc.integer({ min: NOW - 1_000, max: NOW }), { maxLength: 80 })
  .map((found) => found.sort((a, b) => a - b).map((time) => ({ time })));
const bound = fc.integer({ min: NOW - 1_100, max: NOW + 100 });

test("following next_from returns each row of the window once, in order", () => {
  fc.assert(
    fc.property(rows, bound, bound, fc.integer({ min: 1, max: 20 }), (all, a, b, limit) => {
      const [from, to] = a < b ? [a, b] : [b, a + 1];
      const seen: number[] = [];
      for (let next: number | null = from; next !== null; ) {
        const answer: WindowAnswer<Row> = ask(all, { from: next, to, limit });
        seen.push(...times(answer));
        next = answer.next_from;
      }
      expect(seen).toEqual(all.map(({ time }) => time).filter((time) => time >= from && time < to));
    }),
  );
});

test("paging back with `to` set to the previous answer's `from` returns each row once, in reverse pages", () => {
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 20 }), (all, limit) => {
      let seen: number[] = [];
      for (let to = NOW + 1; ; ) {
        const answer = ask(all, { to, limit });
        seen = [...times(answer), ...seen];
        if (answer.count === 0) break;
        to = answer.from;
      }
      expect(seen).toEqual(all.map(({ time }) => time));
    }),
  );
});

test("every row of an answer lies in its window", () => {
  const request = fc.record({ from: fc.option(bound, { nil: undefined }), to: fc.option(bound, { nil: undefined }) });
  fc.assert(
    fc.property(rows, request, fc.integer({ min: 1, max: 20 }), (all, { from, to }, limit) => {
      fc.pre(from === undefined || to === undefined || from < to);
      const answer = ask(all, { from, to, limit });
      expect(Number.isInteger(answer.from) && Number.isInteger(answer.to)).toBe(true);
      expect(answer.from).toBeLessThan(answer.to);
      expect(answer.count).toBe(answer.items.length);
      expect(answer.count).toBeLessThanOrEqual(limit);
      for (const time of times(answer)) expect(time >= answer.from && time < answer.to).toBe(true);
      if (answer.next_from !== null) expect(answer.next_from).toBeGreaterThan(times(answer).at(-1) ?? 0);
    }),
  );
});

test("the newest kline of any timeframe is in the window without bounds", () => {
  for (const timeframe of TIMEFRAMES_ORDER) {
    const time = ALIGNMENT.openTime(timeframe, NOW);
    expect(times(ask([{ time: time - TIMEFRAME_SECONDS[timeframe] }, { time }], { limit: 1 }, timeframe))).toEqual([time]);
  }
});
