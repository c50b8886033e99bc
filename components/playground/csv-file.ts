// Loaded by a browser once the reader saves a table. This import comes first: the contract is made of zod.
import "../portal/jitless";

import { CSV_MEDIA, csvOf } from "#lib/contract/csv";
import { OPERATION_LIST } from "#lib/operations/declarations";

/** The file that the service sends with `format=csv` for these items; undefined for an operation without CSV. */
export function csvFileOf(operationId: string, items: readonly object[]): Blob | undefined {
  const operation = OPERATION_LIST.find(({ id }) => id === operationId);
  const text = operation && csvOf(operation)?.text(items);
  return text === undefined ? undefined : new Blob([text], { type: CSV_MEDIA });
}
