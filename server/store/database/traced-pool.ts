import { AsyncResource } from "node:async_hooks";
import pg from "pg";
import { beginWork, recordsWork, type Work } from "#lib/spans";

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

/**
 * A connection whose queries are recorded as parts of the work that makes them; streams of rows (pg-copy-streams) are not. The
 * signatures of `never` stand for all overloads of the driver's.
 */
class TracedClient extends pg.Client {
  override query(...given: never[]): never {
    const query = super.query as unknown as (...given: readonly unknown[]) => unknown;
    const at = given.findLastIndex((each: unknown) => typeof each === "function");
    const text = textOf(given[0], at !== -1);
    if (text === undefined || !recordsWork()) return query.apply(this, given) as never;
    const end = beginWork(describe(text));
    if (at === -1) {
      const result = query.apply(this, given) as Promise<unknown>;
      result.then(() => end(), end);
      return result as never;
    }
    const callback: Callback = given[at] as never;
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

class TracedPool extends pg.Pool {
  constructor(config: pg.PoolConfig) {
    super({ ...config, Client: TracedClient });
  }

  /** One who waited for a connection goes on as a part of the work that asked, not of the work that released it. */
  override connect(...given: never[]): never {
    const connect = super.connect as unknown as (...given: readonly unknown[]) => unknown;
    const [callback] = given;
    return connect.call(this, callback !== undefined && recordsWork() ? AsyncResource.bind(callback) : callback) as never;
  }
}

/** A pool whose queries are recorded as parts of the work that makes them, by verb and table. */
export function createTracedPool(config: pg.PoolConfig): pg.Pool {
  return new TracedPool(config) as unknown as pg.Pool;
}
