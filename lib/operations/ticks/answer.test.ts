import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TICKS_MAX_LIMIT_ROWS, TICKS_SAME_TIME_MAX_COUNT } from "#lib/contract/limits";
import { TAKEN } from "#lib/domain/tick-columns";
import { cursorOf } from "#lib/operations/ticks/declaration";
import { MINUTE_MS } from "#lib/units";
import { addTick, type TickChunk } from "#server/store/history/tick-tail";
import { createKlineStore } from "#server/store/klines/kline-store";
import { DEMO_KEY, failed, TEST_START_MS, type TestRuntime, testRuntime } from "#server/testing/runtime";

const PATH = "/api/v1/market/ticks";
let t: TestRuntime;
/** Times after TEST_START_MS - MINUTE_MS: several of one millisecond, also across the end of a page. */
const TIMES = [0, 1, 5, 5, 5, 5, 5, 9, 9, 30, 31, 31, 500];
const FROM = TEST_START_MS - MINUTE_MS;

beforeAll(async () => {
  t = await testRuntime();
  const stored = createKlineStore(t.db);
  const chunk: TickChunk = { id: randomUUID(), ticker: "EURUSD", source: "push", numbers: [], outcomes: [] };
  for (const [at, ms] of TIMES.entries()) addTick(chunk, { time_msc: FROM + ms, bid: 1 + at / 1e5, ask: 1.1 }, FROM + ms, TAKEN);
  addTick(chunk, { time_msc: FROM + 2, bid: 9, ask: 9 }, FROM + 2, "spike");
  await stored.writeBatch([], [], [chunk]);
  t.markets.live.store.readTicks = stored.readTicks;
});
afterAll(() => t.close());

const ask = (query: string, more = {}) => t.ask(`${PATH}?ticker=EURUSD${query}`, more);
const bidsOf = (items: readonly { bid: number }[]) => items.map(({ bid }) => Math.round((bid - 1) * 1e5));
const ALL = TIMES.map((_, at) => at);

