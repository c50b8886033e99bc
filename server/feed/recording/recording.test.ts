import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TickRejection } from "#lib/contract/ingest";
import { createLog } from "#lib/log";
import { collectingLog } from "#lib/testing/collecting-log";
import { watchedClock } from "#lib/testing/watched-clock";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#lib/units";
import { type Disk, localDisk } from "./hour-file";
import { createRecording } from "./recording";

const NINE_MS = Date.UTC(2026, 0, 7, 9);
const FLUSH_MS = 4_000;
const HEADER = "time_msc,bid,ask,volume,received_ms,outcome";
const MIB = 1_048_576;
const TAKEN = null;

let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(path.join(tmpdir(), "recording-"));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

interface Settings {
  readonly folder?: string;
  readonly nowMs?: number;
  readonly days?: number;
  readonly maxBytes?: number;
  readonly disk?: Disk;
  readonly backlogMaxBytes?: number;
  readonly log?: ReturnType<typeof createLog>;
}

/** A recording in a folder of its own, with a clock that the test moves. */
async function recorded(settings: Settings = {}) {
  const { nowMs = NINE_MS, days = 7, maxBytes = 100 * MIB, disk = localDisk, log = createLog("silent") } = settings;
  const { backlogMaxBytes = 16 * MIB } = settings;
  const folder = settings.folder ?? (await mkdtemp(path.join(scratch, "run-")));
  const clock = watchedClock();
  clock.set(nowMs);
  let leftOut = 0;
  const upstreamOf = () => "oanda";
  const recording = createRecording({
    ...{ folder, days, maxBytes, upstreamOf, clock, log, disk, backlogMaxBytes },
    leftOut: (rows) => {
      leftOut += rows;
    },
  });
  const running = recording.start();
  return {
    ...{ folder, clock, report: recording.report, stop: running.stop, record: running.record, leftOut: () => leftOut },
    tick(ticker: string, timeMs: number, bid: number, outcome: TickRejection | null = TAKEN, receivedMs = clock.now()) {
      running.record({ ticker, time_msc: timeMs, bid, ask: bid + 0.5 }, outcome, receivedMs);
    },
    /** Moves the clock to the next flush and waits until it has ended. */
    async flush(ms = FLUSH_MS) {
      await clock.waitingFor(FLUSH_MS);
      await clock.advance(ms);
      await clock.waitingFor(FLUSH_MS);
    },
  };
}

/** The paths of all files, relative to the folder. */
function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();
}

const textOf = (folder: string, file: string) => gunzipSync(readFileSync(path.join(folder, file))).toString();
const rowsOf = (folder: string, file: string) => textOf(folder, file).trimEnd().split("\n").slice(1);

