import type { AsyncApiChannel, AsyncApiDocument, AsyncApiMessage, AsyncApiOperation, AsyncApiServer } from "./asyncapi-types";
import { compareSchemas, type Direction, type SchemaComparison } from "./breaking-schema";
import type { Reference } from "./openapi-types";

interface Pair {
  readonly before: AsyncApiDocument;
  readonly after: AsyncApiDocument;
}

/** The last name of a reference. */
const nameOf = ({ $ref }: Reference) => $ref.slice($ref.lastIndexOf("/") + 1);

function comparison({ before, after }: Pair, direction: Direction): SchemaComparison {
  return { direction, before: before.components.schemas, after: after.components.schemas };
}

/** A sentence for each of these fields that is not what it was. */
function changedFields<Thing>(was: Thing, is: Thing, fields: readonly (keyof Thing & string)[], at: string): string[] {
  return fields.filter((field) => was[field] !== is[field]).map((field) => `${at}: ${field} was changed to ${is[field]}`);
}

/** Walks the entries of `before`: one that is gone is a break by itself, the others are compared. */
function compareEntries<Thing>(
  before: Readonly<Record<string, Thing>>,
  after: Readonly<Record<string, Thing>>,
  what: string,
  compare: (was: Thing, is: Thing, at: string) => string[],
): string[] {
  return Object.entries(before).flatMap(([name, was]) => {
    const at = `${what} ${name}`;
    const is = after[name];
    return is === undefined ? [`${at}: was removed`] : compare(was, is, at);
  });
}

function lost(was: readonly Reference[], is: readonly Reference[], at: string, what: string): string[] {
  const left = new Set(is.map(nameOf));
  return was.map(nameOf).flatMap((name) => (left.has(name) ? [] : [`${at}: ${what} ${name} was removed`]));
}

function compareServers(was: AsyncApiServer, is: AsyncApiServer, at: string): string[] {
  return [
    ...changedFields(was, is, ["protocol", "protocolVersion", "pathname"], at),
    ...lost(was.security, is.security, at, "security"),
  ];
}

function compareChannels(was: AsyncApiChannel, is: AsyncApiChannel, at: string, pair: Pair): string[] {
  return [
    ...changedFields(was, is, ["address"], at),
    ...lost(was.servers, is.servers, at, "server"),
    ...lost(Object.values(was.messages), Object.values(is.messages), at, "message"),
    ...compareSchemas(
      was.bindings?.ws.headers ?? {},
      is.bindings?.ws.headers ?? {},
      `${at} headers`,
      comparison(pair, "request"),
    ),
  ];
}

function compareMessages(was: AsyncApiMessage, is: AsyncApiMessage, at: string, schemas: SchemaComparison): string[] {
  return [
    ...changedFields(was, is, ["name", "contentType"], at),
    ...changedFields(was.correlationId ?? { location: "none" }, is.correlationId ?? { location: "none" }, ["location"], at),
    ...compareSchemas(was.payload, is.payload, at, schemas),
  ];
}

/** Messages of an operation or its reply that went away or changed. One that is new breaks nobody: unknown types are ignored. */
function compareCarried(
  was: readonly Reference[],
  is: readonly Reference[],
  at: string,
  pair: Pair,
  direction: Direction,
): string[] {
  const changed = was.flatMap((reference) => {
    const name = nameOf(reference);
    const before = pair.before.components.messages[name];
    const after = pair.after.components.messages[name];
    if (before === undefined || after === undefined) return [];
    return compareMessages(before, after, `${at} ${name}`, comparison(pair, direction));
  });
  return [...lost(was, is, at, "message"), ...changed];
}

function compareOperations(was: AsyncApiOperation, is: AsyncApiOperation, at: string, pair: Pair): string[] {
  const direction = was.action === "receive" ? "request" : "response";
  return [
    ...changedFields(was, is, ["action"], at),
    ...changedFields(was.channel, is.channel, ["$ref"], at),
    ...compareCarried(was.messages, is.messages, at, pair, direction),
    ...compareCarried(was.reply?.messages ?? [], is.reply?.messages ?? [], `${at} reply`, pair, "response"),
  ];
}

function compareLimits({ before, after }: Pair): string[] {
  return compareEntries(before["x-limits"], after["x-limits"], "limit", (was, is, at) => {
    if (was.within_v1 === "not_lowered" && is.value < was.value) return [`${at}: was lowered to ${is.value}`];
    if (was.within_v1 === "not_raised" && is.value > was.value) return [`${at}: was raised to ${is.value}`];
    return changedFields(was, is, ["within_v1"], at);
  });
}

function compareCloses({ before, after }: Pair): string[] {
  const byCode = (document: AsyncApiDocument) =>
    Object.fromEntries(document["x-close-codes"].map((close) => [String(close.code), close]));
  return compareEntries(byCode(before), byCode(after), "close", (was, is, at) => changedFields(was, is, ["reason", "after"], at));
}

/**
 * Everything in `after` that would break a stream client written against `before`, one sentence each; empty when v1 only
 * grew. Both are documents of `asyncApiDocument`.
 */
export function breakingStreamChanges(before: AsyncApiDocument, after: AsyncApiDocument): string[] {
  const pair = { before, after };
  return [
    ...compareEntries(before.servers, after.servers, "server", compareServers),
    ...compareEntries(before.channels, after.channels, "channel", (was, is, at) => compareChannels(was, is, at, pair)),
    ...compareEntries(before.operations, after.operations, "operation", (was, is, at) => compareOperations(was, is, at, pair)),
    ...compareLimits(pair),
    ...compareCloses(pair),
  ];
}
