import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ManualClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { watchedClock } from "#lib/testing/watched-clock";
import { HOUR_MS, MINUTE_MS } from "#lib/units";
import { writeNodeReport } from "#server/store/market/node-reports";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import manifest from "../../package.json" with { type: "json" };
import { startConversion } from "./conversion";

const REPORT = {
  role: "all",
  started_ms: 0,
  checks: {},
  rates: null,
  connections: 0,
  lag_ms: { live: null, sandbox: null },
  memory_bytes: 1,
  loop_lag_ms: 0,
  disk: null,
};

let db: TestDatabase;
beforeEach(async () => {
  db = await testDatabase();
  await db.pool.query("INSERT INTO history_unconverted VALUES ('EURUSD')");
});
afterEach(() => db.close());

const waiting = async () => (await db.pool.query("SELECT FROM history_unconverted")).rowCount;
/** Resolves once all is converted; it pauses after each month. */
const converted = (clock: ManualClock) =>
  vi.waitFor(async () => {
    await clock.advance(1_000);
    expect(await waiting()).toBe(0);
  });

test("a single node converts at once", async () => {
  const clock = watchedClock();
  const conversion = startConversion({ db, clock, log: createLog("silent"), isShared: false });
  await converted(clock);
  await conversion.stop();
});

test("a cluster converts an hour after the start, when all its nodes report this release", async () => {
  const clock = watchedClock();
  const report = (version: string) =>
    writeNodeReport(db.pool, { id: "00000000-0000-4000-8000-000000000001", name: "other" }, { ...REPORT, version });
  await report("0.1.9");
  const conversion = startConversion({ db, clock, log: createLog("silent"), isShared: true });
  await clock.waitingFor(HOUR_MS);
  await clock.advance(HOUR_MS);
  await clock.waitingFor(MINUTE_MS);
  expect(await waiting()).toBe(1);
  await report(manifest.version);
  await clock.advance(MINUTE_MS);
  await converted(clock);
  await conversion.stop();
});

test("a node that stops while it waits does not convert", async () => {
  const clock = watchedClock();
  const conversion = startConversion({ db, clock, log: createLog("silent"), isShared: true });
  await clock.waitingFor(HOUR_MS);
  await conversion.stop();
  expect(await waiting()).toBe(1);
});
