import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { systemClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { askLazyEndpoint } from "#lib/testing/lazy-endpoint";
import { type Database, openDatabase } from "#server/store/database/db";
import { execute, onDatabase, TEMPLATE_DATABASE } from "./database-server";

/** A separate database for tests: migrated, seeded, otherwise empty. */
export interface TestDatabase extends Database {
  readonly url: string;
  /** Closes the connections and drops the database. */
  close(): Promise<void>;
}

/** URL of the test run's server, for tests that create their own databases. */
export function testServerUrl(): Promise<string> {
  return askLazyEndpoint(inject("databaseEndpoint"));
}

/** Creates a database; call it in `beforeAll` and `close` it in `afterAll`. */
export async function testDatabase(): Promise<TestDatabase> {
  const server = await testServerUrl();
  const name = `test_${randomBytes(6).toString("hex")}`;
  // Copying files takes less than half the time of writing them to the log, which a crash would need.
  await execute(server, `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE_DATABASE} STRATEGY FILE_COPY`);
  const url = onDatabase(server, name);
  const database = await openDatabase({ url, poolSize: 5, waitS: 0, clock: systemClock, log: createLog("silent") });
  return {
    ...database,
    url,
    async close() {
      await database.close();
      await execute(server, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}
