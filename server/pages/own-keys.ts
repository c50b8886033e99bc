import { toPortalKey } from "#lib/access/key-json";
import type { KeyRecord } from "#lib/access/key-record";
import type { PortalKey } from "#lib/contract/portal";
import { type KeyContext, listKeys } from "#server/store/access/keys";

/** All keys of an account as pages show them, newest first. */
export async function shownKeys(context: KeyContext, accountId: string): Promise<PortalKey[]> {
  return (await listKeys(context, { accountId })).map(toPortalKey);
}

/** The keys of an account that work now, newest first; never their texts. */
export async function listValidKeys(context: KeyContext, accountId: string): Promise<KeyRecord[]> {
  return (await listKeys(context, { accountId })).filter(({ state }) => state === "active" || state === "grace");
}
