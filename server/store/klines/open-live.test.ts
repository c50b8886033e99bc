import type pg from "pg";
import { expect, test } from "vitest";
import { type Clock, systemClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { SECOND_MS } from "#lib/units";
import { createStartUp } from "#server/store/database/db";
import { testDatabase } from "#server/testing/database";
import { openLive } from "./open-live";

const NOW_MS = Date.UTC(2026, 0, 7, 12);
const log = createLog("silent");

/** A pool; once told so, the first query of each text gets no connection in time, as on a busy machine. */
function busyPool(pool: pg.Pool) {
  const answered = new Set<string>();
  let refused = 0;
  function query(asked: string | { text: string }, ...values: unknown[]) {
    const text = typeof asked === "string" ? asked : asked.text;
    if (answered.has(text)) return pool.query(asked as string, ...(values as [unknown[]]));
    answered.add(text);
    refused += 1;
    return Promise.reject(new Error("timeout exceeded when trying to connect"));
  }
  return {
    pool: new Proxy(pool, { get: (target, name) => (name === "query" ? query : Reflect.get(target, name, target)) }),
    refused: () => refused,
    beBusy: () => answered.clear(),
  };
}

test("during a start no read of the live venue fails because the database is busy; later each one does at once", async () => {
  const db = await testDatabase();
  const { pool, refused, beBusy } = busyPool(db.pool);
  const clock: Clock = { now: () => NOW_MS, wait: (ms, signal) => (signal ? systemClock.wait(ms, signal) : Promise.resolve()) };
  const startUp = createStartUp({ url: db.url, waitS: 60, clock, log });
  const stops: (() => unknown)[] = [];
  const onStop = (_name: string, stop: () => unknown) => void stops.push(stop);
  const table = await openLive({ db: { ...db, pool }, startUp, clock, log, onStop });
  const range = { ticker: "EURUSD", from: 0, to: NOW_MS / SECOND_MS };
  const reads: Readonly<Record<string, () => Promise<unknown>>> = {
    lastQuotes: () => table.lastQuotes(NOW_MS),
    read: () => table.read({ ...range, timeframe: "M1", limit: 1, end: "newest" }),
    importedTimes: () => table.stored.importedTimes("EURUSD", "D1", range.from, range.to),
    minutesSince: () => table.stored.minutesSince(["EURUSD"], range.from),
  };
  for (const [name, read] of Object.entries(reads)) {
    beBusy();
    const before = refused();
    expect(await read(), name).toBeDefined();
    expect(refused(), name).toBeGreaterThan(before);
  }
  startUp.end();
  for (const [name, read] of Object.entries(reads)) {
    beBusy();
    await expect(read(), name).rejects.toThrow("timeout exceeded");
  }
  for (const stop of stops) await stop();
  await db.close();
});
