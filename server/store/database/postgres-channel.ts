import type { Client, Pool } from "pg";
import { type DatabaseChannel, SEND_MAX_MS } from "#lib/control";

/** PostgreSQL channel on which every process of an installation listens. */
const CHANNEL = "spotwire_control";
const NOTIFY = "SELECT pg_notify($1, $2)";

interface PostgresChannelOptions {
  readonly pool: Pick<Pool, "query">;
  /** A new connection outside the pool, not yet connected. */
  readonly client: () => Client;
}

/** Control messages by NOTIFY. */
export function createPostgresChannel({ pool, client }: PostgresChannelOptions): DatabaseChannel {
  return {
    async send(text) {
      // Times out with its caller: on a silent network the attempts would fill the pool.
      const notify = { text: NOTIFY, values: [CHANNEL, text], query_timeout: SEND_MAX_MS };
      await pool.query(notify);
    },
    async sendWith(transaction, text) {
      await transaction.query(NOTIFY, [CHANNEL, text]);
    },
    async open(onText, onLost) {
      const line = client();
      const close = () => line.end().catch(() => undefined);
      line.on("error", onLost);
      line.on("end", () => onLost(new Error("the connection ended")));
      line.on("notification", ({ payload }) => onText(payload ?? ""));
      try {
        await line.connect();
        await line.query(`LISTEN ${CHANNEL}`);
      } catch (error) {
        await close();
        throw error;
      }
      return { ping: () => line.query("SELECT 1"), close };
    },
  };
}
