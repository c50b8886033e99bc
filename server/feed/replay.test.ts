import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { LIVE_LISTINGS } from "#lib/domain/catalogue";
import type { Tick } from "#lib/domain/tick";
import { createLog } from "#lib/log";
import { watchedClock } from "#lib/testing/watched-clock";
import { HOUR_MS } from "#lib/units";
import { replayFeed } from "./replay";
import { fileSources } from "./replay-files";

const log = createLog("silent");
const START_MS = Date.UTC(2026, 10, 20, 12);
/** A Tuesday noon. */
const RECORDED_MS = Date.UTC(2024, 0, 16, 12);

function recording(name: string, offsets: readonly number[], bid = 1.1): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), "replay-")), name);
  const lines = offsets.map((offset) => `${RECORDED_MS + offset},${bid},${bid + 0.0001}`);
  writeFileSync(file, `time_msc,bid,ask\n${lines.join("\n")}\n`);
  return file;
}

interface Options {
  pace?: number;
  shift?: "now" | "none";
  /** Start of a replay that continues another one. */
  fromMs?: number;
  nowMs?: number;
}

function play(files: readonly string[], options: Options = {}) {
  const clock = watchedClock();
  clock.set(options.nowMs ?? START_MS);
  const stopping = new AbortController();
  const ticks: (Tick & { givenMs: number })[] = [];
  const { pace = 1, shift = "now", fromMs } = options;
  const sources = fileSources({ files, listings: () => LIVE_LISTINGS, clock, log });
  const open = replayFeed({ sources, pace, shift, clock });
  const feed = open({
    originMs: START_MS,
    skipped: () => undefined,
    connected: () => undefined,
    ...(fromMs !== undefined && { fromMs }),
  });
  const ended = (async () => {
    for await (const batch of feed(stopping.signal)) for (const tick of batch) ticks.push({ ...tick, givenMs: clock.now() });
  })();
  return { clock, ticks, ended, stop: () => stopping.abort() };
}

/** Advances the clock until the feed has ended, but only while the feed waits for it: files are read in real time. */
async function toEnd({ clock, ended }: ReturnType<typeof play>): Promise<void> {
  let running = true;
  const done = ended.finally(() => {
    running = false;
  });
  // It may fail while the clock still advances.
  done.catch(() => undefined);
  while (running) {
    if (clock.waits.length > 0) await clock.advance(50);
    else await nextTurn();
  }
  await done;
}

describe("replay", () => {
  test("a replay keeps the recorded distances, starting now", async () => {
    const run = play([`EURUSD=${recording("EURUSD.csv", [0, 40, 1_000, 5_000])}`]);
    await toEnd(run);
    const [first] = run.ticks;
    expect(run.ticks.map(({ time_msc }) => time_msc - (first?.time_msc ?? 0))).toEqual([0, 40, 1_000, 5_000]);
    expect(first?.time_msc).toBeGreaterThanOrEqual(START_MS);
    for (const { givenMs, time_msc } of run.ticks) expect(givenMs).toBeGreaterThanOrEqual(time_msc);
  });

  test("a replay runs at a multiple of the pace, or at the recorded times when configured to", async () => {
    const file = `EURUSD=${recording("EURUSD.csv", [0, 10_000])}`;
    const fast = play([file], { pace: 10 });
    await toEnd(fast);
    expect((fast.ticks[1]?.time_msc ?? 0) - (fast.ticks[0]?.time_msc ?? 0)).toBe(1_000);
    const own = play([file], { pace: 100, shift: "none" });
    await toEnd(own);
    expect(own.ticks.map(({ time_msc }) => time_msc)).toEqual([RECORDED_MS, RECORDED_MS + 10_000]);
  });

  test("several recordings are replayed as one, by time", async () => {
    const files = [`EURUSD=${recording("a.csv", [0, 300, 600])}`, `gbpusd=${recording("b.csv", [100, 700], 1.3)}`];
    const run = play(files);
    await toEnd(run);
    expect(run.ticks.map(({ ticker }) => ticker)).toEqual(["EURUSD", "GBPUSD", "EURUSD", "EURUSD", "GBPUSD"]);
  });

  test("a recording of the service is replayed from its folder, hour by hour, without the ticks that were not taken", async () => {
    const folder = path.join(mkdtempSync(path.join(tmpdir(), "replay-")), "push", "EURUSD", "2024-01-16");
    mkdirSync(folder, { recursive: true });
    const row = (offset: number, outcome: string) => `${RECORDED_MS + offset},1.1,1.2,,${RECORDED_MS + offset + 20},${outcome}\n`;
    const hour = (name: string, ...rows: string[]) =>
      writeFileSync(path.join(folder, name), gzipSync(`time_msc,bid,ask,volume,received_ms,outcome\n${rows.join("")}`));
    hour("13.csv.gz", row(HOUR_MS, "taken"), row(HOUR_MS + 1, "spike"));
    hour("12.csv.gz", row(0, "market_closed"), row(10, "taken"), row(HOUR_MS - 1, "taken"));
    hour("14.csv.gz.part", row(2 * HOUR_MS, "taken"));
    const run = play([`EURUSD=${folder}`], { pace: 1_000, shift: "none" });
    await toEnd(run);
    expect(run.ticks.map(({ time_msc }) => time_msc - RECORDED_MS)).toEqual([10, HOUR_MS - 1, HOUR_MS]);
  });

  test("a replay continued from another node delivers the missed ticks at once and the rest on time", async () => {
    const file = recording("EURUSD.csv", [0, 1_000, 2_000, 3_000, 9_000]);
    const run = play([`EURUSD=${file}`], { fromMs: START_MS + 1_000, nowMs: START_MS + 3_500 });
    await toEnd(run);
    expect(run.ticks.map(({ time_msc }) => time_msc - START_MS)).toEqual([1_000, 2_000, 3_000, 9_000]);
    expect(run.ticks.map(({ givenMs }) => givenMs - START_MS)).toEqual([3_500, 3_500, 3_500, 9_000]);
  });

  test("a replay stops when its signal aborts", async () => {
    const run = play([`EURUSD=${recording("EURUSD.csv", [0, HOUR_MS])}`]);
    while (run.clock.now() < START_MS + 500) await run.clock.advance(50);
    run.stop();
    await run.ended;
    expect(run.ticks.length).toBeLessThan(2);
  });

  test("a replay reports an invalid setting, a missing file and a file of klines", async () => {
    expect(() => play(["EURUSD"])).toThrow('"EURUSD" is not of the form TICKER=path');
    expect(() => play([])).toThrow("REPLAY_FILES");
    await expect(toEnd(play(["EURUSD=/nowhere/ticks.csv"]))).rejects.toThrow("/nowhere/ticks.csv");
    const klines = path.join(mkdtempSync(path.join(tmpdir(), "replay-")), "EURUSD.csv");
    writeFileSync(klines, "time,open,high,low,close\n1704067200,1,1,1,1\n1704067260,1,1,1,1\n");
    await expect(toEnd(play([`EURUSD=${klines}`]))).rejects.toThrow("needs ticks");
  });
});
