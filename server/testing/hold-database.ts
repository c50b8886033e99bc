import { createLog } from "#lib/log";
import { startEmbeddedPostgres } from "#server/database/embedded/embedded-postgres";

/**
 * Run as a process of its own, for tests that kill one: holds the embedded database of the directory it is given.
 * Prints its address, and stops cleanly on SIGTERM.
 */
const [dataDir = ""] = process.argv.slice(2);
const server = await startEmbeddedPostgres({ dataDir, log: createLog("silent") });
process.stdout.write(`${server.url}\n`);
const alive = setInterval(() => undefined, 60_000);
process.on("SIGTERM", () => {
  clearInterval(alive);
  void server.stop();
});
