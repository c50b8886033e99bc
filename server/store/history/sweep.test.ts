import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock as clock } from "#lib/clock";
import { columnsOf } from "#lib/domain/columns";
import { FEED_LAYER } from "#lib/domain/fold";
import type { Kline } from "#lib/domain/kline";
import { SegmentMissing } from "#lib/storage-errors";
import { HOUR_MS } from "#lib/units";
import { createDirectoryStore } from "#server/store/segments/directory-store";
import { inPostgres, type Queries, type SegmentStore } from "#server/store/segments/segment-store";
import { createSegments, saidBy } from "#server/store/segments/segments";
import { type TestDatabase, testDatabase } from "#server/testing/database";
import { say } from "./layers";
import { sweepSegments } from "./sweep";

let db: TestDatabase;
const folder = await mkdtemp(path.join(tmpdir(), "spotwire-sweep-"));
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(async () => {
  await db.close();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  for (const table of ["history_layer", "history_visible", "history_derived", "history_content"])
    await db.pool.query(`DELETE FROM ${table}`);
  for (const name of await readdir(folder)) await rm(path.join(folder, name), { recursive: true });
});

const SERIES = { ticker: "EURUSD", timeframe: "M1", digits: 5 } as const;
const statements = (close: number) => {
  const kline: Kline = {
    type: "kline",
    ticker: "EURUSD",
    timeframe: "M1",
    time: 60,
    open: 1,
    high: 9,
    low: 0.5,
    close,
    tick_volume: 1,
    real_volume: null,
    spread: null,
  };
  return saidBy(columnsOf([kline]), FEED_LAYER, Number.NaN);
};
const LATER = Date.now() + 2 * HOUR_MS;

describe.each<[string, SegmentStore]>([
  ["PostgreSQL", inPostgres],
  ["a directory", createDirectoryStore({ folder, clock })],
])("a sweep of %s", (_, store) => {
  const segments = createSegments(store, 8);
  const sweep = (nowMs = LATER) => sweepSegments({ pool: db.pool, segments }, nowMs);
  const write = (client: Queries, close: number) => segments.write(client, statements(close), SERIES, 5);
  const isThere = (id: string) =>
    store.get(db.pool, [id]).then(
      () => true,
      (error) => !(error instanceof SegmentMissing),
    );

  test("a sweep keeps what a row names, by each table, and what is young, and deletes the rest", async () => {
    const [layer, visible, derived, unnamed] = await Promise.all([1, 2, 3, 4].map((close) => write(db.pool, close)));
    await db.pool.query("INSERT INTO history_layer VALUES ('A', 'M1', 0, 1, $1, 1, 60, 60)", [layer]);
    await db.pool.query(
      "INSERT INTO history_visible (ticker, timeframe, start, content, rows, sources, struck, struck_by) VALUES ('A', 'M1', 0, $1, 1, '{}', '{}', '{}'), ('B', 'M1', 0, NULL, 0, '{}', '{}', '{}')",
      [visible],
    );
    await db.pool.query("INSERT INTO history_derived VALUES ('A', 'H1', 0, 'stamp', $1)", [derived]);
    expect(await sweep(Date.now() + HOUR_MS / 2)).toEqual({ dropped: 0, after: "" });
    expect(await sweep()).toEqual({ dropped: 1, after: "" });
    expect(await Promise.all([layer, visible, derived, unnamed].map((id) => isThere(id as string)))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    await db.pool.query("DELETE FROM history_visible");
    expect(await sweep()).toEqual({ dropped: 1, after: "" });
  });

  test("what replaced layers left is swept, and what shows stays", async () => {
    for (const close of [1, 2, 3]) await say(db.pool, segments, SERIES, statements(close));
    expect(await sweep()).toEqual({ dropped: 2, after: "" });
    const { rows } = await db.pool.query<{ content: string }>("SELECT content FROM history_visible");
    expect((await createSegments(store, 8).read(db.pool, [rows[0]?.content ?? ""])).size).toBe(1);
  });

  test.each([
    ["committed", true],
    ["rolled back", false],
  ])("what a transaction is writing is not swept; once it is %s, it is there: %s", async (_how, commits) => {
    // An old segment that nothing names, which the transaction is going to name.
    const old = await write(db.pool, 5);
    const client = await db.pool.connect();
    try {
      await client.query("BEGIN");
      expect(await write(client, 5)).toBe(old);
      expect(await sweep()).toEqual({ dropped: 0, after: "" });
      await client.query("INSERT INTO history_layer VALUES ('A', 'M1', 0, 1, $1, 1, 60, 60)", [old]);
      await client.query(commits ? "COMMIT" : "ROLLBACK");
    } finally {
      client.release(true);
    }
    expect(await sweep()).toEqual({ dropped: commits ? 0 : 1, after: "" });
    expect(await isThere(old)).toBe(commits);
  });

  test("a writer of bytes that are being swept waits until they are gone, and then stores them anew", async () => {
    const old = await write(db.pool, 6);
    const steps: string[] = [];
    let writing: Promise<string> | undefined;
    const noted: SegmentStore = {
      ...store,
      async put(...given) {
        steps.push("put");
        await store.put(...given);
      },
      async drop(client, ids, beforeMs) {
        const transaction = await db.pool.connect();
        writing = (async () => {
          await transaction.query("BEGIN");
          const id = await createSegments(noted, 8).write(transaction, statements(6), SERIES, 5);
          await transaction.query("COMMIT");
          transaction.release();
          return id;
        })();
        // The writer is waiting for the lock by then.
        await expect
          .poll(async () => {
            const { rows } = await db.pool.query("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted");
            return rows.length;
          })
          .toBe(1);
        await store.drop(client, ids, beforeMs);
        steps.push("dropped");
      },
    };
    await sweepSegments({ pool: db.pool, segments: createSegments(noted, 8) }, LATER);
    expect(await writing).toBe(old);
    expect(steps).toEqual(["dropped", "put"]);
    expect(await isThere(old)).toBe(true);
    await sweep();
  });
});

test("a sweep is bounded, and the next one goes on where it ended", async () => {
  await db.pool.query(
    `INSERT INTO history_content (id, bytes)
      SELECT encode(sha256(n::text::bytea), 'hex'), '' FROM generate_series(1, 10500) AS n`,
  );
  await db.pool.query(
    "INSERT INTO history_derived SELECT id, 'H1', 0, '', id FROM history_content WHERE id NOT IN (SELECT id FROM history_content ORDER BY id DESC LIMIT 520)",
  );
  const swept = { pool: db.pool, segments: createSegments(inPostgres, 8) };
  const first = await sweepSegments(swept, LATER);
  expect(first.dropped).toBe(20);
  expect(first.after).toMatch(/^[0-9a-f]{64}$/);
  expect(await sweepSegments(swept, LATER, first.after)).toEqual({ dropped: 500, after: "" });
  expect((await db.pool.query("SELECT FROM history_content")).rowCount).toBe(9_980);
});
