import { createHash, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Quote } from "#lib/contract/quote";
import { toQuote } from "#lib/domain/quote";
import { TAKEN } from "#lib/domain/tick-columns";
import { operations } from "#lib/operations/declarations";
import type { DataFile } from "#lib/operations/files/declaration";
import { DAY_S, HOUR_MS, MINUTE_MS, SECOND_MS } from "#lib/units";
import { lockTicker } from "#server/store/history/lock";
import { storeTicks, TICK_SEGMENT_MAX_ROWS } from "#server/store/history/tick-days";
import { addTick, sealTicks, type TickChunk } from "#server/store/history/tick-tail";
import { inTransaction } from "#server/store/history/transaction";
import { createKlineStore } from "#server/store/klines/kline-store";
import { decodeTicks } from "#server/store/segments/tick-parquet";
import { beginTestImport } from "#server/testing/imports";
import { type Ask, failed, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { createFileThread, type FileThread } from "./file-thread";
import { joinDays } from "./joined-days";
import { createMadeFiles } from "./made-files";
import { createTickFiles } from "./tick-files";

/** A Monday, and the noon after it. */
const MONDAY_S = Date.UTC(2026, 0, 5) / SECOND_MS;
const TUESDAY_S = MONDAY_S + DAY_S;
const NOON_MS = (TUESDAY_S + DAY_S / 2) * SECOND_MS;

const folder = await mkdtemp(path.join(tmpdir(), "spotwire-tick-files-"));
let t: TestRuntime;
let thread: FileThread;

beforeAll(async () => {
  t = await testRuntime();
  thread = createFileThread(t.clock);
  t.markets.live.store.readTicks = createKlineStore(t.db).readTicks;
});
beforeEach(async () => {
  await t.db.pool.query("TRUNCATE tick_tail, tick_segment, backfill CASCADE");
  t.clock.set(NOON_MS);
  serve();
});
afterAll(async () => {
  await thread.close();
  await t.close();
  await rm(folder, { recursive: true });
});

/** Serves files as a process that has just started. */
function serve(): void {
  const { clock, log, db } = t;
  const made = createMadeFiles({ folder, clock, log });
  Object.assign(t.markets.live.files ?? {}, { ticks: createTickFiles({ db, made, thread, clock }) });
}

interface Ticks {
  readonly startMs: number;
  readonly count: number;
  /** Milliseconds from one to the next; 0 for several of one time. */
  readonly stepMs?: number;
  readonly first?: number;
  readonly outcome?: string;
}

function chunkOf({ startMs, count, stepMs = 1_000, first = 1, outcome = TAKEN }: Ticks): TickChunk {
  const chunk: TickChunk = { id: randomUUID(), ticker: "EURUSD", source: "push", numbers: [], outcomes: [] };
  for (let at = 0; at < count; at += 1) {
    const time_msc = startMs + at * stepMs;
    const volume = at % 3 === 0 ? 1.5 : undefined;
    addTick(chunk, { time_msc, bid: first + at / 1e5, ask: first + (at + 7) / 1e5, volume }, time_msc, outcome);
  }
  return chunk;
}

const write = (...ticks: Ticks[]) => createKlineStore(t.db).writeBatch([], [], ticks.map(chunkOf));
const seal = () => sealTicks(t.db, NOON_MS);

/** Stores ticks as an import does. @returns its number */
async function importTicks({ startMs, count, stepMs = 1_000, first = 1 }: Ticks): Promise<number> {
  const layer = await beginTestImport(t);
  const column = (value: (at: number) => number) => Float64Array.from({ length: count }, (_, at) => value(at));
  await inTransaction(t.db.pool, (client) =>
    storeTicks(
      client,
      t.db.segments,
      { ticker: "EURUSD", layer },
      {
        time: column((at) => startMs + at * stepMs),
        bid: column((at) => first + (at % 1_000) / 1e5),
        ask: column((at) => first + ((at % 1_000) + 4) / 1e5),
        volume: column(() => Number.NaN),
        received: column(() => Number.NaN),
        source: Array.from({ length: count }, () => "dukascopy"),
        outcome: Array.from({ length: count }, () => TAKEN),
      },
    ),
  );
  return layer;
}

async function list(query = ""): Promise<DataFile[]> {
  const { body } = await t.ask(`${operations.files.path}?ticker=EURUSD&type=ticks${query}`);
  return operations.files.data.parse(body.data).items;
}

const get = (id: string, more: Ask = {}) => t.ask(operations.file.path.replace("{id}", id), more);

async function quotesOf(bytes: Uint8Array): Promise<Quote[]> {
  const { time, bid, ask } = await decodeTicks(bytes);
  return Array.from(time, (time_msc, row) =>
    toQuote({ ticker: "EURUSD", time_msc, bid: bid[row] as number, ask: ask[row] as number }, 5),
  );
}

/** The quotes of a day by REST, page by page. */
async function restQuotes(day: number): Promise<Quote[]> {
  const found: Quote[] = [];
  const range = `from=${day * SECOND_MS}&to=${(day + DAY_S) * SECOND_MS}&limit=10000`;
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body } = await t.ask(`${operations.ticks.path}?ticker=EURUSD&${range}${cursor && `&cursor=${cursor}`}`);
    found.push(...body.data.items);
    cursor = body.data.next_cursor;
  }
  return found;
}

