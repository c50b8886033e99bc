import { Socket } from "node:net";
import type pg from "pg";
import { isDatabaseAway } from "#lib/storage-errors";
import { Connection } from "#server/store/database/connection";
import { BackupError } from "./format";

/**
 * Opens a connection for the duration of `work`, without the time limits of the service's connections, because a large table
 * takes long. Destroys it when `work` fails, because a connection in the middle of a COPY does not close cleanly, and when
 * `signal` aborts, which makes pending queries of `work` fail.
 * @throws BackupError when the connection breaks; else the error of `work`
 */
export async function withConnection<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const socket = new Socket();
  const client = new Connection({
    connectionString: url,
    application_name: "spotwire backup",
    keepAlive: true,
    stream: () => socket,
    options: "-c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c lock_timeout=10s",
  });
  let broken: Error | undefined;
  client.on("error", (error) => {
    broken ??= error;
  });
  const cut = () => void socket.destroy();
  signal?.addEventListener("abort", cut);
  try {
    signal?.throwIfAborted();
    await client.connect();
    const result = await work(client);
    // The work is done, so a failure to close does not matter.
    await client.end().catch(() => undefined);
    return result;
  } catch (error) {
    if (broken === undefined && !isDatabaseAway(error)) throw error;
    const { message } = broken ?? (error as Error);
    throw new BackupError(`The connection to the database broke: ${message}.`, { cause: error });
  } finally {
    signal?.removeEventListener("abort", cut);
    socket.destroy();
  }
}
