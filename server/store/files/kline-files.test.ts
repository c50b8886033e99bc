import { createHash, randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Kline } from "#lib/contract/kline";
import { klineAt, type Side, sideOf } from "#lib/domain/columns";
import { toPublic } from "#lib/domain/kline";
import { TAKEN } from "#lib/domain/tick-columns";
import { operations } from "#lib/operations/declarations";
import type { DataFile } from "#lib/operations/files/declaration";
import { SegmentStoreAway } from "#lib/storage-errors";
import { openDuckDb } from "#lib/testing/duckdb";
import { DAY_S, MINUTE_S } from "#lib/units";
import { sealTails } from "#server/store/history/tail";
import { addTick, type TickChunk } from "#server/store/history/tick-tail";
import { inTransaction } from "#server/store/history/transaction";
import { redoImport, undoImport } from "#server/store/klines/import-undo";
import { storeBatch } from "#server/store/klines/kline-batches";
import { createKlineStore } from "#server/store/klines/kline-store";
import { decodeStatements } from "#server/store/segments/parquet";
import { decodeFile } from "#server/store/segments/parquet-file";
import { createSegments } from "#server/store/segments/segments";
import { beginTestImport } from "#server/testing/imports";
import { storeTail } from "#server/testing/layered";
import { testKlines } from "#server/testing/market";
import { type Ask, failed, TEST_START_MS, type TestRuntime, testRuntime } from "#server/testing/runtime";
import { createFileThread, type FileThread } from "./file-thread";
import { createKlineFiles } from "./kline-files";
import { createMadeFiles } from "./made-files";

const START_S = TEST_START_MS / 1000;
const NOVEMBER_S = Date.UTC(2025, 10, 1) / 1000;
const DECEMBER_S = Date.UTC(2025, 11, 1) / 1000;
const JANUARY_S = Date.UTC(2026, 0, 1) / 1000;
const TABLES = ["tick_tail", "kline_tail", "history_layer", "history_visible", "history_derived", "history_change"];

const folder = await mkdtemp(path.join(tmpdir(), "spotwire-files-"));
let t: TestRuntime;
let thread: FileThread;

beforeAll(async () => {
  t = await testRuntime();
  thread = createFileThread(t.clock);
  const { read, readAt } = createKlineStore(t.db);
  Object.assign(t.markets.live.store, { read, readAt });
});
beforeEach(async () => {
  for (const table of TABLES) await t.db.pool.query(`DELETE FROM ${table}`);
  t.clock.set(TEST_START_MS);
  serve();
});
afterAll(async () => {
  await thread.close();
  await t.close();
  await rm(folder, { recursive: true });
});

/** Serves files as a process that has just started. */
function serve(segments = t.db.segments): void {
  const { clock, log } = t;
  const made = createMadeFiles({ folder, clock, log });
  const klines = createKlineFiles({ db: { pool: t.db.pool, segments }, made, thread, clock });
  Object.assign(t.markets.live.files ?? {}, { klines });
  t.markets.live.historyChanged();
}

async function importKlines(klines: readonly Kline[]): Promise<number> {
  const number = await beginTestImport(t);
  await inTransaction(t.db.pool, (client) => storeBatch(client, t.db.segments, number, klines, t.clock.now()));
  t.markets.live.historyChanged();
  return number;
}

const minutes = (from: number, count: number) => testKlines("EURUSD", "M1", from, count, MINUTE_S) as Kline[];
/** A month with unknown spreads and real volumes, and with a gap. */
const month = (from: number): Kline[] =>
  minutes(from, 3_000)
    .filter((_, index) => index % 7 !== 3)
    .map((kline, index) => ({
      ...kline,
      spread: index % 5 === 0 ? (null as never) : 0.00012,
      real_volume: index % 3 ? null : 1.5,
    }));

async function list(query = ""): Promise<DataFile[]> {
  const { body } = await t.ask(`${operations.files.path}?ticker=EURUSD&type=klines${query}`);
  return operations.files.data.parse(body.data).items;
}

const get = (id: string, more: Ask = {}) => t.ask(`${operations.file.path.replace("{id}", id)}`, more);

