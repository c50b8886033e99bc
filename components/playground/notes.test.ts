import { expect, test } from "vitest";
import { notesOf } from "./notes";

test("a window of klines that lack ticks, or without klines, is explained", () => {
  const noteOf = (data: object) => notesOf("klines", { data: { ticker: "EURUSD", ...data } }).map(({ text }) => text);
  expect(noteOf({ count: 3, incomplete: [60] })).toEqual(["1 kline lacks ticks; “incomplete” names the open times."]);
  expect(noteOf({ count: 3, incomplete: [60, 120] })).toEqual(["2 klines lack ticks; “incomplete” names the open times."]);
  expect(noteOf({ count: 3 })).toEqual([]);
  expect(noteOf({ count: 0, expected_count: 0 })).toEqual([expect.stringContaining("was closed")]);
  expect(noteOf({ count: 0, expected_count: 5 })).toEqual([expect.stringContaining("No klines for EURUSD")]);
});
