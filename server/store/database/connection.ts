import type { EventEmitter } from "node:events";
import pg from "pg";

/** Time one attempt to connect may take. */
export const CONNECT_MAX_MS = 5_000;
/** A query that takes longer is cancelled, so that a silent network cannot hang its caller. */
const QUERY_MAX_MS = 10_000;
/** The same for a read that a request waits for and can do without. */
const PROMPT_QUERY_MAX_MS = 5_000;
/** The same for bulk work that no request waits for. */
const LONG_QUERY_MAX_MS = 600_000;

/**
 * What each session has, whatever the server, the database or the role sets. Prisma's driver sends times without an offset, and drops
 * the offset of those that it reads: with another time zone an expired key would work for hours. They are parameters of the start of a
 * session, which take precedence over all other places, and which pgbouncer knows, unlike `options`.
 */
const SESSION = { TimeZone: "UTC", DateStyle: "ISO, MDY" };

/** Members of the driver that its types lack. */
interface Driver {
  readonly connection: EventEmitter;
  /** The session's id for cancellations: that of the server's process, or what a pooler made up. */
  readonly processID: number | null;
  getStartupConf(): Record<string, string>;
}
const Driver = pg.Client as unknown as new (config?: string | pg.ClientConfig) => pg.Client & Driver;

type Connected = (error: Error | null) => void;

/** A connection to the database, not yet connected. All of them are made by this class, so that their sessions are the same. */
export class Connection extends Driver {
  readonly #reported = new Map<string, string>();

  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.connection.on("parameterStatus", (message: { parameterName: string; parameterValue: string }) => {
      this.#reported.set(message.parameterName, message.parameterValue);
    });
  }

  override getStartupConf(): Record<string, string> {
    return { ...super.getStartupConf(), ...SESSION };
  }

  /** @throws SessionError when the server, or a pooler before it, gives the session other settings than it was asked for */
  override connect(): Promise<this>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<this> | undefined {
    if (callback === undefined)
      return new Promise((resolve, reject) => this.connect((error) => (error ? reject(error) : resolve(this))));
    super.connect((error?: Error | null) => {
      const wrong = Object.entries(SESSION).find(([name, value]) => this.#reported.get(name) !== value);
      if (error || wrong === undefined) return callback(error ?? null);
      void this.end().catch(() => undefined);
      callback(new SessionError(wrong[0], this.#reported.get(wrong[0])));
    });
    return undefined;
  }
}

/** Connects a new connection, runs `work` on it and ends it: the session, and what it has not committed, ends with the work. */
export async function onConnection<Client extends pg.Client, Result>(
  client: Client,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  // A connection that breaks while idle would end the process; one that breaks during a query fails that query as well.
  client.on("error", () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A pooler before the database ignores what a session needs. Times in it would be wrong by hours. */
export class SessionError extends Error {
  override readonly name = "SessionError";
  constructor(setting: string, value: string | undefined) {
    const wanted = SESSION[setting as keyof typeof SESSION];
    super(
      `the pooler before it ignores the settings of a session: ${setting} is ${value ?? "unknown"} instead of ${wanted}. ` +
        `Set it for the role: ALTER ROLE … SET ${setting} = '${wanted}'`,
    );
  }
}

/** A query whose caller has a fallback, so it is cancelled after five seconds. */
export function promptQuery<Query extends object>(query: Query): Query {
  return Object.assign(query, { query_timeout: PROMPT_QUERY_MAX_MS });
}

/** A bulk query, which may take ten minutes where others are cancelled after ten seconds. */
export function longQuery<Query extends object>(query: Query): Query {
  return Object.assign(query, { query_timeout: LONG_QUERY_MAX_MS });
}

/** A connection to this URL with time limits for connecting and for queries, so that a silent network cannot hang them. */
export function connectionConfig(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: "spotwire",
    connectionTimeoutMillis: CONNECT_MAX_MS,
    query_timeout: QUERY_MAX_MS,
    keepAlive: true,
  };
}