/** The rows of a file, with the prices of a side where its rows have them. */
async function rowsOf(bytes: Uint8Array, side?: Side): Promise<unknown[]> {
  const decoded = await decodeStatements(bytes);
  const columns = side === undefined ? decoded : sideOf(decoded, side);
  return Array.from(columns.time, (_, row) => toPublic(klineAt(columns, row, "EURUSD", "M1")));
}

/** The rows of REST in a range, page by page, as JSON or as lines of CSV. */
async function restRows(from: number, to: number, price: Side | "bid" = "bid", asOf?: number): Promise<unknown[]> {
  const rows: unknown[] = [];
  for (let next: number | null = from; next !== null; ) {
    const then = asOf === undefined ? "" : `&as_of=${asOf}`;
    const asked = `?ticker=EURUSD&timeframe=M1&from=${next}&to=${to}&limit=5000&price=${price}${then}`;
    const { body } = await t.ask(operations.klines.path + asked);
    rows.push(...body.data.items);
    next = body.data.next_from;
  }
  return rows;
}

describe("a month that is over", () => {
  test("is a file whose every row equals that of klines, whose hash is that of its bytes, and as CSV the same text", async () => {
    await importKlines([...month(NOVEMBER_S), ...month(DECEMBER_S + DAY_S)]);
    const listed = await list();
    expect(listed.map(({ from, to, complete }) => [from, to, complete])).toEqual([
      [NOVEMBER_S, DECEMBER_S, true],
      [DECEMBER_S, JANUARY_S, true],
    ]);
    for (const { id, from, to, rows, bytes, sha256 } of listed) {
      const file = await get(id);
      expect(createHash("sha256").update(file.bytes).digest("hex")).toBe(sha256);
      expect(file.bytes.length).toBe(bytes);
      const expected = await restRows(from, to);
      expect(expected).toHaveLength(rows ?? 0);
      expect(await rowsOf(file.bytes)).toEqual(expected);
      const csv = await t.ask(`${operations.klines.path}?ticker=EURUSD&timeframe=M1&from=${from}&to=${to}&limit=5000&format=csv`);
      expect((await get(`${id}?format=csv`)).text).toBe(csv.text);
      const part = await get(id, { headers: { range: "bytes=100-299" } });
      expect([part.status, Buffer.from(part.bytes)]).toEqual([206, Buffer.from(file.bytes.subarray(100, 300))]);
    }
  });

  test("is read by DuckDB as the rows of klines", async () => {
    await importKlines(month(NOVEMBER_S));
    const [file] = await list();
    const place = path.join(folder, "november.parquet");
    await writeFile(place, (await get(file?.id ?? "")).bytes);
    const duckdb = await openDuckDb();
    onTestFinished(duckdb.close);
    const names = "tick_volume, real_volume, coalesce(spread, 0)::DOUBLE AS spread";
    const prices = ["open", "high", "low", "close"].map((name) => `${name}::DOUBLE AS ${name}`).join(", ");
    const sql = `SELECT epoch(time)::INTEGER AS time, ${prices}, ${names} FROM '${place}'`;
    const rows = await duckdb.ask(sql);
    const series = { type: "kline", ticker: "EURUSD", timeframe: "M1" };
    expect(rows.map((row) => ({ ...series, ...row }))).toEqual(await restRows(NOVEMBER_S, DECEMBER_S));
  });

  test("is listed by the range that its period touches", async () => {
    await importKlines([...minutes(NOVEMBER_S, 3), ...minutes(DECEMBER_S, 3)]);
    const dates = async (query: string) => (await list(query)).map(({ from }) => from);
    expect(await dates(`&from=${DECEMBER_S}`)).toEqual([DECEMBER_S]);
    expect(await dates(`&from=${DECEMBER_S - 1}`)).toEqual([NOVEMBER_S, DECEMBER_S]);
    expect(await dates(`&to=${DECEMBER_S}`)).toEqual([NOVEMBER_S]);
    expect(await dates(`&from=${DECEMBER_S + 5}&to=${DECEMBER_S + 6}`)).toEqual([DECEMBER_S]);
    expect(await dates(`&from=${JANUARY_S}&to=99999999999`)).toEqual([]);
  });

  test("has another id when an import changes it, and the old one says so; an undo brings it back", async () => {
    await importKlines(minutes(NOVEMBER_S, 100));
    const [first] = await list();
    const number = await importKlines(minutes(NOVEMBER_S + 50 * MINUTE_S, 100));
    const [second] = await list();
    expect(second?.id).not.toBe(first?.id);
    expect(second?.rows).toBe(150);
    expect(await get(first?.id ?? "")).toMatchObject(failed("unknown_file"));
    const admin = { db: t.db, clock: t.clock, record: async () => undefined };
    await undoImport(admin, number);
    expect((await list())[0]).toEqual(first);
    expect(await get(second?.id ?? "")).toMatchObject(failed("unknown_file"));
    expect((await get(first?.id ?? "")).status).toBe(200);
    await redoImport(admin, number);
    expect((await get(second?.id ?? "")).status).toBe(200);
  });

  test("has no file when its only import is undone", async () => {
    const number = await importKlines(minutes(NOVEMBER_S, 100));
    const [file] = await list();
    await undoImport({ db: t.db, clock: t.clock, record: async () => undefined }, number);
    expect(await list()).toEqual([]);
    for (const id of [file?.id ?? "", "klines-EURUSD-2025-11"]) expect(await get(id)).toMatchObject(failed("unknown_file"));
  });

  test("is open again while it has minutes that are not in it yet", async () => {
    await importKlines(minutes(NOVEMBER_S, 10));
    const [whole] = await list();
    await storeTail(t.db, minutes(NOVEMBER_S + 20 * MINUTE_S, 5));
    t.markets.live.historyChanged();
    expect(await list()).toMatchObject([{ complete: false, rows: null, sha256: null, id: "klines-EURUSD-2025-11" }]);
    expect(await get(whole?.id ?? "")).toMatchObject(failed("unknown_file"));
    const open = await get("klines-EURUSD-2025-11");
    expect(await rowsOf(open.bytes)).toEqual(await restRows(NOVEMBER_S, DECEMBER_S));
    await sealTails(t.db, START_S);
    expect(await list()).toMatchObject([{ complete: true, rows: 15 }]);
  });
});

