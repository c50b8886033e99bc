import { randomBytes } from "node:crypto";
import { PrismaPg } from "@prisma/adapter-pg";
import type pg from "pg";
import type { Clock } from "#lib/clock";
import type { Control, ControlChannel } from "#lib/control";
import { partsOf } from "#lib/env-addresses";
import { PrismaClient } from "#lib/generated/prisma/client";
import type { Logger } from "#lib/log";
import { type Backoff, backoffMs } from "#lib/repeat";
import { isDatabaseAway, isHistoryAway } from "#lib/storage-errors";
import { isTlsProblem } from "#lib/tls-problem";
import { SECOND_MS } from "#lib/units";
import { inPostgres, type SegmentStore } from "#server/store/segments/segment-store";
import { createSegments, type Segments } from "#server/store/segments/segments";
import { CONNECT_MAX_MS, Connection, connectionConfig, onConnection, SessionError } from "./connection";
import { createControl } from "./create-control";
import { createPostgresChannel } from "./postgres-channel";
import { createTracedPool } from "./traced-pool";

/** An unused connection stays open this long. With pg's ten seconds, work that is done every ten seconds opens one each time. */
const IDLE_MAX_MS = 60_000;
/** Time an interactive transaction may take: several of its queries at their slowest. */
const TRANSACTION_MAX_MS = 20_000;
/** Wait after the first failed attempt; doubles each time up to the maximum, and is shortened by up to half at random. */
const RETRY: Backoff = { firstMs: 200, longestMs: 5_000 };
const SERVER_VERSION_MIN = 15;
const HISTORY_CACHE_MB = 64;
/** A notification of the same server arrives in milliseconds. */
const NOTICE_MAX_MS = 5_000;

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
  /** A new connection outside the pool and past any pooler, not yet connected; the caller ends it. Its session lasts as long. */
  client(): pg.Client;
  close(): Promise<void>;
}

