/** One thing that changed; `before` or `after` is undefined where there was nothing. */
export interface Change {
  /** Where it is, as `permissions.values`. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

const isScalar = (value: unknown): boolean => value === null || typeof value !== "object";
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.every(isScalar);
/** Nothing and an empty text are both an en dash. */
const textOf = (value: unknown) =>
  value === null || value === "" ? "–" : typeof value === "string" ? value : JSON.stringify(value);

/** The leaves of a value by path. A list of plain values counts as a set: each of its members is a leaf of its own. */
function leaves(value: unknown, path: string, into: Map<string, { path: string; text: string }>): void {
  if (value === undefined) return;
  if (isScalar(value)) into.set(path, { path, text: textOf(value) });
  else if (isList(value)) for (const member of value) into.set(`${path} ${textOf(member)}`, { path, text: textOf(member) });
  else for (const [name, part] of Object.entries(value as object)) leaves(part, path === "" ? name : `${path}.${name}`, into);
}

/** What differs between two JSON values, leaf by leaf: first what is gone or changed, then what is new. */
export function changesOf(before: unknown, after: unknown): readonly Change[] {
  const old = new Map<string, { path: string; text: string }>();
  const young = new Map<string, { path: string; text: string }>();
  leaves(before ?? undefined, "", old);
  leaves(after ?? undefined, "", young);
  const changes: Change[] = [];
  for (const [key, { path, text }] of old) {
    const now = young.get(key)?.text;
    if (now !== text) changes.push({ path, before: text, after: now });
  }
  for (const [key, { path, text }] of young) if (!old.has(key)) changes.push({ path, before: undefined, after: text });
  return changes;
}