describe("the running month", () => {
  test("is made of what is stored and of what came since, when it is asked for, and is not kept by clients", async () => {
    await importKlines(minutes(JANUARY_S, 100));
    const open = minutes(START_S - 10 * MINUTE_S, 12);
    await storeTail(t.db, open);
    t.markets.live.historyChanged();
    const [file] = await list();
    expect(file).toMatchObject({ complete: false, rows: null, bytes: null, sha256: null, revision: null });
    const first = await get(file?.id ?? "");
    expect(first.headers.get("cache-control")).toBe("private, no-cache");
    // Nine minutes are over, with the delay after which a kline closes.
    expect(await rowsOf(first.bytes)).toEqual(await restRows(JANUARY_S, START_S - MINUTE_S));
    expect((await decodeStatements(first.bytes)).time).toHaveLength(109);
    const etag = first.headers.get("etag") ?? "";
    expect((await get(file?.id ?? "", { headers: { "if-none-match": etag } })).status).toBe(304);
    await t.clock.advance(5_000);
    const second = await get(file?.id ?? "");
    expect((await decodeStatements(second.bytes)).time).toHaveLength(110);
    expect(second.headers.get("etag")).not.toBe(etag);
    expect((await get(`${file?.id}?format=csv`)).text.trimEnd().split("\r\n")).toHaveLength(111);
  });

  test("with rows in a segment alone is that segment, but not for good", async () => {
    await importKlines(minutes(JANUARY_S, 100));
    const [file] = await list();
    expect(file).toMatchObject({ complete: false, id: "klines-EURUSD-2026-01" });
    const { headers, bytes } = await get(file?.id ?? "");
    expect(headers.get("cache-control")).toBe("private, no-cache");
    expect(await rowsOf(bytes)).toHaveLength(100);
    const sha256 = headers.get("etag")?.slice(1, 17);
    expect(await get(`klines-EURUSD-2026-01-${sha256}`)).toMatchObject(failed("unknown_file"));
  });
});

