import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { manualClock } from "#lib/clock";
import { csvOf } from "#lib/contract/csv";
import { klineAt } from "#lib/domain/columns";
import type { Listing } from "#lib/domain/instrument";
import { toQuote } from "#lib/domain/quote";
import { TAKEN } from "#lib/domain/tick-columns";
import { createAlignment } from "#lib/domain/timeframe";
import { Fault } from "#lib/fault";
import { operations } from "#lib/operations/declarations";
import { collectingLog } from "#lib/testing/collecting-log";
import { createSandboxCatalogue } from "#lib/testing/sandbox-catalogue";
import { DAY_S } from "#lib/units";
import { createFileThread } from "#server/store/files/file-thread";
import { createMadeFiles } from "#server/store/files/made-files";
import { decodeStatements } from "#server/store/segments/parquet";
import { decodeTicks } from "#server/store/segments/tick-parquet";
import { makeBlocksHere } from "./block-maker";
import { createBlockStore } from "./block-store";
import { createSandboxFiles } from "./files";
import { createSandboxKlines } from "./klines";
import { createSandboxPrices } from "./prices";

const NOW_MS = Date.UTC(2026, 10, 25, 5, 13);
const AUGUST_S = Date.UTC(2026, 7, 1) / 1000;
const OCTOBER_S = Date.UTC(2026, 9, 1) / 1000;
const NOVEMBER_S = Date.UTC(2026, 10, 1) / 1000;
const ALL = { from: 0, to: 4e9, limit: 100 };

const clock = manualClock(NOW_MS);
const catalogue = createSandboxCatalogue();
const prices = createSandboxPrices({ catalogue, seed: 1 });
const thread = createFileThread(clock);
const folder = await mkdtemp(path.join(tmpdir(), "spotwire-sandbox-files-"));
const logged: Record<string, unknown>[] = [];
const listing = (ticker: string) => catalogue.find(ticker) as Listing;
afterAll(async () => {
  await thread.close();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  for (const name of await readdir(folder)) await rm(path.join(folder, name));
  clock.set(NOW_MS);
});

/** A node that has just started. */
function node() {
  const made = createMadeFiles({ folder, clock, log: collectingLog(logged, "info") });
  const blocks = createBlockStore(makeBlocksHere());
  const store = createSandboxKlines({ prices, clock, alignment: createAlignment(), blocks });
  return { store, ...createSandboxFiles({ prices, blocks, made, thread, clock }) };
}

const call = {};

