import { type Operation, operationDocsPath } from "#lib/contract/operation";
import { OPERATION_LIST } from "#lib/operations/declarations";
import { RECORDS } from "./record-list";

const kebab = (name: string) => name.replace(/(?!^)([A-Z])/g, "-$1").toLowerCase();

/** The operation whose page has this path; undefined for any other page. */
export function operationAt(path: string): Operation | undefined {
  return OPERATION_LIST.find((operation) => operationDocsPath(operation) === path);
}

/** Path of the page of a record; undefined for a schema without one. */
export function recordPath(name: string): string | undefined {
  return RECORDS.has(name) ? `/docs/records/${kebab(name)}` : undefined;
}