describe("ask and mid prices", () => {
  /** Minutes with a tick each, those of every third with none that is kept. */
  async function watch(klines: readonly Kline[]): Promise<void> {
    const chunk: TickChunk = { id: randomUUID(), ticker: "EURUSD", source: "push", numbers: [], outcomes: [] };
    const watched = klines.map((kline) => ({ ...kline, tick_volume: 1 }));
    for (const [index, { time, close }] of watched.entries())
      if (index % 3 !== 1) addTick(chunk, { time_msc: time * 1000, bid: close, ask: close + 0.0001 * index }, time * 1000, TAKEN);
    await createKlineStore(t.db).writeBatch(watched, [], [chunk]);
    t.markets.live.historyChanged();
  }

  test.each(["ask", "mid"] as const)(
    "of %s are those of klines, in a month that is over and in the running one",
    async (side) => {
      await watch(minutes(DECEMBER_S, 90));
      await sealTails(t.db, JANUARY_S);
      await watch(minutes(JANUARY_S, 60));
      await sealTails(t.db, JANUARY_S + 40 * MINUTE_S);
      await importKlines(minutes(DECEMBER_S + 10 * MINUTE_S, 20));
      const listed = await list();
      expect(listed.map(({ complete }) => complete)).toEqual([true, false]);
      for (const [{ id, from, to }, count] of listed.map((file, index) => [file, [47, 40][index]] as const)) {
        const { bytes } = await get(id);
        const expected = await restRows(from, to, side);
        expect(expected).toHaveLength(count ?? 0);
        expect(await rowsOf(bytes, side)).toEqual(expected);
        expect(await rowsOf(bytes)).toEqual(await restRows(from, to));
      }
      const sided = await list(`&price=${side}`);
      expect(sided).toMatchObject([
        { id: `klines-EURUSD-2025-12-${side}`, complete: true, rows: null, revision: null },
        { id: `klines-EURUSD-2026-01-${side}`, complete: false, rows: null, revision: null },
      ]);
      for (const { id, from, to } of sided) {
        const { bytes } = await get(id);
        const { has, said } = await decodeFile(bytes);
        expect([has("close"), has("ask_close"), has("mid_close"), said("price")]).toEqual([true, false, false, side]);
        expect(await rowsOf(bytes)).toEqual(await restRows(from, to, side));
        const csv = await t.ask(
          `${operations.klines.path}?ticker=EURUSD&timeframe=M1&from=${from}&to=${to}&limit=5000&price=${side}&format=csv`,
        );
        expect((await get(`${id}?format=csv`)).text).toBe(csv.text);
      }
    },
  );

  test("are in no list where no minute has them", async () => {
    await importKlines(minutes(NOVEMBER_S, 100));
    expect(await list()).toHaveLength(1);
    expect(await list("&price=ask")).toEqual([]);
    const { bytes, status } = await get("klines-EURUSD-2025-11-ask");
    expect([status, await rowsOf(bytes)]).toEqual([200, []]);
  });
});

describe("as of an instant", () => {
  const admin = { db: {} as TestRuntime["db"], record: async () => undefined };
  const change = (seconds: number, work: () => Promise<unknown>) => {
    t.clock.set((START_S + seconds) * 1000);
    return work();
  };

  test("files have the rows of klines as of it, whatever changes later, and the same bytes for ever", async () => {
    const own = { ...admin, db: t.db, clock: t.clock };
    let number = 0;
    await change(0, () => importKlines([...minutes(NOVEMBER_S, 200), ...minutes(DECEMBER_S, 50)]));
    await change(100, async () => {
      const other = minutes(NOVEMBER_S + 100 * MINUTE_S, 200).map((kline) => ({ ...kline, close: 1.2, high: 1.2 }));
      number = await importKlines(other);
    });
    const asked = [50, 150, 250, 350].map((seconds) => START_S + seconds);
    const seen = new Map<string, unknown>();
    async function look(asOf: number, price: Side | "bid" = "bid") {
      const answers: unknown[] = [];
      const side = price === "bid" ? "" : `&price=${price}`;
      for (const { id, from, to } of await list(`&as_of=${asOf}${side}`)) {
        const { bytes, headers } = await get(id);
        expect(await rowsOf(bytes)).toEqual(await restRows(from, to, price, asOf));
        answers.push([id, headers.get("etag")]);
      }
      const first = seen.get(`${asOf} ${price}`) ?? answers;
      expect(answers).toEqual(first);
      seen.set(`${asOf} ${price}`, first);
      return answers.length;
    }
    for (const [seconds, work] of [
      [200, () => undoImport(own, number)],
      [300, () => redoImport(own, number)],
      [400, () => importKlines(minutes(NOVEMBER_S, 300))],
      [500, () => undoImport(own, number)],
    ] as const) {
      await change(seconds, work);
      for (const asOf of asked) if (asOf < START_S + seconds) expect(await look(asOf)).toBe(2);
    }
    expect(await list(`&as_of=${START_S - 1}`)).toEqual([]);
    expect(await list(`&as_of=${DECEMBER_S}`)).toEqual([]);
  });

  test("minutes that had not ended are not there, and those of the current day have their asks", async () => {
    const chunk: TickChunk = { id: randomUUID(), ticker: "EURUSD", source: "push", numbers: [], outcomes: [] };
    const watched = minutes(JANUARY_S, 60).map((kline) => ({ ...kline, tick_volume: 1 }));
    for (const { time, close } of watched)
      addTick(chunk, { time_msc: time * 1000, bid: close, ask: close + 0.0002 }, time * 1000, TAKEN);
    await createKlineStore(t.db).writeBatch(watched, [], [chunk]);
    const asOf = JANUARY_S + 30 * MINUTE_S + 10;
    for (const price of ["bid", "ask"] as const) {
      const [file] = await list(`&as_of=${asOf}&price=${price}`);
      expect(file).toMatchObject({ complete: false, rows: null });
      const before = await get(file?.id ?? "");
      expect(await rowsOf(before.bytes)).toEqual(await restRows(JANUARY_S, START_S, price, asOf));
      expect((await decodeStatements(before.bytes)).time).toHaveLength(30);
      expect((await decodeStatements(before.bytes)).askClose).toHaveLength(price === "bid" ? 30 : 0);
    }
  });
});

