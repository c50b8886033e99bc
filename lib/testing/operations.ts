import { isInPath, splitAddress } from "#lib/contract/operation";
import { type OperationId, operations } from "#lib/operations/declarations";

/** Operations that serve GET, and therefore HEAD. */
export const HEAD_OPERATIONS = (Object.keys(operations) as OperationId[]).filter((id) => operations[id].method === "GET");

/** The path of an operation, with the example of a parameter that is a part of it. */
export function samplePath(id: OperationId): string {
  const examples = Object.entries(operations[id].query).map(([name, { example }]) => [name, example]);
  return splitAddress(operations[id], Object.fromEntries(examples)).path;
}

/** A valid query from an operation's own examples, with its question mark; empty if none is needed. */
export function sampleQuery(id: OperationId): string {
  const { query: parameters } = operations[id];
  const required = Object.entries(parameters).filter(
    ([name, parameter]) => parameter.required && !isInPath(operations[id], name),
  );
  const query = required.map(([name, { example }]) => `${name}=${encodeURIComponent(example)}`).join("&");
  return query === "" ? "" : `?${query}`;
}