interface Options {
  /** PostgreSQL URL; never logged. */
  url: string;
  /** The same past a pooler: for what needs a session of its own. By default `url`. */
  directUrl?: string | undefined;
  poolSize: number;
  /** Seconds to wait for the server. */
  waitS: number;
  /** Shares its deadline with the other queries of a start; by default it has its own. */
  startUp?: StartUp;
  /** The channel of control messages that no transaction sends; by default the database itself. */
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

/** The database is there, but another process keeps a start from going on for now. The message is the end of a sentence about it. */
export class BusyDatabaseError extends Error {
  override readonly name = "BusyDatabaseError";
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
  error instanceof BusyDatabaseError ||
  (isDatabaseAway(error) && !isHistoryAway(error)) ||
  (error as { code?: string } | undefined)?.code === NO_TRANSACTION_CODE;

/** Begins a start: the database at `url` has `waitS` seconds from now to answer its queries. */
export function createStartUp({ url, waitS, clock, log }: Pick<Options, "url" | "waitS" | "clock" | "log">): StartUp {
  const { host, port } = new Connection({ connectionString: url });
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
          if (left <= 0) {
            const verb = error instanceof BusyDatabaseError ? "use" : "reach";
            throw new DatabaseError(`Could not ${verb} PostgreSQL at ${host}:${port}${within}: ${reason}.`, { cause: error });
          }
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
  const { host, port, database } = new Connection(config);
  return `${host}:${port}/${database ?? ""}`;
}

/** The message of an error. A connection refused by several addresses keeps its messages one level down. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(", ");
  return error instanceof Error ? error.message : String(error);
}

interface Server {
  /** As in server_version_num, and as in texts. */
  readonly version: number;
  readonly versionText: string;
  /** Where tables are made and found; null when search_path names no schema that exists and may be used. */
  readonly schema: string | null;
  /** False behind a pooler, which makes up the id of the process. */
  readonly isDirect: boolean;
}

async function readServer(client: Connection): Promise<Server> {
  const { rows } = await client.query<{ version: number; text: string; schema: string | null; pid: number }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS text,
      current_schema() AS schema, pg_backend_pid() AS pid`,
  );
  const [{ version = 0, text = "", schema = null, pid = null } = {}] = rows;
  return { version, versionText: text, schema, isDirect: pid === client.processID };
}

/**
 * Whether notifications arrive: a pooler that gives each transaction another session takes a LISTEN and drops what it asks for.
 */
async function hears(config: pg.ClientConfig): Promise<boolean> {
  const channel = `spotwire_probe_${randomBytes(8).toString("hex")}`;
  return onConnection(new Connection(config), async (listener) => {
    const heard = new Promise<boolean>((resolve) => {
      listener.on("notification", () => resolve(true));
      setTimeout(resolve, NOTICE_MAX_MS, false).unref();
    });
    await listener.query(`LISTEN ${channel}`);
    await onConnection(new Connection(config), (other) => other.query(`NOTIFY ${channel}`));
    return heard;
  });
}

/** @throws DatabaseError when the server refuses the connection, or ignores what sessions need; any other error may pass */
async function askServer(config: pg.ClientConfig, setting: string): Promise<Server> {
  const target = targetOf(config);
  return onConnection(new Connection(config), readServer).catch((error: unknown) => {
    if (error instanceof SessionError) throw new DatabaseError(`The database at ${target} cannot be used: ${error.message}.`);
    if (isTlsProblem(error))
      throw new DatabaseError(
        `No trusted connection to the database at ${target}: ${reasonOf(error)}. Check sslmode and sslrootcert in ${setting}, and the certificate of the server.`,
      );
    if (!LASTING_CODES.includes((error as { code?: string }).code ?? "")) throw error;
    throw new DatabaseError(`The database at ${target} refuses the connection: ${reasonOf(error)}.`);
  });
}

/**
 * Checks what a start needs, before anything is made.
 * @returns the schema that everything is in
 * @throws DatabaseError when the server refuses the connection, is too old, has no schema for this role, or is reached through a pooler
 * that gives no session; any other error may pass
 */
async function checkServer(url: string, directUrl: string): Promise<string> {
  const config = connectionConfig(url);
  const target = targetOf(config);
  const { version, versionText, schema, isDirect } = await askServer(config, "DATABASE_URL");
  if (version < SERVER_VERSION_MIN * 10_000)
    throw new DatabaseError(`The database at ${target} is PostgreSQL ${versionText}; ${SERVER_VERSION_MIN} or later is needed.`);
  if (schema === null)
    throw new DatabaseError(
      `The database at ${target} has no schema for this role: search_path names none that exists and that it may use. Make one: CREATE SCHEMA … AUTHORIZATION …`,
    );
  const wanted = schemaOf(url);
  if (wanted !== null && wanted !== schema)
    throw new DatabaseError(
      `DATABASE_URL names the schema ${wanted}, but this role works in ${schema}. Set it for the role instead: ALTER ROLE … SET search_path = ${wanted}`,
    );
  if (directUrl === url && isDirect) return schema;
  const direct = connectionConfig(directUrl);
  const { schema: directSchema, isDirect: hasSession } = await askServer(direct, "DATABASE_DIRECT_URL");
  if (!hasSession && !(await hears(direct)))
    throw new DatabaseError(
      `The pooler at ${targetOf(direct)} gives each transaction another session (transaction pooling), where notifications and locks are lost. ` +
        "Set DATABASE_DIRECT_URL to the address of the database itself; DATABASE_URL may stay.",
    );
  if (directSchema !== schema)
    throw new DatabaseError(
      `DATABASE_DIRECT_URL leads to the schema ${directSchema}, DATABASE_URL to ${schema}: they must be the same.`,
    );
  return schema;
}

/** The schema that a URL names in the way of Prisma's own engines. */
const schemaOf = (url: string) => partsOf(url)?.searchParams.get("schema") ?? null;

/**
 * Connects to PostgreSQL, waiting for it up to `waitS` seconds.
 * @throws DatabaseError naming host and port, never the password: not reached in time, refused, older than 15, without a schema or sessions
 */
export async function openDatabase(options: Options): Promise<Database> {
  const { url, directUrl = url, startUp = createStartUp(options) } = options;
  const schema = await startUp.run(
    () => checkServer(url, directUrl),
    (error) => !(error instanceof DatabaseError),
  );
  const config = connectionConfig(url);
  const pool = createTracedPool({ ...config, max: options.poolSize, idleTimeoutMillis: IDLE_MAX_MS });
  // An idle connection that breaks must not end the process; the next query opens another.
  pool.on("error", (error) => options.log.warn({ reason: error.message }, "database connection lost"));
  // Nor must one that breaks while a transaction holds it between two queries; its next query fails.
  pool.on("connect", (connection) => void connection.on("error", () => undefined));
  const transactionOptions = { maxWait: CONNECT_MAX_MS, timeout: TRANSACTION_MAX_MS };
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool, { schema }), transactionOptions });
  const client = () => new Connection(connectionConfig(directUrl));
  const database = createPostgresChannel({ pool, client });
  const { channel = database, clock, log } = options;
  const control = createControl({ database, channel, clock, log });
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
export function databaseTime({ client }: Pick<Database, "client">): Promise<number> {
  return onConnection(client(), async (asking) => {
    const { rows } = await asking.query<{ ms: number }>("SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms");
    return rows[0]?.ms ?? Number.NaN;
  });
}
