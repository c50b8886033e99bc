import { fieldsOf } from "#lib/client/errors";
import type { PlayOperation, Values } from "./model";
import { shareable } from "./share";

/** Requests that one device keeps. */
export const SAVED_MAX_COUNT = 100;
/** Longest name of a request or a collection. */
export const NAME_MAX_CHARACTERS = 60;

/** A request that a reader keeps under a name, in a collection. Never with a key. */
export interface SavedRequest {
  readonly collection: string;
  readonly name: string;
  readonly operationId: string;
  readonly values: Values;
}

const isName = (value: unknown): value is string =>
  typeof value === "string" && value.trim() !== "" && value.length <= NAME_MAX_CHARACTERS;

/** The stored requests, without invalid entries: other code may write there too. */
export function readSaved(stored: unknown): readonly SavedRequest[] {
  if (!Array.isArray(stored)) return [];
  return stored.slice(0, SAVED_MAX_COUNT).flatMap((entry): SavedRequest[] => {
    const { collection, name, operationId, values } = fieldsOf(entry);
    if (!isName(collection) || !isName(name) || typeof operationId !== "string") return [];
    const texts = Object.entries(fieldsOf(values)).filter((pair): pair is [string, string] => typeof pair[1] === "string");
    return [{ collection, name, operationId, values: Object.fromEntries(texts) }];
  });
}

interface Naming {
  readonly collection: string;
  readonly name: string;
}

/** The requests with another one. One of the same name and collection is replaced. A problem when there is no name or no room. */
export function withSaved(
  saved: readonly SavedRequest[],
  operation: PlayOperation,
  values: Values,
  naming: Naming,
): readonly SavedRequest[] | { readonly problem: string } {
  const [collection, name] = [naming.collection.trim(), naming.name.trim()];
  if (!isName(collection) || !isName(name))
    return { problem: `Enter a name and a collection of at most ${NAME_MAX_CHARACTERS} characters.` };
  const others = saved.filter((one) => one.collection !== collection || one.name !== name);
  if (others.length >= SAVED_MAX_COUNT)
    return { problem: `This device keeps at most ${SAVED_MAX_COUNT} requests. Delete one first.` };
  return [...others, { collection, name, operationId: operation.id, values: shareable(operation, values) }];
}

/** The collections by name, each with its requests by name. */
export function collectionsOf(saved: readonly SavedRequest[]): readonly (readonly [string, readonly SavedRequest[]])[] {
  const sorted = [...saved].sort((a, b) => a.collection.localeCompare(b.collection) || a.name.localeCompare(b.name));
  const names = [...new Set(sorted.map(({ collection }) => collection))];
  return names.map((name) => [name, sorted.filter(({ collection }) => collection === name)]);
}
