import { afterAll, beforeAll, expect, test } from "vitest";
import { say, strikes } from "#server/store/history/layers";
import { inTransaction } from "#server/store/history/transaction";
import { createCatalogue } from "#server/store/market/catalogue";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { storeLayer, storeTail } from "#server/testing/layered";
import { testKlines } from "#server/testing/market";
import { mendableMinutes } from "./mendable-minutes";
import { noteWatched } from "./watched-minutes";

/** A Friday; New York closes at 22:00 UTC. */
const FROM_S = Date.UTC(2026, 0, 9, 21) / 1_000;
const minute = (index: number) => FROM_S + index * 60;
const range = (from: number, to: number) => ({ from: minute(from), to: minute(to) });
const klines = (from: number, to: number) => testKlines("EURUSD", "M1", minute(from), to - from, 60);

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

test("open minutes can be mended that are missing or come from the feed alone, not imported, struck out or watched ones", async () => {
  const calendar = (await createCatalogue(db, "live")).calendar("EURUSD");
  const mendable = (known = calendar) => mendableMinutes(db.pool, db.segments, "EURUSD", range(0, 120), known);
  await storeLayer(db, { ticker: "EURUSD", timeframe: "M1", layer: 0, klines: klines(0, 20), knownMs: 0 });
  await storeTail(db, klines(20, 50));
  expect(await mendable()).toEqual([range(0, 60)]);
  await storeLayer(db, { ticker: "EURUSD", timeframe: "M1", layer: 1, klines: klines(5, 10), knownMs: 0 });
  const struck = strikes([minute(12), minute(30)], [2, 2], 0);
  await inTransaction(db.pool, (client) => say(client, db.segments, { ticker: "EURUSD", timeframe: "M1" }, struck));
  const watched = [
    { ticker: "EURUSD", ...range(35, 52) },
    { ticker: null, ...range(40, 55) },
    { ticker: "GBPUSD", ...range(0, 60) },
  ];
  await noteWatched(db.pool, null, watched, FROM_S * 1_000);
  expect(await mendable()).toEqual([range(0, 5), range(10, 12), range(13, 30), range(31, 35), range(55, 60)]);
  expect(await mendableMinutes(db.pool, db.segments, "EURUSD", range(0, 120), undefined)).toEqual([]);
});
