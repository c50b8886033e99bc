import { type OperationId, operations } from "#lib/contract/operations";

/** Operations that serve GET, and therefore HEAD. */
export const HEAD_OPERATIONS = (Object.keys(operations) as OperationId[]).filter((id) => operations[id].method === "GET");

/** A valid query from an operation's own examples, with its question mark; empty if none is needed. */
export function sampleQuery(id: OperationId): string {
  const required = Object.entries(operations[id].query).filter(([, parameter]) => parameter.required);
  const query = required.map(([name, { example }]) => `${name}=${encodeURIComponent(example)}`).join("&");
  return query === "" ? "" : `?${query}`;
}