describe("a recording", () => {
  test("has every tick with its outcome, in a file of its ticker and hour that any program can read", async () => {
    const { folder, record, flush, stop } = await recorded();
    record({ ticker: "EURUSD", time_msc: NINE_MS + 1, bid: 1.08543, ask: 1.08551 }, TAKEN, NINE_MS + 40);
    record({ ticker: "EURUSD", time_msc: NINE_MS + 2, bid: 9.9e11, ask: 1e12, volume: 2.5 }, "spike", NINE_MS + 41);
    await flush();
    record({ ticker: "EURUSD", time_msc: NINE_MS + 3, bid: 1e-7, ask: 1.1 }, "crossed_quote", NINE_MS + 4_100);
    record({ ticker: "XAUUSD", time_msc: NINE_MS + 4, bid: 4_000, ask: 4_001 }, TAKEN, NINE_MS + 4_200);
    record({ ticker: "XAUUSD", time_msc: NINE_MS + 5, bid: 4_000, ask: 4_002 }, "standby", NINE_MS + 4_300, "tiingo");
    await stop();
    expect(filesIn(folder)).toEqual([
      ...["oanda/EURUSD/2026-01-07/09.csv.gz.part", "oanda/XAUUSD/2026-01-07/09.csv.gz.part"],
      "tiingo/XAUUSD/2026-01-07/09.csv.gz.part",
    ]);
    expect(textOf(folder, "oanda/EURUSD/2026-01-07/09.csv.gz.part")).toBe(
      [
        HEADER,
        `${NINE_MS + 1},1.08543,1.08551,,${NINE_MS + 40},taken`,
        `${NINE_MS + 2},990000000000,1000000000000,2.5,${NINE_MS + 41},spike`,
        `${NINE_MS + 3},1e-7,1.1,,${NINE_MS + 4_100},crossed_quote\n`,
      ].join("\n"),
    );
  });

  test("puts ticks near the end of an hour into the hour of their time, and others into that of their arrival", async () => {
    const { folder, tick, flush, clock, report, stop } = await recorded({ nowMs: NINE_MS + HOUR_MS - 1_000 });
    const TEN_MS = NINE_MS + HOUR_MS;
    tick("EURUSD", TEN_MS + 3_000, 1);
    tick("EURUSD", TEN_MS - 1, 2);
    await flush();
    tick("EURUSD", TEN_MS - 61_000, 3);
    tick("EURUSD", Date.UTC(2286, 0, 1), 4, "in_future");
    tick("EURUSD", TEN_MS - DAY_MS, 5, "out_of_order");
    tick("EURUSD", -1, 6, "out_of_order");
    await flush();
    expect(filesIn(folder)).toEqual(["oanda/EURUSD/2026-01-07/09.csv.gz.part", "oanda/EURUSD/2026-01-07/10.csv.gz.part"]);
    // A tick that was held is recorded a little after the border.
    tick("EURUSD", TEN_MS - 2, 7, TAKEN, TEN_MS + 100);
    await clock.advance(2 * MINUTE_MS);
    await flush(MINUTE_MS);
    expect(filesIn(folder)).toEqual(["oanda/EURUSD/2026-01-07/09.csv.gz", "oanda/EURUSD/2026-01-07/10.csv.gz.part"]);
    await stop();
    const bids = (hour: string) => rowsOf(folder, `oanda/EURUSD/2026-01-07/${hour}`).map((row) => Number(row.split(",")[1]));
    expect([bids("09.csv.gz"), bids("10.csv.gz.part")]).toEqual([
      [2, 3, 7],
      [1, 4, 5, 6],
    ]);
    expect(report()).toMatchObject({ left_out: 0, problem: null, oldest_at: "2026-01-07T09:00:00.000Z" });
  });

  test("continues an hour that is finished when the clock goes back", async () => {
    const { folder, tick, flush, clock, stop } = await recorded();
    tick("EURUSD", NINE_MS, 1);
    await flush();
    await flush(HOUR_MS + 4 * MINUTE_MS);
    expect(filesIn(folder)).toEqual(["oanda/EURUSD/2026-01-07/09.csv.gz"]);
    clock.set(NINE_MS + 10_000);
    tick("EURUSD", NINE_MS + 10_000, 2);
    await stop();
    expect(filesIn(folder)).toEqual(["oanda/EURUSD/2026-01-07/09.csv.gz.part"]);
    expect(textOf(folder, "oanda/EURUSD/2026-01-07/09.csv.gz.part").split("\n")).toHaveLength(4);
  });

  test("does not record tickers that do not exist, of which there is no end", async () => {
    const { folder, tick, report, stop } = await recorded();
    for (let count = 0; count < 1_000; count += 1) tick(`NOSUCH${count}`, NINE_MS, 1, "unknown_ticker");
    await stop();
    expect([filesIn(folder), report().left_out]).toEqual([[], 0]);
  });

  test("of hundreds of tickers keeps no file open", async () => {
    const { folder, tick, flush, stop } = await recorded();
    const opened = () => (process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0);
    const before = opened();
    for (let round = 0; round < 2; round += 1) {
      for (let ticker = 0; ticker < 300; ticker += 1) tick(`T${ticker}A`, NINE_MS + round, ticker);
      await flush();
    }
    expect(opened()).toBeLessThan(before + 10);
    expect(filesIn(folder)).toHaveLength(300);
    await stop();
    expect(rowsOf(folder, "oanda/T299A/2026-01-07/09.csv.gz.part")).toHaveLength(2);
  });
});

