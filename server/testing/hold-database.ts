import { createLog } from "#lib/log";
import { startEmbeddedPostgres } from "#server/database/embedded/embedded-postgres";

/**
 * Runs as a separate process, for tests that kill one: holds the embedded database of the given directory.
 * Prints its URL, and stops cleanly on SIGTERM.
 */
const [dataDir = ""] = process.argv.slice(2);
const server = await startEmbeddedPostgres({ dataDir, log: createLog("silent") });
process.stdout.write(`${server.url}\n`);
const alive = setInterval(() => undefined, 60_000);
process.on("SIGTERM", () => {
  clearInterval(alive);
  void server.stop();
});
