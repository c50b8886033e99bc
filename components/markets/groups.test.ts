import { expect, test } from "vitest";
import type { MarketRow } from "#lib/contract/markets";
import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import { toInstrument } from "#lib/domain/instrument";
import { byGroup, groupOf, sortRows } from "./groups";

const row = (ticker: string, spread: number | undefined, change_pct: number | null): MarketRow =>
  ({
    ticker,
    pip_size: 1,
    price: spread === undefined ? null : { bid: 1, ask: 1 + spread, change_pct, time_msc: 0 },
  }) as MarketRow;
const tickers = (rows: readonly MarketRow[]) => rows.map(({ ticker }) => ticker).join(" ");

test("every instrument is in one group: seven majors, 21 crosses, 20 exotics and six metals", () => {
  const groups = LIVE_LISTINGS.map(toInstrument).map(groupOf);
  const count = (group: string) => groups.filter((one) => one === group).length;
  expect(byGroup(LIVE_LISTINGS.map(toInstrument)).map(groupOf)).toEqual(
    ["Majors", "Metals", "Crosses", "Exotics"].flatMap((group) => groups.filter((one) => one === group)),
  );
  expect(["Majors", "Crosses", "Exotics", "Metals"].map(count)).toEqual([7, 21, 20, 6]);
});

test("rows are sorted by a column either way, and those without a value are always last", () => {
  const rows = [row("B", 2, null), row("A", undefined, null), row("C", 1, -0.5), row("D", 3, 0.2)];
  expect(tickers(sortRows(rows, { key: "spread", descending: false }))).toBe("C B D A");
  expect(tickers(sortRows(rows, { key: "spread", descending: true }))).toBe("D B C A");
  expect(tickers(sortRows(rows, { key: "change", descending: true }))).toBe("D C B A");
  expect(tickers(sortRows(rows, { key: "ticker", descending: false }))).toBe("A B C D");
  expect(tickers(sortRows(rows, { key: "none", descending: false }))).toBe("B A C D");
});
