import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { lockTicker } from "./lock";
import { inTransaction } from "./transaction";

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db?.close());

test("the locks of a transaction that failed are free once it has thrown", async () => {
  const next = await db.pool.connect();
  onTestFinished(() => next.release());
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const failing = inTransaction(db.pool, async (client) => {
      await lockTicker(client, "EURUSD", "transaction");
      throw new Error("refused");
    });
    await expect(failing).rejects.toThrow("refused");
    await next.query("BEGIN");
    expect(await lockTicker(next, "EURUSD", "transaction")).toBe(true);
    await next.query("ROLLBACK");
  }
});

test("a transaction whose connection is lost throws what it was lost for, and the next one has another", async () => {
  const ending = inTransaction(db.pool, (client) => client.query("SELECT pg_terminate_backend(pg_backend_pid())"));
  await expect(ending).rejects.toThrow(/terminat/);
  expect((await inTransaction(db.pool, (client) => client.query("SELECT 1 AS one"))).rows).toEqual([{ one: 1 }]);
});
