import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import type { Clock } from "#lib/clock";
import type { Control, ControlChannel } from "#lib/control";
import { PrismaClient } from "#lib/generated/prisma/client";
import type { Logger } from "#lib/log";
import { type Backoff, backoffMs } from "#lib/repeat";
import { isDatabaseAway } from "#lib/storage-errors";
import { isTlsProblem } from "#lib/tls-problem";
import { SECOND_MS } from "#lib/units";
import { inPostgres, type SegmentStore } from "#server/store/segments/segment-store";
import { createSegments, type Segments } from "#server/store/segments/segments";
import { createControl } from "./create-control";
import { createPostgresChannel } from "./postgres-channel";
import { createTracedPool } from "./traced-pool";

/** Time one attempt to connect may take. */
const CONNECT_MAX_MS = 5_000;
/** An unused connection stays open this long. With pg's ten seconds, work that is done every ten seconds opens one each time. */
const IDLE_MAX_MS = 60_000;
/** A query that takes longer is cancelled, so that a silent network cannot hang its caller. */
const QUERY_MAX_MS = 10_000;
/** The same for a read that a request waits for and can do without. */
const PROMPT_QUERY_MAX_MS = 5_000;
/** The same for bulk work that no request waits for. */
const LONG_QUERY_MAX_MS = 600_000;
/** Time an interactive transaction may take: several of its queries at their slowest. */
const TRANSACTION_MAX_MS = 20_000;
/** Wait after the first failed attempt; doubles each time up to the maximum, and is shortened by up to half at random. */
const RETRY: Backoff = { firstMs: 200, longestMs: 5_000 };
const SERVER_VERSION_MIN = 15;
const HISTORY_CACHE_MB = 64;

/** Errors of the server that waiting does not fix: wrong password, user or database, a refused host, no TLS. */
const LASTING_CODES = ["28P01", "28000", "3D000", "42501"];

/** The connections of this process. */
export interface Database {
  readonly pool: pg.Pool;
  /** Uses the same pool. */
  readonly prisma: PrismaClient;
  /** Sends changes to the other processes on this database, and receives theirs. */
  readonly control: Control;
  /** Where stored klines lie, and those of them that are in memory. */
  readonly segments: Segments;
  /** A new connection outside the pool, not yet connected; the caller ends it. */
  client(): pg.Client;
  close(): Promise<void>;
}

interface Options {
  /** PostgreSQL URL; never logged. */
  url: string;
  poolSize: number;
  /** Seconds to wait for the server. */
  waitS: number;
  /** Shares its deadline with the other queries of a start; by default it has its own. */
  startUp?: StartUp;
  /** The channel of control messages; by default the database itself. */
  channel?: ControlChannel;
  /** Where segments of stored klines lie; by default in the database itself. */
  segmentStore?: SegmentStore;
  /** Memory for decoded segments. */
  historyCacheMb?: number;
  clock: Clock;
  log: Logger;
}

/** A start failed because of the database. The message is for the operator and contains no password. */
class DatabaseError extends Error {
  override readonly name = "DatabaseError";
}

/** Runs the queries of a start, which together wait for the database until one deadline. */
export interface StartUp {
  /**
   * Runs `work`, and runs it again while the database cannot be reached, so `work` must be repeatable.
   * @param retries which errors of `work` another try may fix
   * @throws DatabaseError naming host and port when the deadline has passed; any other error of `work`
   */
  run<Result>(work: () => Promise<Result>, retries?: (error: unknown) => boolean): Promise<Result>;
  /** Ends the start: from now on `run` tries once and passes every error on. */
  end(): void;
}

/** Errors that a busy machine causes in addition: no connection for a transaction in time. */
const NO_TRANSACTION_CODE = "P2028";
const isPassing = (error: unknown) =>
  isDatabaseAway(error) || (error as { code?: string } | undefined)?.code === NO_TRANSACTION_CODE;