describe("trouble", () => {
  test("of a file that is damaged or missing is answered with 503 and logged by name, and other files go on", async () => {
    await importKlines([...minutes(NOVEMBER_S, 10), ...minutes(DECEMBER_S, 10)]);
    const [november, december] = await list();
    const content = november?.sha256 ?? "";
    const original = november && (await get(november.id)).bytes;
    serve();
    await t.db.pool.query("UPDATE history_content SET bytes = $2 WHERE id = $1", [content, Buffer.from("altered")]);
    for (const suffix of ["", "?format=csv"])
      expect(await get(`${november?.id}${suffix}`)).toMatchObject(
        failed("service_unavailable", { detail: expect.stringContaining("damaged or missing") }),
      );
    expect(JSON.stringify(t.logged)).toContain(`segment ${content} was altered`);
    await t.db.pool.query("DELETE FROM history_content WHERE id = $1", [content]);
    serve();
    expect(await get(november?.id ?? "")).toMatchObject(failed("service_unavailable"));
    expect(JSON.stringify(t.logged)).toContain(`segment ${content} is not in the database`);
    expect((await get(december?.id ?? "")).status).toBe(200);
    await t.db.pool.query("INSERT INTO history_content (id, bytes) VALUES ($1, $2)", [content, Buffer.from(original ?? [])]);
    expect((await get(november?.id ?? "")).status).toBe(200);
  });

  test("of the place where files lie is answered with 503", async () => {
    await importKlines(minutes(NOVEMBER_S, 10));
    const [file] = await list();
    const away = async () => {
      throw new SegmentStoreAway("The bucket of stored klines cannot be used.");
    };
    serve(createSegments({ ...t.db.segments.store, get: away, sizes: away, range: away }, 8));
    expect(await get(file?.id ?? "")).toMatchObject(failed("service_unavailable"));
    expect(await t.ask(`${operations.files.path}?ticker=EURUSD&type=klines`)).toMatchObject(failed("service_unavailable"));
  });

  test("of the folder of made files is answered with 503, and whole files go on", async () => {
    await importKlines(minutes(NOVEMBER_S, 10));
    const [file] = await list();
    const { clock, log } = t;
    const occupied = path.join(folder, "occupied");
    await writeFile(occupied, "");
    const made = createMadeFiles({ folder: path.join(occupied, "files"), clock, log });
    Object.assign(t.markets.live.files ?? {}, { klines: createKlineFiles({ db: t.db, made, thread, clock }) });
    expect(await get(`${file?.id}?format=csv`)).toMatchObject(failed("service_unavailable", { retry_after: 60 }));
    expect((await get(file?.id ?? "")).status).toBe(200);
  });
});
