import { expect, test } from "vitest";
import { barOf, summaryOf } from "./bars";

const feed = (given: object) => ({ minutes: 15, well: 0, idle: 0, not_bound: 0, down: 0, ...given });

test.each([
  ["all well", feed({ well: 15 }), "operational", "operational"],
  ["a venue without a provider is no closed market", feed({ idle: 15, not_bound: 15 }), "not_bound", "not bound"],
  ["a market that was closed", feed({ idle: 15 }), "closed", "market closed"],
  ["bound while the market was closed", feed({ idle: 15, not_bound: 5 }), "closed", "market closed"],
  ["nothing recorded", feed({ minutes: 0 }), "no_data", "no data"],
  ["a feed that was down while a market was open", feed({ down: 15 }), "down", "down"],
  ["down until the market closed", feed({ down: 5, idle: 10 }), "down", "down"],
  ["one late instrument is no outage", feed({}), "degraded", "operational for 0 ms of 15 min"],
  ["down for a part", feed({ well: 10, down: 5 }), "degraded", "operational for 10 min of 15 min, down for 5 min"],
  ["a part that is not recorded", feed({ minutes: 10, down: 10 }), "down", "down for 10 min, no data for the rest"],
  ["REST that failed", { minutes: 15, well: 0 }, "down", "down"],
  ["REST that failed for a part", { minutes: 15, well: 12 }, "degraded", "operational for 12 min of 15 min, down for 3 min"],
])("the state of a bar: %s", (_, bar, state, words) => {
  expect(barOf(bar, 15)).toEqual({ state, words });
});

test("availability leaves out what was not expected, and says when nothing was", () => {
  expect(summaryOf([feed({ well: 15 }), feed({ idle: 15 }), feed({ down: 15 })])).toBe("50.00% of 30 min recorded");
  expect(summaryOf([feed({ minutes: 2, down: 2 })])).toBe("recording started 2 min ago");
  expect(summaryOf([feed({ minutes: 0 })])).toBe("no data");
  expect(summaryOf([feed({ minutes: 0 }), feed({ idle: 15, not_bound: 15 })])).toBe("not bound");
  expect(summaryOf([feed({ idle: 15 })])).toBe("market closed");
});
