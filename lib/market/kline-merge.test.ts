import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { testKline } from "#server/testing/market";
import { coversChanges, coversWindow, isSettled, mergeRows } from "./kline-merge";

const rows = (close: number) =>
  fc
    .uniqueArray(fc.integer({ min: 0, max: 40 }), { maxLength: 30 })
    .map((minutes) => minutes.sort((a, b) => a - b).map((minute) => testKline("EURUSD", "M1", minute * 60, close)));
const read = fc
  .record({
    from: fc.nat(1_000),
    length: fc.integer({ min: 1, max: 2_400 }),
    limit: fc.integer({ min: 1, max: 30 }),
    end: fc.constantFrom("oldest" as const, "newest" as const),
  })
  .map(({ length, ...rest }) => ({ ...rest, to: rest.from + length }));

describe("merging stored rows with the view", () => {
  test("a merge returns each open time once, ascending, prefers the view's row, and cuts from the given end", () => {
    fc.assert(
      fc.property(rows(1.2), rows(1.3), read, (all, recent, window) => {
        const inside = ({ time }: { time: number }) => time >= window.from && time < window.to;
        const cut = <Row>(list: Row[]) => (window.end === "oldest" ? list.slice(0, window.limit) : list.slice(-window.limit));
        const byTime = new Map([...all, ...recent].filter(inside).map((row) => [row.time, row]));
        const expected = cut([...byTime.values()].sort((a, b) => a.time - b.time));
        expect(mergeRows(cut(all.filter(inside)), recent, window)).toEqual(expected);
      }),
    );
  });
});

test("a merge prefers the stored row when it has more ticks than the view's", () => {
  const open = testKline("EURUSD", "M1", 60, 1.2);
  const whole = { ...open, close: 1.3, tick_volume: open.tick_volume + 1 };
  const read = { from: 0, to: 600, limit: 10, end: "newest" as const };
  expect(mergeRows([whole], [open], read)).toEqual([whole]);
  expect(mergeRows([open], [whole], read)).toEqual([whole]);
});

describe("rows read earlier", () => {
  const at = (minute: number) => testKline("EURUSD", "M1", minute * 60);

  test("the view covers changes to cached rows only when it holds every row that may have been open then", () => {
    expect(coversChanges([at(1), at(2), at(3)], [at(2), at(3), at(4)])).toBe(true);
    expect(coversChanges([at(1), at(2), at(3)], [at(3), at(4)])).toBe(false);
    expect(coversChanges([at(1), at(2), at(3)], [])).toBe(false);
    expect(coversChanges([at(3)], [at(3), at(4)])).toBe(false);
  });

  test("the view settles a window once all its rows are later", () => {
    const window = { from: 0, to: 300, limit: 3, end: "oldest" as const };
    expect(isSettled([at(1)], [at(5)], window)).toBe(true);
    expect(isSettled([at(1)], [at(4)], window)).toBe(false);
    expect(isSettled([at(1), at(2), at(3)], [at(4)], window)).toBe(true);
    expect(isSettled([at(1)], [], window)).toBe(false);
  });
});

describe("a window that the view covers", () => {
  test("a window that the view covers is the same without the store, whatever part of the series the view holds", () => {
    let covered = 0;
    fc.assert(
      fc.property(rows(1.2), fc.nat(30), read, (all, held, window) => {
        const recent = held === 0 ? [] : all.slice(-held);
        if (!coversWindow(recent, window)) return;
        covered += 1;
        const inside = all.filter(({ time }) => time >= window.from && time < window.to);
        const expected = window.end === "oldest" ? inside.slice(0, window.limit) : inside.slice(-window.limit);
        expect(mergeRows([], recent, window)).toEqual(expected);
      }),
    );
    expect(covered).toBeGreaterThan(0);
  });

  test("a covered window ends with the view's rows, or starts no earlier than they do", () => {
    const recent = [10, 11, 12].map((minute) => testKline("EURUSD", "M1", minute * 60));
    const covers = (from: number, to: number, limit: number, end: "oldest" | "newest") =>
      coversWindow(recent, { from: from * 60, to: to * 60, limit, end });
    expect([covers(0, 20, 3, "newest"), covers(0, 20, 4, "newest")]).toEqual([true, false]);
    expect([covers(0, 12, 2, "newest"), covers(0, 12, 3, "newest"), covers(0, 10, 1, "newest")]).toEqual([true, false, false]);
    expect([covers(10, 20, 99, "oldest"), covers(9, 20, 1, "oldest")]).toEqual([true, false]);
    expect(coversWindow([], { from: 0, to: 1, limit: 1, end: "newest" })).toBe(false);
  });
});
