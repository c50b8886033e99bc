import { toPortalKey } from "#lib/access/key-json";
import type { KeyRecord } from "#lib/access/key-record";
import type { PortalKey } from "#lib/contract/portal";
import type { Scope } from "#lib/contract/primitives";
import { type KeyContext, listKeys } from "#server/store/access/keys";

/** All keys of an account as pages show them, newest first. */
export async function shownKeys(context: KeyContext, accountId: string): Promise<PortalKey[]> {
  return (await listKeys(context, { accountId })).map(toPortalKey);
}

/** The keys of an account that work now, newest first; never their texts. */
export async function listValidKeys(context: KeyContext, accountId: string): Promise<KeyRecord[]> {
  return (await listKeys(context, { accountId })).filter(({ state }) => state === "active" || state === "grace");
}

/**
 * The key to try a call with: the first of the sandbox that may make it, where nothing costs or is real, else the first of
 * another venue; undefined without any.
 * @param keys those that work, newest first
 */
export function keyToTry<Key extends { readonly venue: string; readonly scopes: readonly string[] }>(
  keys: readonly Key[],
  scope: Scope | "any",
): Key | undefined {
  const able = keys.filter(({ scopes }) => scope === "any" || scopes.includes(scope));
  return able.find(({ venue }) => venue === "sandbox") ?? able[0];
}
