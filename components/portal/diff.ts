/** One change; `before` or `after` is undefined when there was no value. */
export interface Change {
  /** Its path, as `permissions.values`. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

const isScalar = (value: unknown): boolean => value === null || typeof value !== "object";
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.every(isScalar);
/** An en dash stands for a missing value and for an empty text. */
const textOf = (value: unknown) =>
  value === null || value === "" ? "–" : typeof value === "string" ? value : JSON.stringify(value);

/** The plain values of an object by path. A list of plain values counts as a set: each member is a separate value. */
function leaves(value: unknown, path: string, into: Map<string, { path: string; text: string }>): void {
  if (value === undefined) return;
  if (isScalar(value)) into.set(path, { path, text: textOf(value) });
  else if (isList(value)) for (const member of value) into.set(`${path} ${textOf(member)}`, { path, text: textOf(member) });
  else for (const [name, part] of Object.entries(value as object)) leaves(part, path === "" ? name : `${path}.${name}`, into);
}

/** The differences of two JSON values: first removed or changed values, then new ones. */
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
