import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { KLINES_AS_OF_SETTLE_S } from "#lib/contract/limits";
import { inTransaction } from "#server/store/history/transaction";
import { storeBatch } from "#server/store/klines/kline-batches";
import { createKlineStore } from "#server/store/klines/kline-store";
import { beginTestImport } from "#server/testing/imports";
import { testKline, testKlines } from "#server/testing/market";
import { type Answer, failed, TEST_START_MS, type TestRuntime, testRuntime } from "#server/testing/runtime";

const NOW = TEST_START_MS / 1_000;
const PATH = "/api/v1/market/klines";
const HOUR = testKlines("EURUSD", "M1", NOW - 7_200, 60, 60);
const WINDOW = `ticker=EURUSD&timeframe=M1&from=${NOW - 7_200}&to=${NOW - 3_600}`;
/** One was replaced half an hour ago. */
const REPLACED_AT = NOW - 1_800;
const REPLACED = testKline("EURUSD", "M1", NOW - 5_400, 1.5);

let t: TestRuntime;

async function importAt(time: number, klines: typeof HOUR): Promise<void> {
  t.clock.set(time * 1_000);
  const number = await beginTestImport(t, { state: "done" });
  await inTransaction(t.db.pool, (client) => storeBatch(client, t.db.segments, number, klines, t.clock.now()));
  t.clock.set(TEST_START_MS);
}

beforeAll(async () => {
  t = await testRuntime();
  const { read, readAt } = createKlineStore(t.db);
  Object.assign(t.markets.live.store, { read, readAt });
  await importAt(NOW - 3_600, HOUR);
  await importAt(REPLACED_AT, [REPLACED]);
});
beforeEach(() => t.clock.set(TEST_START_MS));
afterAll(() => t?.close());

const ask = (query: string, headers: Record<string, string> = {}, method = "GET") =>
  t.ask(`${PATH}?${query}`, { method, headers });
const closeOf = ({ body }: Answer) => body.data.items.find(({ time }: { time: number }) => time === REPLACED.time)?.close;

describe("as of an instant", () => {
  test("the answer has the klines of that instant, and names it", async () => {
    const before = await ask(`${WINDOW}&as_of=${REPLACED_AT - 1}`);
    expect(before.body.data).toMatchObject({ count: 60, expected_count: 60, as_of: REPLACED_AT - 1 });
    expect(closeOf(before)).toBe(HOUR[30]?.close);
    for (const at of [REPLACED_AT, NOW]) expect(closeOf(await ask(`${WINDOW}&as_of=${at}`))).toBe(1.5);
    expect((await ask(WINDOW)).body.data).not.toHaveProperty("as_of");
  });

  test("a range without an end ends with the instant, and one that begins after it is empty", async () => {
    const newest = await ask(`ticker=EURUSD&timeframe=M5&limit=2&as_of=${NOW - 3_600}`);
    expect(newest.body.data).toMatchObject({ to: NOW - 3_599, count: 2, from: NOW - 4_200 });
    const later = await ask(`ticker=EURUSD&timeframe=M5&from=${NOW - 60}&as_of=${NOW - 3_600}`);
    expect(later).toMatchObject({ status: 200, body: { data: { count: 0, items: [] } } });
  });

  test("an instant before the first stored kline has an empty window", async () => {
    for (const at of ["0", String(NOW - 3_601)])
      expect((await ask(`${WINDOW}&as_of=${at}`)).body.data).toMatchObject({ count: 0, items: [], next_from: null });
  });

  test("an instant can be ISO 8601 with an offset, and a fraction of a second is dropped", async () => {
    for (const at of ["2026-01-07T11:29:59.999Z", "2026-01-07T12:29:59.5%2B01:00"])
      expect((await ask(`${WINDOW}&as_of=${at}`)).body.data.as_of).toBe(REPLACED_AT - 1);
    t.clock.set(TEST_START_MS + 500);
    expect((await ask(`${WINDOW}&as_of=2026-01-07T12:00:00.500Z`)).body.data.as_of).toBe(NOW);
  });

  test("an instant in the future is refused, and so is what is no instant", async () => {
    const bad = [
      "",
      "x",
      "-1",
      "1.5",
      "2026-01-07",
      "2026-01-07T12:00:00",
      `${NOW + 1}`,
      `${TEST_START_MS}`,
      "99999999999999999",
    ];
    for (const at of bad) {
      const answer = await ask(`${WINDOW}&as_of=${at}`);
      expect([at, answer]).toMatchObject([at, failed("invalid_parameter", { parameter: "as_of" })]);
    }
  });

  test("the answer may be kept, with a strong ETag that gives 304 and is the same for HEAD", async () => {
    const query = `${WINDOW}&as_of=${REPLACED_AT}`;
    const { headers } = await ask(query);
    const etag = headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[^"]+"$/);
    expect(headers.get("cache-control")).toBe("private, max-age=31536000, immutable");
    expect(headers.get("vary")).toContain("Authorization");
    const head = await ask(query, {}, "HEAD");
    expect([head.status, head.text, head.headers.get("etag")]).toEqual([200, "", etag]);
    const held = await ask(query, { "if-none-match": etag });
    expect([held.status, held.text, held.headers.get("etag")]).toEqual([304, "", etag]);
    expect((await ask(`${WINDOW}&as_of=${REPLACED_AT - 1}`)).headers.get("etag")).not.toBe(etag);
  });

  test("an answer of the last minute is checked before it is used again, because what was stored then may not be committed yet", async () => {
    const caching = async (at: number) => (await ask(`${WINDOW}&as_of=${at}`)).headers.get("cache-control");
    expect(await caching(NOW - KLINES_AS_OF_SETTLE_S)).toBe("private, no-cache");
    expect(await caching(NOW - KLINES_AS_OF_SETTLE_S - 2)).toMatch(/immutable$/);
  });

  test("CSV has the same rows, and its next page is of the same instant", async () => {
    const answer = await ask(`${WINDOW}&as_of=${REPLACED_AT - 1}&limit=31&format=csv`);
    const lines = answer.text.trim().split("\r\n");
    expect(lines).toHaveLength(32);
    expect(lines.at(-1)).toContain(String(HOUR[30]?.close));
    expect(answer.headers.get("link")).toContain(`as_of=${REPLACED_AT - 1}`);
  });
});