describe("the files of the sandbox", () => {
  test("are those of the last three complete months", async () => {
    const listed = await node().klines.list(listing("EURUSD"), ALL, call);
    expect(listed.map(({ from, made }) => [from, made?.rows])).toEqual([
      [AUGUST_S, 44_640],
      [Date.UTC(2026, 8, 1) / 1000, 43_200],
      [OCTOBER_S, 44_640],
    ]);
    clock.set(Date.UTC(2026, 11, 1));
    expect((await node().klines.list(listing("EURUSD"), ALL, call)).at(-1)?.from).toBe(NOVEMBER_S);
    expect(await node().klines.open(listing("EURUSD"), { start: AUGUST_S }, call)).toBeUndefined();
  });

  test.each(["EURUSD", "TESTGAP", "TESTFX"])("have the rows of klines, as Parquet and as CSV: %s", async (ticker) => {
    const { klines: files, store } = node();
    const file = await files.open(listing(ticker), { start: OCTOBER_S }, call);
    const expected = await store.read({
      ticker,
      timeframe: "M1",
      from: OCTOBER_S,
      to: NOVEMBER_S,
      limit: 1e6,
      end: "oldest",
    });
    const columns = await decodeStatements((await file?.parquet.read(0, file.parquet.size)) ?? new Uint8Array());
    expect(Array.from(columns.time, (_, row) => klineAt(columns, row, ticker, "M1"))).toEqual(expected);
    const csv = await file?.csv();
    const text = gunzipSync((await csv?.read(0, csv.size)) ?? new Uint8Array()).toString();
    expect(text).toBe(csvOf(operations.klines)?.text(expected));
  });

  test.each(["ask", "mid"] as const)("of %s prices have the rows of klines of that price", async (price) => {
    const { klines: files, store } = node();
    const listed = await files.list(listing("TESTGAP"), { ...ALL, price }, call);
    expect(listed.map(({ complete, made }) => [complete, made])).toEqual(Array.from({ length: 3 }, () => [true, null]));
    const file = await files.open(listing("TESTGAP"), { start: OCTOBER_S, price }, call);
    const range = { from: OCTOBER_S, to: NOVEMBER_S, limit: 1e6, end: "oldest" } as const;
    const expected = await store.read({ ticker: "TESTGAP", timeframe: "M1", ...range, price });
    const columns = await decodeStatements((await file?.parquet.read(0, file.parquet.size)) ?? new Uint8Array());
    expect(Array.from(columns.time, (_, row) => klineAt(columns, row, "TESTGAP", "M1"))).toEqual(expected);
    const bids = await files.open(listing("TESTGAP"), { start: OCTOBER_S }, call);
    expect(bids?.rows).toBe(expected.length);
    expect(bids?.sha256).not.toBe(file?.sha256);
  });

  test("as of an instant are those of months that were over then, with the same rows", async () => {
    const { klines: files } = node();
    const then = async (asOf: number) => (await files.list(listing("EURUSD"), { ...ALL, asOf }, call)).map(({ from }) => from);
    expect(await then(NOVEMBER_S)).toHaveLength(3);
    expect((await then(NOVEMBER_S - 1)).at(-1)).toBe(Date.UTC(2026, 8, 1) / 1000);
    expect(await files.open(listing("EURUSD"), { start: OCTOBER_S, asOf: NOVEMBER_S - 1 }, call)).toBeUndefined();
    const file = await files.open(listing("EURUSD"), { start: OCTOBER_S, asOf: NOVEMBER_S }, call);
    expect(file?.sha256).toBe((await files.open(listing("EURUSD"), { start: OCTOBER_S }, call))?.sha256);
  });

  test("have the same bytes on every node, and none of a ticker without prices", async () => {
    const first = await node().klines.list(listing("XAUUSD"), ALL, call);
    for (const name of await readdir(folder)) await rm(path.join(folder, name));
    expect(await node().klines.list(listing("XAUUSD"), ALL, call)).toEqual(first);
    expect(await node().klines.list(listing("TESTMISSING"), ALL, call)).toEqual([]);
    const [, , october] = first;
    const { klines: files } = node();
    const revision = october?.made?.sha256.slice(0, 16);
    expect((await files.open(listing("XAUUSD"), { start: OCTOBER_S, revision }, call))?.sha256).toBe(october?.made?.sha256);
    expect(await files.open(listing("XAUUSD"), { start: OCTOBER_S, revision: "0".repeat(16) }, call)).toBeUndefined();
    expect(await files.open(listing("XAUUSD"), { start: NOVEMBER_S }, call)).toBeUndefined();
    expect(await files.open(listing("XAUUSD"), { start: OCTOBER_S + 60 }, call)).toBeUndefined();
  });

  test("are computed once each, whoever asks how often, and never for who may not have days computed", async () => {
    const { klines: files } = node();
    let days = 0;
    const admitDays = (count: number) => {
      days += count;
    };
    const counting = { ...call, admitDays };
    const asking = Array.from({ length: 40 }, () => files.open(listing("EURUSD"), { start: OCTOBER_S }, counting));
    const opened = await Promise.all(asking);
    expect(new Set(opened.map((file) => file?.sha256)).size).toBe(1);
    expect(days).toBe(31);
    await node().klines.open(listing("EURUSD"), { start: OCTOBER_S }, counting);
    expect(days).toBe(31);
    const refused = new Fault("rate_limited", { retry_after: 3 });
    const refuse = () => {
      throw refused;
    };
    await expect(files.open(listing("GBPUSD"), { start: OCTOBER_S }, { ...call, admitDays: refuse })).rejects.toBe(refused);
    expect((await files.open(listing("GBPUSD"), { start: OCTOBER_S }, counting))?.rows).toBe(44_640);
  });

  test("wait for their turn up to a number, and others are told to come back", async () => {
    const { klines: files } = node();
    const tickers = catalogue.list().filter(({ assetClass }) => assetClass === "forex");
    const asked = await Promise.allSettled(tickers.map((one) => files.open(one, { start: OCTOBER_S }, call)));
    const failures = asked.filter(({ status }) => status === "rejected");
    expect(asked.length - failures.length).toBe(33);
    for (const failure of failures)
      expect((failure as PromiseRejectedResult).reason).toMatchObject({ id: "service_unavailable", data: { retry_after: 2 } });
    expect(failures.length).toBeGreaterThan(0);
  });
});

