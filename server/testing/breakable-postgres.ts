import { readFile } from "node:fs/promises";
import path from "node:path";
import { createLog } from "#lib/log";
import { startEmbeddedPostgres } from "#server/database/embedded/embedded-postgres";

/** Survives its own death (the machine stays up), and fits on a small disk. */
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
  /** Address of now: each start has another port. */
  url(): string;
  /** Resolves when the server that runs now has ended, asked or not. */
  ended(): Promise<void>;
  /** Ends it at once, without a checkpoint, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again on the same data, which recovers them. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server in a directory that may hold the data of an earlier one. */
export async function startBreakablePostgres(dataDir: string): Promise<BreakablePostgres> {
  const open = () => startEmbeddedPostgres({ dataDir, log: createLog("silent"), settings: SETTINGS });
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
      // Frees the directory that the dead one held.
      await server.stop();
      server = await open();
    },
    stop: () => server.stop(),
  };
}
