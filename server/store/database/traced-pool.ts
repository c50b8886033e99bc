import { AsyncResource } from "node:async_hooks";
import pg from "pg";
import { beginWork, recordsWork, type Work } from "#lib/spans";
import { Connection } from "./connection";

/** Find the verb of a statement, the verb after WITH, and the first table. `COPY (query)` is recorded as its query. */
const VERB =
  /\b(SELECT|INSERT|UPDATE|DELETE|MERGE|COPY(?! *\()|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|CREATE|ALTER|DROP|LOCK|NOTIFY|LISTEN)\b/i;
const VERB_AFTER_WITH = /^\s*WITH\b.*?\b(INSERT|UPDATE|DELETE|MERGE)\b/is;
const TABLE = /\b(?:FROM|INTO|UPDATE|TABLE)\s+(?:"?public"?\.)?"?(\w+)"?/i;
/** How much of a statement is looked at. */
const LOOKED_AT_MAX_CHARACTERS = 2_000;

/** Describes a query by its verb and table alone: statements can have values in them. */
function describe(text: string): Work {
  const start = text.slice(0, LOOKED_AT_MAX_CHARACTERS);
  const verb = (VERB_AFTER_WITH.exec(start) ?? VERB.exec(start))?.[1]?.toUpperCase() ?? "QUERY";
  const table = TABLE.exec(start)?.[1];
  return {
    name: table === undefined ? verb : `${verb} ${table}`,
    kind: "client",
    partOnly: true,
    attributes: {
      "db.system.name": "postgresql",
      "db.operation.name": verb,
      ...(table !== undefined && { "db.collection.name": table }),
    },
  };
}

type Callback = (error: unknown, result: unknown) => void;

/** What pg says of a query that got no answer in time. */
const NO_ANSWER = "Query read timeout";

/**
 * A connection whose queries are recorded as parts of the work that makes them, and that reports queries without an answer; streams of
 * rows (pg-copy-streams) do neither. The signatures of `never` stand for all overloads of the driver's.
 */
class TracedClient extends Connection {
  /** Called when a query got no answer in time. */
  onSilence = (): void => undefined;

  override query(...given: never[]): never {
    const query = super.query as unknown as (...given: readonly unknown[]) => unknown;
    const at = given.findLastIndex((each: unknown) => typeof each === "function");
    const text = textOf(given[0], at !== -1);
    if (text === undefined) return query.apply(this, given) as never;
    const endWork = recordsWork() ? beginWork(describe(text)) : undefined;
    const end = (error?: unknown) => {
      if (error instanceof Error && error.message === NO_ANSWER) this.onSilence();
      endWork?.(error);
    };
    if (at === -1) {
      const result = query.apply(this, given) as Promise<unknown>;
      result.then(() => end(), end);
      return result as never;
    }
    const callback: Callback = given[at] as never;
    // The pool hears of it before it takes the connection back.
    const ending: Callback = (error, result) => {
      end(error);
      callback(error, result);
    };
    return query.apply(this, (given as unknown[]).with(at, ending)) as never;
  }
}

/** The statement of a query; undefined for a stream, and for one of the driver's own queries without a callback. */
function textOf(query: unknown, hasCallback: boolean): string | undefined {
  if (typeof query === "string") return query;
  const { text, submit } = query as { text?: unknown; submit?: unknown };
  const told = submit === undefined || (query instanceof pg.Query && hasCallback);
  return told && typeof text === "string" ? text : undefined;
}

type Release = (error?: unknown) => void;
type Connected = (error: unknown, client: TracedClient | undefined, release: Release) => void;

/**
 * A pool whose connections are suspected together: when a query gets no answer in time, those that were opened before are closed instead
 * of used again. After a network has gone silent, each of them would make its next query wait as long.
 */
class TracedPool extends pg.Pool {
  /** Connections opened before this are not used again; ms of the process. */
  #silentMs = 0;
  readonly #openedMs = new WeakMap<object, number>();

  constructor(config: pg.PoolConfig) {
    super({ ...config, Client: TracedClient });
    this.on("connect", (client) => {
      this.#openedMs.set(client, performance.now());
      (client as unknown as TracedClient).onSilence = () => {
        this.#silentMs = performance.now();
      };
    });
  }

  /** One who waited for a connection goes on as a part of the work that asked, not of the work that released it. */
  override connect(...given: never[]): never {
    const connect = super.connect as unknown as (callback: Connected) => void;
    const take = (callback: Connected): void =>
      connect.call(this, (error, client, release) => {
        if (client === undefined || (this.#openedMs.get(client) ?? 0) >= this.#silentMs) return callback(error, client, release);
        release(true);
        take(callback);
      });
    const [callback] = given as unknown as [Connected | undefined];
    if (callback !== undefined) return take(recordsWork() ? AsyncResource.bind(callback) : callback) as never;
    return new Promise((resolve, reject) => {
      take((error, client) => (client === undefined ? reject(error) : resolve(client)));
    }) as never;
  }
}

/** A pool whose queries are recorded as parts of the work that makes them, by verb and table. */
export function createTracedPool(config: pg.PoolConfig): pg.Pool {
  return new TracedPool(config) as unknown as pg.Pool;
}
