import { expect, test } from "vitest";
import { createCharts } from "./charts";
import { type Feed, troubleOf } from "./feed";

const POLLING = { by: "polling", everyMs: 5_000, key: "page" } as const satisfies Feed;
const WHY = 'The plan "demo" allows 2 connections at a time.';

test("a board that polls says why it has no stream, where the service said so", () => {
  expect(troubleOf(POLLING)).toBe("Can't open a stream. Refreshing every 5 s.");
  expect(troubleOf({ ...POLLING, why: WHY })).toBe(`Can't open a stream. ${WHY} Refreshing every 5 s.`);
});

test("a chart without a stream says why, where the service said so", () => {
  const charts = createCharts();
  const states: (string | undefined)[] = [];
  charts.bars("EURUSD").follow?.("M1", { onBar: () => undefined, onState: ({ why }) => states.push(why) });
  charts.onFeed({ ...POLLING, why: WHY });
  charts.onFeed(POLLING);
  expect(states).toEqual([
    undefined,
    `Can't open a stream, so this chart is not updated. ${WHY}`,
    expect.stringContaining("The pages of this browser may have 2 streams."),
  ]);
});