describe("the files of ticks of the sandbox", () => {
  const YESTERDAY_S = Date.UTC(2026, 10, 24) / 1000;
  const week = (last: number) => Array.from({ length: 7 }, (_, index) => last - (6 - index) * DAY_S);

  test("are those of the last seven complete days in UTC", async () => {
    const listed = await node().ticks.list(listing("EURUSD"), ALL, call);
    expect(listed.map(({ from }) => from)).toEqual(week(YESTERDAY_S));
    expect(listed.every(({ from, to, complete, made }) => to - from === DAY_S && complete && (made?.rows ?? 0) > 0)).toBe(true);
    const { ticks } = node();
    expect(await ticks.open(listing("EURUSD"), { start: YESTERDAY_S + DAY_S }, call)).toBeUndefined();
    expect(await ticks.open(listing("EURUSD"), { start: YESTERDAY_S - 7 * DAY_S }, call)).toBeUndefined();
    expect(await ticks.open(listing("EURUSD"), { start: YESTERDAY_S + 60 }, call)).toBeUndefined();
    const revision = listed.at(-1)?.made?.sha256.slice(0, 16);
    expect((await ticks.open(listing("EURUSD"), { start: YESTERDAY_S, revision }, call))?.rows).toBe(listed.at(-1)?.made?.rows);
    expect(await ticks.open(listing("EURUSD"), { start: YESTERDAY_S, revision: "0".repeat(16) }, call)).toBeUndefined();
    expect(await ticks.list(listing("TESTMISSING"), ALL, call)).toEqual([]);
  });

  test.each(["EURUSD", "TESTGAP", "XAUUSD"])("have the quotes of the past, as Parquet and as CSV: %s", async (ticker) => {
    const { ticks, store } = node();
    const file = await ticks.open(listing(ticker), { start: YESTERDAY_S }, call);
    const range = { from: YESTERDAY_S * 1000, to: (YESTERDAY_S + DAY_S) * 1000, limit: 1e7, end: "oldest" } as const;
    const { time, bid, ask } = await store.readTicks({ ticker, ...range });
    const read = await decodeTicks((await file?.parquet.read(0, file.parquet.size)) ?? new Uint8Array());
    expect([read.time, read.bid, read.ask]).toEqual([time, bid, ask]);
    expect([new Set(read.source), new Set(read.outcome)]).toEqual([new Set(["sandbox"]), new Set([TAKEN])]);
    const csv = await file?.csv();
    const text = gunzipSync((await csv?.read(0, csv.size)) ?? new Uint8Array()).toString();
    const { digits } = listing(ticker);
    const quotes = Array.from(time, (time_msc, row) =>
      toQuote({ ticker, time_msc, bid: bid[row] as number, ask: ask[row] as number }, digits),
    );
    expect(text).toBe(csvOf(operations.ticks)?.text(quotes));
  });

  test("are computed once each, whoever asks how often, and never for who may not have days computed", async () => {
    let days = 0;
    const counting = {
      admitDays: (count: number) => {
        days += count;
      },
    };
    const { ticks } = node();
    const asking = Array.from({ length: 20 }, () => ticks.open(listing("EURUSD"), { start: YESTERDAY_S }, counting));
    expect(new Set((await Promise.all(asking)).map((file) => file?.sha256)).size).toBe(1);
    await node().ticks.open(listing("EURUSD"), { start: YESTERDAY_S }, counting);
    expect(days).toBe(1);
    await node().ticks.list(listing("EURUSD"), ALL, counting);
    expect(days).toBe(7);
    const refused = new Fault("rate_limited", { retry_after: 3 });
    const refuse = () => {
      throw refused;
    };
    await expect(ticks.list(listing("GBPUSD"), ALL, { admitDays: refuse })).rejects.toBe(refused);
  });
});

describe("files that are kept", () => {
  const log = collectingLog(logged, "info");
  const bytes = (fill: number) => ({ rows: 1, bytes: Buffer.alloc(1_000, fill) });

  test("take up so many bytes, and those that were not asked for the longest go first", async () => {
    const made = createMadeFiles({ folder, clock, log, keptMaxBytes: 3_000 });
    const keys = ["a", "b", "c"];
    for (const [index, key] of keys.entries()) {
      await made.find(key, async () => bytes(index));
      await clock.advance(1_000);
    }
    const first = await made.find("a", async () => bytes(9));
    expect(await first.read(0, 1)).toEqual(Buffer.from([0]));
    await clock.advance(1_000);
    await made.find("d", async () => bytes(4));
    expect((await readdir(folder)).map((name) => name[0]).sort()).toEqual(["a", "c", "d"]);
    const again = await made.find("b", async () => bytes(7));
    expect(await again.read(999, 1_100)).toEqual(Buffer.from([7]));
  });

  test("are made again where they were damaged, and what a killed process left goes after an hour", async () => {
    await createMadeFiles({ folder, clock, log }).find("a", async () => bytes(1));
    const [name = ""] = await readdir(folder);
    await writeFile(path.join(folder, name), "altered");
    await writeFile(path.join(folder, "left.part"), "");
    clock.set(Date.now() + 7_200_000);
    const made = createMadeFiles({ folder, clock, log });
    expect((await made.find("a", async () => bytes(2))).size).toBe(1_000);
    expect(JSON.stringify(logged)).toContain(name);
    expect((await readdir(folder)).length).toBe(1);
  });

  test("of which one went while it was read are asked for again", async () => {
    const file = await createMadeFiles({ folder, clock, log }).find("a", async () => bytes(1));
    for (const name of await readdir(folder)) await rm(path.join(folder, name));
    await expect(file.read(0, 10)).rejects.toMatchObject({ id: "service_unavailable", data: { retry_after: 1 } });
  });
});
