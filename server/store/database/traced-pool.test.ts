import { AsyncLocalStorage } from "node:async_hooks";
import { channel } from "node:diagnostics_channel";
import { pipeline } from "node:stream/promises";
import pg, { type Pool } from "pg";
import { to as copyTo } from "pg-copy-streams";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { WORK_STARTED } from "#lib/spans";
import { proxyTo } from "#lib/testing/breakable-proxy";
import { recordedWork } from "#lib/testing/recorded-work";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { createTracedPool } from "./traced-pool";

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db?.close());

function poolOf(max: number): Pool {
  const pool = createTracedPool({ connectionString: db.url, max });
  onTestFinished(() => pool.end());
  return pool;
}

test("each query is told by verb and table, without its values, however it is made", async () => {
  const pool = poolOf(2);
  const ended = recordedWork();
  await pool.query("SELECT id FROM account WHERE name = 'a secret'");
  await pool.query({
    text: "WITH old AS (SELECT 1) UPDATE account SET name = $1 WHERE name = $2",
    values: ["a secret", "nobody"],
  });
  await new Promise((resolve) => pool.query('INSERT INTO "public"."nowhere" VALUES ($1)', ["a secret"], resolve));
  const copy = new pg.Query("COPY (SELECT id FROM account WHERE name = 'a secret') TO STDOUT");
  const ask = pool.query as unknown as (query: pg.Query, ended: (error?: Error) => void) => void;
  await new Promise((resolve) => ask.call(pool, copy, resolve));
  const client = await pool.connect();
  await client.query("BEGIN");
  await pipeline(client.query(copyTo("COPY (SELECT 1) TO STDOUT")), async (rows) => {
    for await (const _ of rows);
  });
  await client.query("ROLLBACK");
  client.release();
  expect(ended.map(({ name, problem }) => [name, problem])).toEqual([
    ["SELECT account", undefined],
    ["UPDATE account", undefined],
    ["INSERT nowhere", "42P01"],
    ["SELECT account", undefined],
    ["BEGIN", undefined],
    ["ROLLBACK", undefined],
  ]);
  expect(JSON.stringify(ended)).not.toContain("secret");
  expect(ended.every(({ partOnly }) => partOnly)).toBe(true);
});

test("a query that waited for a connection belongs to the work that made it", async () => {
  const pool = poolOf(1);
  recordedWork();
  const by = new AsyncLocalStorage<string>();
  const seen: (string | undefined)[] = [];
  const note = () => void seen.push(by.getStore());
  channel(WORK_STARTED).subscribe(note);
  onTestFinished(() => void channel(WORK_STARTED).unsubscribe(note));
  await Promise.all(["first", "second", "third"].map((name) => by.run(name, () => pool.query("SELECT 1"))));
  expect(seen.sort()).toEqual(["first", "second", "third"]);
});

test("after connections have gone silent, one query fails for all: the others are not used again", async () => {
  const door = await proxyTo(db.url);
  await door.open();
  const pool = createTracedPool({ connectionString: door.url, max: 5 });
  onTestFinished(() => pool.end());
  const clients = await Promise.all([1, 2, 3, 4, 5].map(() => pool.connect()));
  for (const client of clients.slice(1)) client.release();
  door.silence();
  const held = clients[0];
  const failed = { text: "SELECT 1", query_timeout: 100 };
  await expect(pool.query(failed)).rejects.toThrow("Query read timeout");
  // These would wait for ever on a connection of before. One that was held meanwhile is not used again either.
  held?.release();
  const answers = await Promise.all([1, 2, 3, 4, 5].map((one) => pool.query<{ one: number }>("SELECT $1::int AS one", [one])));
  expect(answers.map(({ rows }) => rows[0]?.one)).toEqual([1, 2, 3, 4, 5]);
});
