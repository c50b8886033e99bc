import pg from "pg";
import { systemClock } from "#lib/clock";
import { createLog } from "#lib/log";
import { SEED } from "#lib/testing/seed";
import { migrate } from "#prisma/migrate";
import { seed } from "#prisma/seed";
import { startEmbeddedPostgres } from "#server/database/embedded/embedded-postgres";
import { openDatabase } from "#server/store/database/db";

/** Migrated and seeded once; every test database is a copy of it. */
export const TEMPLATE_DATABASE = "template_spotwire";

/** The database server of one test run. */
export interface TestServer {
  /** URL of its administrative database. */
  readonly url: string;
  stop(): Promise<void>;
}

/** The URL of another database on the same server. */
export function onDatabase(url: string, database: string): string {
  const target = new URL(url);
  target.pathname = `/${database}`;
  return target.href;
}

/** Runs one statement outside any pool. */
export async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

async function prepareTemplate(url: string): Promise<void> {
  await execute(url, `CREATE DATABASE ${TEMPLATE_DATABASE}`);
  const template = onDatabase(url, TEMPLATE_DATABASE);
  await migrate(template);
  const database = await openDatabase({ url: template, poolSize: 1, waitS: 0, clock: systemClock, log: createLog("silent") });
  await seed(database);
  await database.close();
}

/**
 * Time zones of servers that people have: behind UTC with summer time, 5:45 before it, and one that changes on other days. No test and no
 * query may depend on which it is.
 */
const ZONES = ["America/New_York", "Asia/Kathmandu", "Pacific/Auckland"];

/** Starts a server in an empty directory; its data need not survive a crash. Its time zone goes by the seed of the tests. */
export async function startTestServer(dataDir: string): Promise<TestServer> {
  const server = await startEmbeddedPostgres({
    dataDir,
    log: createLog("silent"),
    settings: {
      timezone: ZONES[Number(process.env[SEED] ?? 1) % ZONES.length] ?? "UTC",
      fsync: "off",
      synchronous_commit: "off",
      full_page_writes: "off",
      shared_buffers: "64MB",
    },
  });
  try {
    await prepareTemplate(server.url);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}