describe("the revision", () => {
  const revision = async (query: string): Promise<string> => (await ask(query)).body.data.revision;

  test("klines that are the same have the same revision, of any instant and in any request that has just these", async () => {
    const before = await revision(`${WINDOW}&as_of=${REPLACED_AT - 1}`);
    expect(before).toMatch(/^[\w-]{16}$/);
    expect(await revision(`${WINDOW}&as_of=${NOW - 3_600}`)).toBe(before);
    const now = await revision(WINDOW);
    expect(now).not.toBe(before);
    expect(await revision(`${WINDOW}&as_of=${NOW}`)).toBe(now);
    expect(await revision(`${WINDOW}&limit=60`)).toBe(now);
  });

  test("a revision changes with each value of a row, and when a row comes or goes", async () => {
    const query = `ticker=GBPUSD&timeframe=M1&from=${NOW - 600}&to=${NOW - 300}`;
    const seen = new Set([await revision(query)]);
    const base = testKline("GBPUSD", "M1", NOW - 600);
    const changes = [
      {},
      { open: 1.11 },
      { high: 1.2 },
      { low: 1 },
      { close: 1.105 },
      { tick_volume: 11 },
      { real_volume: 0 },
      { spread: null },
    ];
    for (const change of changes) {
      await importAt(NOW, [{ ...base, ...change }]);
      t.markets.live.historyChanged();
      seen.add(await revision(query));
    }
    await importAt(NOW, [testKline("GBPUSD", "M1", NOW - 540)]);
    t.markets.live.historyChanged();
    seen.add(await revision(query));
    expect(seen.size).toBe(changes.length + 2);
  });

  test("a kline of the view changes the revision as a stored one does", async () => {
    await importAt(NOW, testKlines("AUDUSD", "M1", NOW - 600, 9, 60));
    t.markets.live.historyChanged();
    const query = `ticker=AUDUSD&timeframe=M1&from=${NOW - 600}`;
    const before = await revision(query);
    expect(await revision(query)).toBe(before);
    t.markets.live.kline(testKline("AUDUSD", "M1", NOW - 60));
    expect(await revision(query)).not.toBe(before);
  });

  test("the sandbox has no revision: its klines never change", async () => {
    const { text: key } = await t.issueKey({ venue: "sandbox" });
    expect((await t.ask(`${PATH}?ticker=EURUSD&timeframe=M1`, { key })).body.data).not.toHaveProperty("revision");
  });
});
