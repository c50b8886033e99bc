import { expect, test } from "vitest";
import { createDivergence } from "./divergence";

const POINT = 0.00001;

/** Compares two providers each second; the second one's price is `differs` spreads of 2 points away. */
function compare(seconds: number, differs: (second: number) => number, ticks: (second: number) => boolean = () => true) {
  const divergence = createDivergence();
  const begun: [second: number, names: string[]][] = [];
  for (let second = 0; second <= seconds; second++) {
    const atMs = second * 1_000;
    const price = (bid: number) => ({ bid, ask: bid + 2 * POINT, atMs });
    divergence.tick("first", "EURUSD", price(1.1));
    if (ticks(second)) divergence.tick("second", "EURUSD", price(1.1 + differs(second) * 2 * POINT));
    const names = divergence.look("EURUSD", "first", POINT, atMs);
    if (names.length > 0) begun.push([second, names]);
  }
  return { begun, list: divergence.list() };
}

test("prices that differ by more than ten spreads for a minute diverge, which is reported once", () => {
  expect(compare(200, () => 11)).toEqual({
    begun: [[60, ["second"]]],
    list: [{ name: "second", ticker: "EURUSD", sinceMs: 0 }],
  });
});

test.each([
  ["a difference of nine spreads", () => 9, undefined],
  ["a difference that ends within the minute", (second: number) => (second % 50 === 49 ? 0 : 50), undefined],
  ["a provider that no longer ticks", () => 50, (second: number) => second === 0],
] as const)("%s is no divergence", (_, differs, ticks) => {
  expect(compare(300, differs, ticks)).toEqual({ begun: [], list: [] });
});

test("a divergence ends when the prices agree again, and a later one is reported again", () => {
  const { begun, list } = compare(300, (second) => (second >= 100 && second < 150 ? 0 : 20));
  expect(begun.map(([second]) => second)).toEqual([60, 210]);
  expect(list).toHaveLength(1);
});

test("the wider of both spreads counts, and no spread is smaller than one unit of the last digit", () => {
  const divergence = createDivergence();
  for (let second = 0; second <= 120; second++) {
    const atMs = second * 1_000;
    divergence.tick("first", "EURUSD", { bid: 1.1, ask: 1.1, atMs });
    divergence.tick("second", "EURUSD", { bid: 1.1 + 9 * POINT, ask: 1.1 + 9 * POINT, atMs });
    divergence.tick("wide", "EURUSD", { bid: 1.2, ask: 1.22, atMs });
    expect(divergence.look("EURUSD", "first", POINT, atMs)).toEqual([]);
  }
});