/** Begins a start: the database at `url` has `waitS` seconds from now to answer its queries. */
export function createStartUp({ url, waitS, clock, log }: Pick<Options, "url" | "waitS" | "clock" | "log">): StartUp {
  const { host, port } = new pg.Client({ connectionString: url });
  const deadline = clock.now() + waitS * SECOND_MS;
  const within = waitS === 0 ? "" : ` within ${waitS} s`;
  let ended = false;
  return {
    async run(work, retries = isPassing) {
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await work();
        } catch (error) {
          if (ended || !retries(error)) throw error;
          const reason = reasonOf(error);
          const left = deadline - clock.now();
          if (left <= 0)
            throw new DatabaseError(`Could not reach PostgreSQL at ${host}:${port}${within}: ${reason}.`, { cause: error });
          log.warn({ database: `${host}:${port}`, reason }, "database not ready; retrying");
          await clock.wait(Math.min(left, backoffMs(RETRY, attempt)));
        }
      }
    },
    end() {
      ended = true;
    },
  };
}

/** The target of the URL without secrets, for a log: host:port/database. */
function targetOf(config: pg.ClientConfig): string {
  const { host, port, database } = new pg.Client(config);
  return `${host}:${port}/${database ?? ""}`;
}

/** The message of an error. A connection refused by several addresses keeps its messages one level down. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(", ");
  return error instanceof Error ? error.message : String(error);
}

async function serverVersion(config: pg.ClientConfig): Promise<{ number: number; text: string }> {
  const client = new pg.Client(config);
  // A connection cut while we wait for the answer is reported by the query as well.
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ number: string; text: string }>(
      "SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS text",
    );
    return { number: Number(rows[0]?.number), text: rows[0]?.text ?? "" };
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** @throws DatabaseError when the server refuses the connection or is too old; any other error may pass */
async function checkServer(config: pg.ClientConfig): Promise<void> {
  const target = targetOf(config);
  const { number, text } = await serverVersion(config).catch((error: unknown) => {
    if (isTlsProblem(error))
      throw new DatabaseError(
        `No trusted connection to the database at ${target}: ${reasonOf(error)}. Check sslmode and sslrootcert in DATABASE_URL, and the certificate of the server.`,
      );
    if (!LASTING_CODES.includes((error as { code?: string }).code ?? "")) throw error;
    throw new DatabaseError(`The database at ${target} refuses the connection: ${reasonOf(error)}.`);
  });
  if (number < SERVER_VERSION_MIN * 10_000)
    throw new DatabaseError(`The database at ${target} is PostgreSQL ${text}; ${SERVER_VERSION_MIN} or later is needed.`);
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

/**
 * Connects to PostgreSQL, waiting for it up to `waitS` seconds.
 * @throws DatabaseError naming host and port, never the password: not reached in time, refused, or older than 15
 */
export async function openDatabase(options: Options): Promise<Database> {
  const config = connectionConfig(options.url);
  const { startUp = createStartUp(options) } = options;
  await startUp.run(
    () => checkServer(config),
    (error) => !(error instanceof DatabaseError),
  );
  const pool = createTracedPool({ ...config, max: options.poolSize, idleTimeoutMillis: IDLE_MAX_MS });
  // An idle connection that breaks must not end the process; the next query opens another.
  pool.on("error", (error) => options.log.warn({ reason: error.message }, "database connection lost"));
  // Nor must one that breaks while a transaction holds it between two queries; its next query fails.
  pool.on("connect", (connection) => void connection.on("error", () => undefined));
  const transactionOptions = { maxWait: CONNECT_MAX_MS, timeout: TRANSACTION_MAX_MS };
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), transactionOptions });
  const client = () => new pg.Client(config);
  const { channel = createPostgresChannel({ pool, client }), clock, log } = options;
  const control = createControl({ channel, clock, log });
  const { segmentStore = inPostgres, historyCacheMb = HISTORY_CACHE_MB } = options;
  return {
    pool,
    prisma,
    control,
    segments: createSegments(segmentStore, historyCacheMb),
    client,
    async close() {
      control.close();
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

/**
 * Unix milliseconds of the server's clock. It uses a separate connection: those of the pool may have died unnoticed
 * while this machine slept.
 * @throws pg's error when the database is unreachable
 */
export async function databaseTime({ client }: Pick<Database, "client">): Promise<number> {
  const asking = client();
  // A connection cut while we wait for the answer is reported by the query as well.
  asking.on("error", () => undefined);
  try {
    await asking.connect();
    const { rows } = await asking.query<{ ms: number }>("SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms");
    return rows[0]?.ms ?? Number.NaN;
  } finally {
    await asking.end().catch(() => undefined);
  }
}
