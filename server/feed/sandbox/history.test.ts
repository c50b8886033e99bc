import { expect, test } from "vitest";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { DAY_MS, DAY_S, MINUTE_S } from "#lib/units";
import { sandboxHistory } from "./history";
import { createSandboxPrices } from "./prices";

const SEED = 1;
const catalogue = createSandboxCatalogue();
const prices = createSandboxPrices({ catalogue, seed: SEED });
const { minutes } = sandboxHistory(SEED);

function runsOf(ticker: string, from: number, to: number) {
  const listing = catalogue.find(ticker) ?? expect.fail(`${ticker} is not listed`);
  return minutes(listing, catalogue.calendar(ticker), { from, to });
}

test.each(catalogue.list().map(({ ticker }) => ticker))("the minutes of %s are those that have a price", (ticker) => {
  for (const day of [Date.UTC(2025, 11, 31), Date.UTC(2026, 2, 6), Date.UTC(2026, 2, 8)].map((ms) => ms / DAY_MS)) {
    const priced = prices.series(ticker)?.minutes(day)?.count ?? [];
    const expected = [...priced].flatMap((count, minute) => (count > 0 ? [day * DAY_S + minute * MINUTE_S] : []));
    const times = runsOf(ticker, day * DAY_S, (day + 1) * DAY_S).flatMap(({ from, to }) =>
      Array.from({ length: (to - from) / MINUTE_S }, (_, minute) => from + minute * MINUTE_S),
    );
    expect(times).toEqual(expected);
  }
});

test("runs are cut to the span, and go on over midnight", () => {
  const from = Date.UTC(2026, 2, 5, 23, 50) / 1_000;
  expect(runsOf("EURUSD", from, from + 2 * DAY_S)).toEqual([{ from, to: from + 2 * DAY_S }]);
  expect(runsOf("EURUSD", from, from)).toEqual([]);
});
