import type { PortalKey } from "#lib/contract/portal";

/** A key in the list: below the one that replaced it, where that is listed too. */
interface ListedKey {
  readonly key: PortalKey;
  readonly isReplaced: boolean;
}

interface Arranged {
  /** Keys that work, or will; each is followed by those it replaced that still work. */
  readonly current: readonly ListedKey[];
  /** Revoked and expired ones. */
  readonly past: readonly PortalKey[];
}

const isPast = ({ state }: PortalKey) => state === "revoked" || state === "expired";

/** Orders the keys of an account for the list, each once. */
export function arrangeKeys(keys: readonly PortalKey[]): Arranged {
  const working = keys.filter((key) => !isPast(key));
  const ids = new Set(working.map(({ id }) => id));
  const isReplaced = ({ replaced_by }: PortalKey) => replaced_by !== null && ids.has(replaced_by);
  const withReplaced = (key: PortalKey): ListedKey[] => [
    { key, isReplaced: isReplaced(key) },
    ...working.filter(({ replaced_by }) => replaced_by === key.id).flatMap(withReplaced),
  ];
  return { current: working.filter((key) => !isReplaced(key)).flatMap(withReplaced), past: keys.filter(isPast) };
}

/** Of the keys that one replaced, directly or by way of others, those that still work in their grace period; the newest first. */
export function replacedInGrace(keys: readonly PortalKey[], { id }: Pick<PortalKey, "id">): PortalKey[] {
  const previous = keys.find(({ replaced_by }) => replaced_by === id);
  if (previous === undefined) return [];
  return [...(previous.state === "grace" ? [previous] : []), ...replacedInGrace(keys, previous)];
}