describe("a restart", () => {
  test("continues the file of the hour, and finishes those of hours before", async () => {
    const first = await recorded();
    first.tick("EURUSD", NINE_MS, 1);
    await first.stop();
    const second = await recorded({ folder: first.folder, nowMs: NINE_MS + MINUTE_MS });
    second.tick("EURUSD", NINE_MS + MINUTE_MS, 2);
    await second.stop();
    const third = await recorded({ folder: first.folder, nowMs: NINE_MS + 2 * HOUR_MS });
    await third.stop();
    expect(filesIn(first.folder)).toEqual(["oanda/EURUSD/2026-01-07/09.csv.gz"]);
    expect(textOf(first.folder, "oanda/EURUSD/2026-01-07/09.csv.gz").split("\n")).toEqual([
      ...[HEADER, expect.stringMatching(/,1,/), expect.stringMatching(/,2,/), ""],
    ]);
    expect(third.report().bytes).toBe(readFileSync(path.join(first.folder, "oanda/EURUSD/2026-01-07/09.csv.gz")).length);
  });

  test("after a kill keeps all whole rows of a file that was cut anywhere", async () => {
    const { folder, tick, flush, stop } = await recorded();
    for (let block = 0; block < 3; block += 1) {
      for (let at = 0; at < 20; at += 1) tick("EURUSD", NINE_MS + 20 * block + at, 1 + Math.sin(at * block));
      await flush();
    }
    const file = path.join(folder, "oanda/EURUSD/2026-01-07/09.csv.gz.part");
    const whole = await readFile(file);
    await stop();
    const rows = rowsOf(folder, "oanda/EURUSD/2026-01-07/09.csv.gz.part");
    expect(rows).toHaveLength(60);
    let most = 0;
    for (let bytes = 0; bytes <= whole.length; bytes += 23) {
      await writeFile(file, whole.subarray(0, bytes));
      await writeFile(`${file}.tmp`, "left by an earlier repair");
      const again = await recorded({ folder, nowMs: NINE_MS + MINUTE_MS });
      again.tick("EURUSD", NINE_MS + MINUTE_MS, 7);
      await again.stop();
      const kept = rowsOf(folder, "oanda/EURUSD/2026-01-07/09.csv.gz.part");
      expect(kept).toEqual([...rows.slice(0, kept.length - 1), expect.stringMatching(/,7,7.5,/)]);
      expect(kept.length).toBeGreaterThanOrEqual(most);
      most = kept.length;
      expect(filesIn(folder)).toHaveLength(1);
    }
    expect(most).toBeGreaterThan(40);
  });
});

describe("a disk", () => {
  test("that never answers delays no tick: rows past a bound are left out, counted and logged once, and a stop goes on", async () => {
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const lines: Record<string, unknown>[] = [];
    const disk: Disk = {
      async append(...given) {
        await answered;
        await localDisk.append(...given);
      },
    };
    const { folder, record, report, flush, leftOut, stop } = await recorded({
      ...{ disk, log: collectingLog(lines, "info"), backlogMaxBytes: 100_000 },
    });
    const given = 10_000;
    for (let at = 0; at < given; at += 1)
      record({ ticker: "EURUSD", time_msc: NINE_MS + at, bid: 1.1, ask: 1.2 }, TAKEN, NINE_MS);
    expect(report()).toMatchObject({ left_out: leftOut(), problem: "the disk is too slow" });
    expect(leftOut()).toBeGreaterThan(5_000);
    expect(lines).toHaveLength(1);
    answer();
    await flush();
    record({ ticker: "EURUSD", time_msc: NINE_MS, bid: 1.1, ask: 1.2 }, TAKEN, NINE_MS);
    await stop();
    expect(rowsOf(folder, "oanda/EURUSD/2026-01-07/09.csv.gz.part")).toHaveLength(given - leftOut() + 1);
    expect([report().problem, lines.map(({ msg }) => msg)]).toEqual([
      null,
      ["recording of ticks: the disk is too slow", "recording of ticks: works again"],
    ]);

    const hanging = await recorded({ disk: { append: () => new Promise(() => undefined) } });
    hanging.tick("EURUSD", NINE_MS, 1);
    const stopped = hanging.stop();
    await hanging.clock.waitingFor(2_000);
    await hanging.clock.advance(2_000);
    await stopped;
    expect(hanging.leftOut()).toBe(1);
  });

  test("that is full loses and repeats no row once it has room again, and half a block is taken back", async () => {
    let full = true;
    const disk: Disk = {
      async append(file, bytes, expectedBytes) {
        if (!full) return localDisk.append(file, bytes, expectedBytes);
        await localDisk.append(file, bytes.subarray(0, bytes.length / 2), expectedBytes);
        await truncate(file, expectedBytes);
        throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
      },
    };
    const lines: Record<string, unknown>[] = [];
    const { folder, tick, flush, report, stop } = await recorded({ disk, log: collectingLog(lines, "warn") });
    for (let at = 0; at < 10; at += 1) {
      tick("EURUSD", NINE_MS + at, at + 1);
      if (at === 5) full = false;
      if (at === 7) full = true;
      await flush();
      if (at === 4) expect(report()).toMatchObject({ left_out: 0, problem: expect.stringContaining("ENOSPC") });
    }
    full = false;
    await stop();
    const bids = rowsOf(folder, "oanda/EURUSD/2026-01-07/09.csv.gz.part").map((row) => Number(row.split(",")[1]));
    expect(bids).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(lines).toHaveLength(2);
  });

  test("whose folder is removed, or written to by another process, gets a file that can be read", async () => {
    const { folder, tick, flush, stop } = await recorded();
    tick("EURUSD", NINE_MS, 1);
    await flush();
    await rm(path.join(folder, "oanda"), { recursive: true });
    for (let at = 0; at < 100; at += 1) tick("EURUSD", NINE_MS + at, 2);
    await flush();
    const file = path.join(folder, "oanda/EURUSD/2026-01-07/09.csv.gz.part");
    await writeFile(file, "of another process", { flag: "a" });
    tick("EURUSD", NINE_MS + 100, 3);
    await stop();
    const rows = rowsOf(folder, "oanda/EURUSD/2026-01-07/09.csv.gz.part");
    expect(rows.length).toBeGreaterThan(90);
    expect(rows.map((row) => Number(row.split(",")[0]) - NINE_MS)).toEqual([...rows.slice(1).keys(), 100]);
  });

  test("on which the folder cannot be made changes nothing for ticks, and operators see why", async () => {
    const folder = path.join(scratch, "a file");
    await writeFile(folder, "");
    const { tick, flush, report, clock, stop } = await recorded({ folder: path.join(folder, "recordings") });
    tick("EURUSD", NINE_MS, 1);
    await flush();
    expect(report().problem).toMatch(/ENOTDIR/);
    tick("EURUSD", NINE_MS, 2);
    const stopped = stop();
    await clock.advance(2_000);
    await stopped;
    expect(report().left_out).toBe(2);
  });
});

