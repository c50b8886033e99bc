import { afterAll, beforeAll, expect, test } from "vitest";
import {
  KEY_USE_DAYS,
  LOG_EXPORT_MAX_ROWS,
  LOG_EXPORT_PART_MAX_ROWS,
  LOG_INTERVAL_S,
  LOG_INTERVALS_COUNT,
} from "#lib/contract/portal-activity";
import { DAY_MS, SECOND_MS } from "#lib/units";
import { keyUse } from "#server/store/usage/key-use";
import { LogQuery, requestHistogram, requestsCsv } from "#server/store/usage/request-log-query";
import { portalBrowser } from "#server/testing/portal-browser";
import { failed, type TestRuntime, testRuntime } from "#server/testing/runtime";

const ACCOUNT = "11111111-1111-4111-8111-111111111111";
const OTHER = "22222222-2222-4222-8222-222222222222";

let t: TestRuntime;
beforeAll(async () => {
  t = await testRuntime();
});
afterAll(() => t.close());

test("the use of each key is counted by day, without keys of other accounts and days before", async () => {
  const nowMs = t.clock.now();
  const insert = (account: string, key: string, daysAgo: number, calls: number) =>
    t.db.pool.query(
      `INSERT INTO usage_bucket (account_id, grain, at, key_id, operation, code, calls, latency)
       VALUES ($1, 'day', $2, $3, 'latestQuotes', 0, $4, '{}')`,
      [account, new Date(nowMs - (nowMs % DAY_MS) - daysAgo * DAY_MS), key, calls],
    );
  await insert(ACCOUNT, "k1", 0, 5);
  await insert(ACCOUNT, "k1", KEY_USE_DAYS - 1, 7);
  await insert(ACCOUNT, "k1", KEY_USE_DAYS, 100);
  await insert(OTHER, "k2", 0, 9);
  const days = [7, ...Array.from({ length: KEY_USE_DAYS - 2 }, () => 0), 5];
  expect(await keyUse(t.db.pool, ACCOUNT, nowMs)).toEqual([{ key_id: "k1", calls: days }]);
});

test("the histogram of the log counts the requests that match the filters, by interval, for one account", async () => {
  const nowMs = t.clock.now();
  const insert = (account: string, secondsAgo: number, status: number, key = "k1") =>
    t.db.pool.query(
      `INSERT INTO request_log (account_id, at, key_id, request_id, operation, method, path, status, code, latency_us, address, user_agent)
       VALUES ($1, $2, $3, 'r', 'latestQuotes', 'GET', '/', $4, 0, 1, '', '')`,
      [account, new Date(nowMs - secondsAgo * SECOND_MS), key, status],
    );
  await Promise.all([insert(ACCOUNT, 0, 200), insert(ACCOUNT, 0, 404), insert(ACCOUNT, 0, 503, "k2"), insert(OTHER, 0, 200)]);
  await insert(ACCOUNT, LOG_INTERVAL_S, 200);
  await insert(ACCOUNT, LOG_INTERVAL_S * LOG_INTERVALS_COUNT, 200);
  const read = async (query: object) => requestHistogram(t.db.pool, ACCOUNT, LogQuery.parse(query), nowMs);
  const all = await read({});
  expect(all).toHaveLength(LOG_INTERVALS_COUNT);
  expect(all.slice(-2)).toMatchObject([
    { calls: 1, errors: 0 },
    { calls: 3, errors: 2 },
  ]);
  expect(all.reduce((sum, { calls }) => sum + calls, 0)).toBe(4);
  expect((await read({ status: "4xx" })).at(-1)).toMatchObject({ calls: 1, errors: 1 });
  await t.db.pool.query("UPDATE request_log SET code = 50301 WHERE account_id = $1 AND status = 503", [ACCOUNT]);
  expect((await read({ status: "50301" })).at(-1)).toMatchObject({ calls: 1, errors: 1 });
  expect((await read({ status: "50302" })).at(-1)).toMatchObject({ calls: 0 });
  expect((await read({ key_id: "k2" })).at(-1)).toMatchObject({ calls: 1, errors: 1 });
});

test("the log as CSV has the newest requests that match the filters, and no cell that a spreadsheet would run", async () => {
  const account = "33333333-3333-4333-8333-333333333333";
  await t.db.pool.query(
    `INSERT INTO request_log (account_id, at, key_id, request_id, operation, method, path, status, code, latency_us, address, user_agent, detail)
     SELECT $1, $2, 'k1', 'r' || n, 'klines', 'GET', '/?n=' || n, CASE WHEN n % 2 = 0 THEN 200 ELSE 404 END, 0, 1500, '192.0.2.1',
            '=cmd()', CASE WHEN n % 2 = 0 THEN NULL ELSE 'No, "never".' END
       FROM generate_series(1, $3) AS n`,
    [account, new Date(t.clock.now()), LOG_EXPORT_MAX_ROWS + 2],
  );
  const partsOf = async (query: object) => {
    const parts: string[] = [];
    for await (const part of await requestsCsv(t.db.pool, account, LogQuery.parse(query))) parts.push(part);
    return parts;
  };
  const linesOf = async (query: object) => (await partsOf(query)).join("").split("\r\n");
  const sizes = (await partsOf({})).map((part) => part.split("\r\n").length - 1);
  expect(Math.max(...sizes)).toBe(LOG_EXPORT_PART_MAX_ROWS);
  const [head, newest, ...older] = await linesOf({});
  expect(head).toBe(
    "at,key_id,request_id,operation,method,path,status,code,detail,cost,limit,remaining,latency_ms,address,origin,user_agent",
  );
  const last = LOG_EXPORT_MAX_ROWS + 2;
  const at = new Date(t.clock.now()).toISOString();
  expect(newest).toBe(`${at},k1,r${last},klines,GET,/?n=${last},200,0,,,,,1.5,192.0.2.1,,'=cmd()`);
  expect(older).toHaveLength(LOG_EXPORT_MAX_ROWS);
  const refused = await linesOf({ status: "404", q: "n=1" });
  expect(refused[1]).toContain(',404,0,"No, ""never"".",,,,');
});

test("nobody who is not signed in reads a histogram", async () => {
  expect(await portalBrowser().send("GET /logs/histogram")).toMatchObject(failed("unauthorized"));
});
