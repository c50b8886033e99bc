import { Socket } from "node:net";
import pg from "pg";
import { isDatabaseAway } from "#lib/db";
import { BackupError } from "./format";

/**
 * A connection for the length of `work`, without the time limits of the service's own: a table takes as long as it
 * takes. It is cut when `work` fails, as one that stands in the middle of a COPY would not say goodbye, and when `signal`
 * asks to stop; whatever `work` waits for there fails then.
 * @throws BackupError when the connection breaks; else what `work` throws
 */
export async function withConnection<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const socket = new Socket();
  const client = new pg.Client({
    connectionString: url,
    application_name: "spotwire backup",
    keepAlive: true,
    stream: () => socket,
    options: "-c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c lock_timeout=10s -c search_path=public",
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
    // The work is done: a farewell that fails takes nothing back.
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