/** Expects each listed file to have the quotes of REST, as Parquet and as CSV. */
async function expectEqualToRest(): Promise<void> {
  for (const { id, from } of await list()) {
    const expected = await restQuotes(from);
    expect(await quotesOf((await get(id)).bytes)).toEqual(expected);
    const lines = (await get(`${id}?format=csv`)).text.trimEnd().split("\r\n");
    expect(lines).toHaveLength(expected.length + 1);
    if (expected.length > 10_000) continue;
    const range = `from=${from * SECOND_MS}&to=${(from + DAY_S) * SECOND_MS}&limit=10000`;
    const csv = await t.ask(`${operations.ticks.path}?ticker=EURUSD&${range}&format=csv`);
    expect(lines).toEqual(csv.text.trimEnd().split("\r\n"));
  }
}

describe("a day of ticks that is over", () => {
  test("and was sealed is its segment: the quotes of REST, without those that were held back, and a file for good", async () => {
    await write(
      { startMs: MONDAY_S * SECOND_MS, count: 2_000 },
      { startMs: MONDAY_S * SECOND_MS + HOUR_MS, count: 5, stepMs: 0, first: 2 },
      { startMs: MONDAY_S * SECOND_MS + 500, count: 3, first: 9, outcome: "spike" },
    );
    await seal();
    const [file, ...others] = await list();
    expect(others).toEqual([]);
    expect(file).toMatchObject({ type: "ticks", from: MONDAY_S, to: TUESDAY_S, complete: true, rows: 2_005 });
    expect(file?.id).toBe(`ticks-EURUSD-2026-01-05-${file?.revision}`);
    const { bytes, headers } = await get(file?.id ?? "");
    expect([bytes.length, createHash("sha256").update(bytes).digest("hex")]).toEqual([file?.bytes, file?.sha256]);
    expect(headers.get("cache-control")).toContain("immutable");
    expect(headers.get("content-disposition")).toContain('"EURUSD-ticks-2026-01-05.parquet"');
    const { volume, source, outcome } = await decodeTicks(bytes);
    expect([volume[0], volume[1], new Set(source), new Set(outcome)]).toEqual([
      1.5,
      Number.NaN,
      new Set(["push"]),
      new Set([TAKEN]),
    ]);
    await expectEqualToRest();
  });

  test("is not complete while ticks of it are in no segment, or might still come", async () => {
    await write({ startMs: MONDAY_S * SECOND_MS, count: 10 });
    await seal();
    await write({ startMs: MONDAY_S * SECOND_MS + 3_500, count: 4, first: 3 });
    expect(await list()).toMatchObject([{ complete: false, rows: null, revision: null, id: "ticks-EURUSD-2026-01-05" }]);
    await expectEqualToRest();
    await seal();
    expect(await list()).toMatchObject([{ complete: true, rows: 14 }]);
    t.clock.set(TUESDAY_S * SECOND_MS + MINUTE_MS - 1);
    expect(await list()).toMatchObject([{ complete: false }]);
    t.clock.set(TUESDAY_S * SECOND_MS + MINUTE_MS);
    expect(await list()).toMatchObject([{ complete: true }]);
  });

  test("of several layers is made when it is opened, and is one segment again after an undo", async () => {
    await write({ startMs: MONDAY_S * SECOND_MS, count: 300 });
    await seal();
    const [first] = await list();
    const number = await importTicks({ startMs: MONDAY_S * SECOND_MS + MINUTE_MS, count: 60, first: 5 });
    const id = "ticks-EURUSD-2026-01-05";
    expect(await list()).toMatchObject([{ id, complete: true, rows: null, bytes: null, sha256: null, revision: null }]);
    expect(await get(first?.id ?? "")).toMatchObject(failed("unknown_file"));
    const made = await get(id);
    expect(made.headers.get("cache-control")).toBe("private, no-cache");
    expect(new Set((await decodeTicks(made.bytes)).source)).toEqual(new Set(["push", "dukascopy"]));
    await expectEqualToRest();
    serve();
    expect((await get(id, { headers: { "if-none-match": made.headers.get("etag") ?? "" } })).status).toBe(304);
    const part = await get(id, { headers: { range: "bytes=10-19" } });
    expect([part.status, Buffer.from(part.bytes)]).toEqual([206, Buffer.from(made.bytes.subarray(10, 20))]);
    await t.db.pool.query("UPDATE backfill SET undone_at = now() WHERE number = $1", [number]);
    expect(await list()).toEqual([first]);
    expect((await get(first?.id ?? "")).status).toBe(200);
    await expectEqualToRest();
  });

  test("has no file when its only import is undone", async () => {
    const number = await importTicks({ startMs: MONDAY_S * SECOND_MS, count: 5 });
    const [file] = await list();
    await t.db.pool.query("UPDATE backfill SET undone_at = now() WHERE number = $1", [number]);
    expect(await list()).toEqual([]);
    for (const id of [file?.id ?? "", "ticks-EURUSD-2026-01-05"]) expect(await get(id)).toMatchObject(failed("unknown_file"));
  });

  test("of more ticks than a segment has is a file for good once it is joined, and is charged for each started 100,000 rows", async () => {
    const rows = TICK_SEGMENT_MAX_ROWS + 500;
    await importTicks({ startMs: MONDAY_S * SECOND_MS, count: rows, stepMs: 1 });
    expect(await list()).toMatchObject([{ complete: true, rows: null }]);
    const unjoined = await get("ticks-EURUSD-2026-01-05");
    expect([await joinDays(t.db, thread, MONDAY_S), await joinDays(t.db, thread, TUESDAY_S)]).toEqual([0, 1]);
    const [file] = await list();
    expect(file).toMatchObject({ complete: true, rows, id: `ticks-EURUSD-2026-01-05-${file?.revision}` });
    const { bytes, headers } = await get(file?.id ?? "");
    expect(bytes).toEqual(unjoined.bytes);
    expect([bytes.length, createHash("sha256").update(bytes).digest("hex")]).toEqual([file?.bytes, file?.sha256]);
    expect(headers.get("cache-control")).toContain("immutable");
    expect(headers.get("etag")).toMatch(/^"/);
    const part = await get(file?.id ?? "", { headers: { range: "bytes=100-109" } });
    expect([part.status, Buffer.from(part.bytes)]).toEqual([206, Buffer.from(bytes.subarray(100, 110))]);
    expect(await joinDays(t.db, thread, TUESDAY_S)).toBe(0);
    const { text: key } = await t.issueKey({ plan: "demo" });
    const remaining = async (id: string) => Number((await get(id, { key })).headers.get("x-ratelimit-remaining"));
    const before = await remaining("none");
    expect(before - (await remaining(file?.id ?? ""))).toBe(2);
    await expectEqualToRest();
  });
});

describe("segments of a day", () => {
  test("are joined in each layer, and ticks that come later are joined again", async () => {
    const second = TICK_SEGMENT_MAX_ROWS + 10;
    await write({ startMs: MONDAY_S * SECOND_MS, count: second, stepMs: 1 });
    await seal();
    await importTicks({ startMs: MONDAY_S * SECOND_MS + HOUR_MS, count: second, stepMs: 1, first: 5 });
    const made = await get("ticks-EURUSD-2026-01-05");
    expect(await joinDays(t.db, thread, TUESDAY_S)).toBe(2);
    expect((await get("ticks-EURUSD-2026-01-05")).bytes).toEqual(made.bytes);
    await t.db.pool.query("UPDATE backfill SET undone_at = now()");
    expect(await list()).toMatchObject([{ rows: second }]);
    await write({ startMs: MONDAY_S * SECOND_MS + 2 * HOUR_MS, count: 4, first: 3 });
    await seal();
    expect(await list()).toMatchObject([{ complete: true, rows: null }]);
    expect(await joinDays(t.db, thread, TUESDAY_S)).toBe(1);
    expect(await list()).toMatchObject([{ rows: second + 4 }]);
    await expectEqualToRest();
  });

  test("are left as they are while their history is changed, and where one is damaged, which keeps no other day", async () => {
    for (const day of [MONDAY_S - DAY_S, MONDAY_S])
      await importTicks({ startMs: day * SECOND_MS, count: TICK_SEGMENT_MAX_ROWS + 1, stepMs: 1 });
    await inTransaction(t.db.pool, async (client) => {
      await lockTicker(client, "EURUSD", "transaction");
      expect(await joinDays(t.db, thread, TUESDAY_S)).toBe(0);
    });
    const { rows } = await t.db.pool.query("SELECT content FROM tick_segment WHERE day = $1 AND part = 1", [MONDAY_S]);
    await t.db.pool.query("UPDATE history_content SET bytes = $2 WHERE id = $1", [rows[0].content, Buffer.from("altered")]);
    await expect(joinDays(t.db, thread, TUESDAY_S)).rejects.toThrow("was altered");
    expect((await list()).map((file) => file.rows)).toEqual([TICK_SEGMENT_MAX_ROWS + 1, null]);
  });
});

describe("the running day", () => {
  test("has the ticks up to now, is made again when more came, and clients do not keep it", async () => {
    await write({ startMs: TUESDAY_S * SECOND_MS, count: 10 });
    await seal();
    expect(await list()).toMatchObject([{ complete: false, rows: null, id: "ticks-EURUSD-2026-01-06" }]);
    await expectEqualToRest();
    await write({ startMs: NOON_MS - MINUTE_MS, count: 5, first: 4 });
    const first = await get("ticks-EURUSD-2026-01-06");
    expect(first.headers.get("cache-control")).toBe("private, no-cache");
    expect(await quotesOf(first.bytes)).toHaveLength(15);
    await write({ startMs: NOON_MS - 30_000, count: 1, first: 4 });
    expect(await quotesOf((await get("ticks-EURUSD-2026-01-06")).bytes)).toHaveLength(16);
    await expectEqualToRest();
  });
});

describe("an id", () => {
  test("of no day, of a month, or of another type's period is refused", async () => {
    await importTicks({ startMs: MONDAY_S * SECOND_MS, count: 5 });
    for (const id of [
      "ticks-EURUSD-2026-01",
      "ticks-EURUSD-2026-02-30",
      "ticks-EURUSD-2026-13-01",
      "ticks-EURUSD-2026-01-04",
      "ticks-EURUSD-2026-01-05-0000000000000000",
      "ticks-XAUUSD-2026-01-05",
      "klines-EURUSD-2026-01-01",
      "ticks-EURUSD-2026-01-05-",
    ])
      expect(await get(id)).toMatchObject(failed("unknown_file"));
    expect((await get("ticks-EURUSD-2026-01-05")).status).toBe(200);
  });

  test("lists are limited by the days that their range touches", async () => {
    await importTicks({ startMs: MONDAY_S * SECOND_MS, count: 5 });
    await importTicks({ startMs: TUESDAY_S * SECOND_MS, count: 5 });
    const days = async (query: string) => (await list(query)).map(({ from }) => from);
    expect(await days("")).toEqual([MONDAY_S, TUESDAY_S]);
    expect(await days(`&from=${TUESDAY_S}`)).toEqual([TUESDAY_S]);
    expect(await days(`&from=${TUESDAY_S - 1}`)).toEqual([MONDAY_S, TUESDAY_S]);
    expect(await days(`&to=${TUESDAY_S}`)).toEqual([MONDAY_S]);
  });
});

test("a day whose segment is damaged is answered with 503, and others go on", async () => {
  await importTicks({ startMs: MONDAY_S * SECOND_MS, count: 5 });
  await importTicks({ startMs: MONDAY_S * SECOND_MS, count: 9, first: 2 });
  await importTicks({ startMs: TUESDAY_S * SECOND_MS, count: 5 });
  const { rows } = await t.db.pool.query("SELECT content FROM tick_segment WHERE day = $1 LIMIT 1", [MONDAY_S]);
  await t.db.pool.query("UPDATE history_content SET bytes = $2 WHERE id = $1", [rows[0].content, Buffer.from("altered")]);
  expect(await get("ticks-EURUSD-2026-01-05")).toMatchObject(failed("service_unavailable"));
  expect((await get("ticks-EURUSD-2026-01-06")).status).toBe(200);
});