describe("ticks", () => {
  test("are the quotes of a range, without those that were not taken", async () => {
    const { body } = await ask(`&from=${FROM + 1}&to=${FROM + 9}`);
    expect(body.data).toMatchObject({
      ticker: "EURUSD",
      from: FROM + 1,
      to: FROM + 9,
      count: 6,
      limit: 1_000,
      next_cursor: null,
    });
    expect(bidsOf(body.data.items)).toEqual([1, 2, 3, 4, 5, 6]);
    const quote = { type: "quote", ticker: "EURUSD", time_msc: FROM + 1, bid: 1.00001, ask: 1.1, mid: 1.050005, spread: 0.09999 };
    expect(body.data.items[0]).toEqual(quote);
  });

  test("pages of any size give each of them once, in order, also within one millisecond", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 14 }), fc.nat(40), async (limit, from) => {
        const found: number[] = [];
        let cursor = "";
        do {
          const { data } = (await ask(`&from=${FROM + from}&limit=${limit}${cursor}`)).body;
          found.push(...bidsOf(data.items));
          cursor = data.next_cursor === null ? "" : `&cursor=${data.next_cursor}`;
        } while (cursor !== "");
        expect(found).toEqual(ALL.filter((at) => (TIMES[at] as number) >= from));
      }),
      { numRuns: 30 },
    );
  });

  test("without a start the newest are given, and no next page", async () => {
    const { data } = (await ask("&limit=3")).body;
    expect(data).toMatchObject({ from: null, to: TEST_START_MS, next_cursor: null });
    expect(bidsOf(data.items)).toEqual(ALL.slice(-3));
    expect(bidsOf((await ask(`&limit=2&to=${new Date(FROM + 9).toISOString()}`)).body.data.items)).toEqual([5, 6]);
  });

  test("are offered as CSV and as lines, with the next page in the header", async () => {
    const csv = await ask(`&from=${FROM}&limit=2&format=csv`);
    expect(csv.headers.get("content-type")).toMatch(/^text\/csv/);
    expect(csv.text.split("\r\n").slice(0, 2)).toEqual([
      "type,ticker,time_msc,time_utc,bid,ask,mid,spread",
      `quote,EURUSD,${FROM},2026-01-07T11:59:00.000Z,1,1.1,1.05,0.1`,
    ]);
    const lines = await ask(`&from=${FROM}&limit=2`, { headers: { accept: "application/x-ndjson" } });
    expect(lines.headers.get("content-type")).toBe("application/x-ndjson");
    expect(
      lines.text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).time_msc),
    ).toEqual([FROM, FROM + 1]);
    for (const { headers } of [csv, lines]) {
      const [, next = ""] = /^<([^>]+)>; rel="next"$/.exec(headers.get("link") ?? "") ?? [];
      expect(bidsOf((await t.ask(next.replace("&format=csv", ""))).body.data.items)).toEqual([2, 3]);
    }
  });

  test("a range in the future or before everything is empty", async () => {
    for (const query of [`&from=${TEST_START_MS + 1}`, "&from=0&to=100000000000", "&to=100000000000"]) {
      const { data } = (await ask(query)).body;
      expect([data.count, data.items, data.next_cursor]).toEqual([0, [], null]);
    }
  });

  test.each([
    ["from in seconds", "&from=1767225600", "from: must be in Unix milliseconds; this value looks like seconds."],
    ["a time that is none", "&to=yesterday", /^to: must be Unix milliseconds, or an ISO 8601/],
    ["a negative time", "&from=-1", "from: is out of range: times before 1970 are not supported."],
    ["a cursor of another's", "&cursor=WRONG", "cursor: must be the `next_cursor` of an earlier response."],
    [
      "a cursor that leads too far",
      `&cursor=${cursorOf({ time: FROM, skip: TICKS_SAME_TIME_MAX_COUNT + 1 })}`,
      /leads behind more than 100,000/,
    ],
    ["a limit that is too high", `&limit=${TICKS_MAX_LIMIT_ROWS + 1}`, /^limit: must be an integer between 1 and 10000/],
    ["a range that ends before it begins", `&from=${FROM + 2}&to=${FROM + 1}`, "`from` must be before `to`."],
  ])("%s is refused", async (_, query, detail) => {
    const answer = await ask(query);
    expect(answer.status).toBe(400);
    expect(answer.body.data.detail).toEqual(
      typeof detail === "string"
        ? expect.stringContaining(detail.replace(/^\w+: /, ""))
        : expect.stringMatching(new RegExp(detail.source.replace(/^\^\w+: /, ""))),
    );
  });

  test("cost a unit for a thousand rows that are asked for", async () => {
    const left = async (query: string) => Number(/r=(\d+)/.exec((await ask(query)).headers.get("ratelimit") ?? "")?.[1]);
    const before = await left("&limit=1");
    expect(before - (await left("&limit=10000"))).toBe(10);
    expect(before - (await left("&limit=1001"))).toBe(12);
  });

  test("are read one after the other; when too many wait, more are refused and can be asked for again", async () => {
    const answers = await Promise.all(Array.from({ length: 80 }, () => ask(`&from=${FROM}`)));
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) {
      expect(answer).toMatchObject(failed("service_unavailable", { detail: "Too many reads of ticks are waiting." }));
      expect(answer.headers.get("retry-after")).toBe("1");
    }
    expect(answers.filter(({ status }) => status === 200).length).toBe(80 - refused.length);
    expect((await ask("&limit=1")).status).toBe(200);
  });

  test("of an unknown ticker are refused, and the sandbox has its own", async () => {
    expect(await t.ask(`${PATH}?ticker=AAABBB`)).toMatchObject(failed("unknown_ticker"));
    const { data } = (await ask("&limit=5", { key: DEMO_KEY })).body;
    expect(data.ticker).toBe("EURUSD");
  });
});
