import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compileCalendar } from "#lib/domain/calendar";
import { createLog } from "#lib/log";
import { createMetrics } from "#lib/metrics";
import { createMemoryKlines } from "#lib/testing/memory-klines";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { watchedClock } from "#lib/testing/watched-clock";
import { HOUR_MS, MINUTE_MS } from "#lib/units";
import { createGuard } from "#server/feed/filter/guard";
import { createRecording } from "#server/feed/recording/recording";
import { replayCommand } from "#server/feed/replay-command";
import { startMarket } from "#server/market";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { importCommand, storedKlines } from "#server/testing/import-command";
import { commandOutcome } from "#server/testing/terminal";

/** A Wednesday. */
const START_MS = Date.UTC(2026, 0, 7, 11, 57);
const log = createLog("silent");
let db: TestDatabase;
let scratch: string;
beforeAll(async () => {
  [db, scratch] = await Promise.all([testDatabase(), mkdtemp(path.join(tmpdir(), "recorded-"))]);
});
afterAll(async () => {
  await db.close();
  await rm(scratch, { recursive: true, force: true });
});

function recordingAt(folder: string, clock: ReturnType<typeof watchedClock>) {
  const upstreamOf = () => "push";
  return createRecording({ ...{ folder, days: 7, maxBytes: 1e9, upstreamOf, clock, log }, leftOut: () => undefined });
}

/** Finishes the hours that are over, as the next start of the service does. */
async function finish(folder: string): Promise<void> {
  const later = watchedClock();
  later.set(START_MS + 3 * HOUR_MS);
  await recordingAt(folder, later).start().stop();
}

test("an imported recording gives the klines that the live venue made, whatever was held back or refused", async () => {
  const folder = path.join(scratch, "market");
  const clock = watchedClock();
  clock.set(START_MS);
  const store = createMemoryKlines();
  const metrics = createMetrics();
  const { list, find } = createSandboxCatalogue();
  const market = await startMarket({
    ...{ venue: "live", store, writer: store, acceptsPush: true, provider: "push", clock, log, metrics },
    catalogue: { list, find, instrument: () => undefined, calendar: () => compileCalendar({ kind: "always" }, []) },
    guard: createGuard({ name: () => "push", off: [], metrics }),
    recording: recordingAt(folder, clock),
  });
  const outcomes = new Map<string | null, number>();
  for (let at = 0; at < 1_500; at += 1) {
    const {
      ms,
      bid,
      spread = 0.0001,
      volume,
    } = {
      ...{ ms: 0, bid: 1.1 + Math.round(20 * Math.sin(at / 9)) / 1e5 },
      // A spike, a jump that is believed, an old tick, one of next week, a crossed one, and an impossible volume.
      ...(at % 97 === 0 && { bid: 1.3 }),
      ...(at > 700 && { bid: 1.2 + (at % 3) / 1e5 }),
      ...(at % 89 === 0 && { ms: -30_000 }),
      ...(at % 83 === 0 && { ms: 7 * 24 * HOUR_MS }),
      ...(at % 79 === 0 && { spread: -0.01 }),
      ...(at % 73 === 0 && { volume: 1e300 }),
      ...(at % 5 === 0 && { volume: at / 10 }),
    } as { ms: number; bid: number; spread?: number; volume?: number };
    const tick = { ticker: "EURUSD", time_msc: clock.now() + ms, bid, ask: bid + spread, volume };
    for (const outcome of (await market.push?.([tick, { ...tick, ticker: "NOSUCH" }])) ?? [])
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    await clock.advance(at % 11 === 0 ? 1_700 : 200);
  }
  await clock.advance(2 * MINUTE_MS);
  await market.stop();
  expect([...outcomes.keys()]).toEqual(
    expect.arrayContaining(["spike", "out_of_order", "in_future", "crossed_quote", "volume_out_of_range", "unknown_ticker"]),
  );
  const made = store.all().filter(({ timeframe }) => timeframe === "M1");
  expect(made.length).toBeGreaterThan(5);

  await finish(folder);
  expect(await readdir(path.join(folder, "push"))).toEqual(["EURUSD"]);
  expect(await readdir(path.join(folder, "push", "EURUSD", "2026-01-07"))).toEqual(["11.csv.gz", "12.csv.gz"]);
  const { exitCode, text } = await importCommand(db, [folder]);
  expect(text).toMatch(/Spotwire recording \(recording\), EURUSD/);
  expect(text).toMatch(/\d+ rows skipped: the service did not take these ticks/);
  expect(exitCode).toBe(0);
  expect(await storedKlines(db, "EURUSD", "M1")).toEqual(made);
  const tried = await commandOutcome(replayCommand, ["--filters", folder]);
  expect(tried.output).toMatch(/EURUSD {2}spike +\d+/);
  expect(tried.output).toMatch(/\nAll 1,\d\d\d recorded outcomes are the same now\.$/);
});

test("a killed process loses only what came since the last flush, and the import reads the rest", async () => {
  const folder = path.join(scratch, "killed");
  const script = path.resolve("server/testing/record-ticks.ts");
  const args = ["--import", "tsx", script, folder, String(START_MS)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exit = once(child, "exit");
  for await (const line of createInterface({ input: child.stdout })) if (line === "waiting") break;
  child.kill("SIGKILL");
  await exit;
  expect(await readdir(path.join(folder, "push", "EURUSD", "2026-01-07"))).toEqual(["11.csv.gz.part"]);
  await finish(folder);
  expect(await readdir(path.join(folder, "push", "EURUSD", "2026-01-07"))).toEqual(["11.csv.gz"]);
  const { text } = await importCommand(db, ["--dry-run", "--force", folder]);
  expect(text).toMatch(/ {2}50 rows read, /);
  expect(text).toMatch(/\n {4}2026-01-07T11:57:00Z {2}1 {2}1.49 {2}1 {2}1.49/);
});