describe("what is kept", () => {
  /** One file of a ticker and hour with random bytes; the hour counts from NINE_MS. */
  async function put(folder: string, ticker: string, hour: number, bytes = 100): Promise<void> {
    const [day = "", time = ""] = new Date(NINE_MS + hour * HOUR_MS).toISOString().split("T");
    const file = path.join(folder, "push", ticker, day, `${time.slice(0, 2)}.csv.gz`);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, Buffer.alloc(bytes));
  }

  test("is no older than the days, whoever recorded it; other files and empty folders of others stay", async () => {
    const folder = await mkdtemp(path.join(scratch, "days-"));
    for (const hour of [-100, -49, -48, -1]) await put(folder, "XAUUSD", hour);
    await put(folder, "EURUSD", -100);
    await writeFile(path.join(folder, "notes.txt"), "mine");
    await writeFile(path.join(folder, "push", "XAUUSD", "notes.txt"), "mine");
    const { flush, report, clock, stop } = await recorded({ folder, days: 2 });
    await clock.waitingFor(FLUSH_MS);
    expect(filesIn(folder)).toEqual([
      ...["notes.txt", "push/XAUUSD/2026-01-05/09.csv.gz", "push/XAUUSD/2026-01-07/08.csv.gz", "push/XAUUSD/notes.txt"],
    ]);
    expect(readdirSync(path.join(folder, "push"))).toEqual(["XAUUSD"]);
    expect(report()).toMatchObject({ bytes: 200, oldest_at: "2026-01-05T09:00:00.000Z", active: true });
    await flush(HOUR_MS);
    expect(report()).toMatchObject({ bytes: 100, oldest_at: "2026-01-07T08:00:00.000Z" });
    await stop();
    expect(report().active).toBe(false);
  });

  test("is no more than the bytes: the oldest hours of all tickers go first, and never the hour that is written", async () => {
    const folder = await mkdtemp(path.join(scratch, "bytes-"));
    for (const hour of [-3, -2, -1]) for (const ticker of ["EURUSD", "XAUUSD"]) await put(folder, ticker, hour, 1_000);
    const { tick, flush, report, leftOut, stop } = await recorded({ folder, maxBytes: 5_000 });
    await flush();
    expect(report()).toMatchObject({ bytes: 6_000 });
    tick("EURUSD", NINE_MS, 1);
    await flush();
    expect(report()).toMatchObject({ oldest_at: "2026-01-07T07:00:00.000Z", problem: null });
    for (let at = 0; at < 1_000; at += 1) tick("EURUSD", NINE_MS + at, Math.random());
    await flush();
    expect(report().problem).toBe("an hour needs more than FEED_RECORD_MAX_MIB");
    expect(leftOut()).toBe(1_000);
    tick("EURUSD", NINE_MS, 2);
    await flush();
    expect(report()).toMatchObject({ problem: null, left_out: 1_000 });
    await stop();
    expect(filesIn(folder)).toEqual(["oanda/EURUSD/2026-01-07/09.csv.gz.part"]);
    expect(rowsOf(folder, "oanda/EURUSD/2026-01-07/09.csv.gz.part")).toHaveLength(2);
  });
});
