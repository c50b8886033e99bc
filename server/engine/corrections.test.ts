import { expect, test } from "vitest";
import { STREAM_CORRECTIONS_MAX_RECORDS } from "#lib/contract/limits";
import type { Listing } from "#lib/domain/instrument";
import { isClosed, type Kline } from "#lib/domain/kline";
import { createAlignment } from "#lib/domain/timeframe";
import type { StoredKlines } from "#lib/market/ports";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { testKline } from "#server/testing/market";
import { createMemoryKlines, type MemoryKlines } from "#server/testing/memory-klines";
import { type Correction, readCorrections } from "./corrections";

const alignment = createAlignment();
/** A Wednesday. */
const FROM_S = Date.UTC(2026, 0, 7, 12) / 1_000;
const NOW_MS = (FROM_S + 900) * 1_000;
const TICKER = "EURUSD";
const listing = createSandboxCatalogue().find(TICKER) as Listing;
const at = (minute: number, timeframe: Kline["timeframe"] = "M1") => testKline(TICKER, timeframe, FROM_S + minute * 60, 1.5);
const names = (found: readonly Correction[]) =>
  found.map(({ kline: { timeframe, time }, removed }) => `${timeframe} ${(time - FROM_S) / 60}${removed ? " removed" : ""}`);

const withStruck = (store: MemoryKlines, struckBy: StoredKlines["struckBy"]) => ({
  ...store,
  stored: { ...store.stored, struckBy },
});

test("struck minutes are removed, with the longer klines that had no other minutes; longer ones that are left are corrected", async () => {
  const store = createMemoryKlines();
  // Minutes 0 to 5 were stored; 2 to 5 are struck out: M5 0 has others, M5 5 has none.
  await store.writeBatch([at(0), at(1), at(0, "M5"), at(0, "M15")], []);
  const struck = [2, 3, 4, 5].map((minute) => at(minute));
  const asked: unknown[] = [];
  const struckBy = async (number: number, ticker: string) => {
    asked.push([number, ticker]);
    return struck;
  };
  const minutes = { first: FROM_S + 120, last: FROM_S + 300, struck: 7 };
  const closed = (kline: Kline) => isClosed(kline, NOW_MS, alignment);
  const found = await readCorrections(withStruck(store, struckBy), listing, minutes, closed, alignment);
  expect(asked).toEqual([[7, TICKER]]);
  const gone = ["M1 2", "M1 3", "M1 4", "M1 5", "M5 5"].map((name) => `${name} removed`);
  expect(names(found)).toEqual(["M5 0", ...gone]);
  expect(found.at(-1)?.kline).toMatchObject({ close: 1.5, tick_volume: struck[3]?.tick_volume });
});

test("struck minutes and longer klines that are stored again are corrected, from the first to the last", async () => {
  const store = createMemoryKlines();
  const minutes = [0, 1, 2, 3, 4, 5].map((minute) => at(minute));
  await store.writeBatch([...minutes, at(0, "M5"), at(5, "M5")], []);
  const changed = { first: FROM_S, last: FROM_S + 300, struck: 7 };
  const found = await readCorrections(
    withStruck(store, async () => minutes),
    listing,
    changed,
    () => true,
    alignment,
  );
  const longer = ["M15", "M30", "H1", "H4", "D1", "W1", "MN1"].map((timeframe) => expect.stringMatching(`^${timeframe} -?\\d+$`));
  expect(names(found)).toEqual(["M1 0", "M1 1", "M1 2", "M1 3", "M1 4", "M1 5", "M5 0", "M5 5", ...longer]);
  expect(await readCorrections(store, listing, changed, () => true, alignment)).toEqual(found);
});

test("other changes remove nothing, and are cut to the newest klines", async () => {
  const store = createMemoryKlines();
  await store.writeBatch(
    Array.from({ length: 150 }, (_, index) => at(index - 150)),
    [],
  );
  const minutes = { first: FROM_S - 9_000, last: FROM_S - 60 };
  const struckBy = async () => [at(7)];
  const found = await readCorrections(withStruck(store, struckBy), listing, minutes, () => true, alignment);
  const minutesFound = found.filter(({ kline }) => kline.timeframe === "M1");
  expect(minutesFound).toHaveLength(STREAM_CORRECTIONS_MAX_RECORDS);
  expect(minutesFound.at(-1)).toEqual({ kline: at(-1) });
});
