import { readFile } from "node:fs/promises";
import path from "node:path";
import { createLog } from "#lib/log";
import { startEmbeddedPostgres } from "#server/database/embedded/embedded-postgres";

/** Survives a crash of the process (the machine stays up), and fits on a small disk. */
const SETTINGS = {
  fsync: "off",
  full_page_writes: "off",
  shared_buffers: "64MB",
  max_wal_size: "96MB",
  min_wal_size: "32MB",
  max_connections: "200",
};

/** A PostgreSQL that tests may break. */
export interface BreakablePostgres {
  /** Current URL: each start uses another port. */
  url(): string;
  /** Resolves when the running server has ended, whether it was stopped or crashed. */
  ended(): Promise<unknown>;
  /** Ends it at once, without a checkpoint, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again on the same data, which it recovers. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server in a directory that may hold the data of an earlier one. */
export async function startBreakablePostgres(dataDir: string): Promise<BreakablePostgres> {
  const open = () => startEmbeddedPostgres({ dataDir, log: createLog("silent"), settings: SETTINGS, restartsMaxCount: 0 });
  let server = await open();
  return {
    url: () => server.url,
    ended: () => server.ended,
    async kill() {
      const [pid] = (await readFile(path.join(dataDir, "postgres", "postmaster.pid"), "utf8")).split("\n");
      process.kill(Number(pid), "SIGQUIT");
      await server.ended;
    },
    async start() {
      // Releases the directory that the dead server held.
      await server.stop();
      server = await open();
    },
    stop: () => server.stop(),
  };
}
