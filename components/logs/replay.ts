import { LINK_ID } from "#lib/contract/linked-ids";
import type { PortalKey, RequestLogEntry } from "#lib/contract/portal";
import { OPERATION_PARAMETER } from "../playground/model";

/** The parameter of a playground link that chooses a key by its id. */
const KEY = "key";

/**
 * A link to the playground with this request filled in and its key chosen, if that still works; undefined for requests that the
 * playground does not make.
 */
export function replayLink(entry: RequestLogEntry, keys: readonly PortalKey[]): string | undefined {
  if (entry.method !== "GET" || entry.operation === LINK_ID) return undefined;
  const { searchParams } = new URL(entry.path, "http://portal.invalid");
  const query = new URLSearchParams({ [OPERATION_PARAMETER]: entry.operation });
  for (const [name, value] of searchParams) if (name !== OPERATION_PARAMETER && name !== KEY) query.set(name, value);
  const key = keys.find(({ id }) => id === entry.key_id);
  if (key?.state === "active" || key?.state === "grace") query.set(KEY, key.id);
  return `/playground?${query}`;
}
