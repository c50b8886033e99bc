import { toPortalKey } from "#lib/access/key-json";
import type { KeyRecord } from "#lib/access/key-record";
import type { OwnKey } from "../components/portal/credential";

/** One of the reader's keys, as pages that call with it have it. */
export function toOwnKey(record: KeyRecord): OwnKey {
  const { id, name, venue, scopes, prefix, last4 } = toPortalKey(record);
  return { id, name, venue, scopes, hint: `${prefix}…${last4}` };
}
