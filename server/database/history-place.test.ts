import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { systemClock as clock } from "#lib/clock";
import { emptyColumns } from "#lib/domain/columns";
import { createLog } from "#lib/log";
import { readEnv } from "#server/env";
import { saidBy } from "#server/store/segments/segments";
import { testDatabase } from "#server/testing/database";
import { acquireDatabase } from "./database";

test("a service with HISTORY_URL keeps files of klines there, and none in the database", async () => {
  const [{ url, pool, close }, folder] = [await testDatabase(), await mkdtemp(path.join(tmpdir(), "spotwire-history-"))];
  const env = readEnv({ DATABASE_URL: url, HISTORY_URL: `file://${folder}` });
  const { db, release } = await acquireDatabase(env, createLog("silent"), clock);
  const said = saidBy({ ...emptyColumns(1), time: Float64Array.of(60) }, 1, 1_000);
  const id = await db.segments.write(db.pool, said, { ticker: "EURUSD", timeframe: "M1" }, 5);
  expect(await readdir(path.join(folder, id.slice(0, 2)))).toEqual([`${id}.parquet`]);
  expect((await pool.query("SELECT FROM history_content")).rowCount).toBe(0);
  await release();
  await close();
  await rm(folder, { recursive: true });
});
