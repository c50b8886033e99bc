import type { JsonSchema } from "./json-schema";

/** Who writes the value: what a client sends may only be accepted more widely, what it reads may not change its type. */
export type Direction = "request" | "response";

/** Where two versions of a schema are compared. */
export interface SchemaComparison {
  readonly direction: Direction;
  /** Named schemas of the two documents. */
  readonly before: Readonly<Record<string, JsonSchema>>;
  readonly after: Readonly<Record<string, JsonSchema>>;
}

const REFERENCE = "#/components/schemas/";
const LOWER_BOUNDS = ["minimum", "exclusiveMinimum", "minLength", "minItems"] as const;
const UPPER_BOUNDS = ["maximum", "exclusiveMaximum", "maxLength", "maxItems"] as const;
const EXACT = ["pattern", "format"] as const;

function resolve(schema: JsonSchema, named: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const target = schema.$ref?.startsWith(REFERENCE) ? named[schema.$ref.slice(REFERENCE.length)] : schema.allOf?.[0];
  return target === undefined ? schema : resolve(target, named);
}

/** The alternatives of a schema, named ones looked up; one that has none is its own only alternative. */
function alternatives(schema: JsonSchema, named: Readonly<Record<string, JsonSchema>>): JsonSchema[] {
  const resolved = resolve(schema, named);
  const inner = resolved.anyOf ?? resolved.oneOf;
  return inner === undefined ? [resolved] : inner.flatMap((schema) => alternatives(schema, named));
}

function types(schemas: readonly JsonSchema[]): Set<string> {
  return new Set(schemas.flatMap((schema) => schema.type ?? (schema.const === undefined ? "any" : typeof schema.const)));
}

function compareTypes(before: readonly JsonSchema[], after: readonly JsonSchema[], at: string, direction: Direction): string[] {
  const was = types(before);
  const is = types(after);
  if (is.has("any") && direction === "request") return [];
  const lost = [...was].filter((type) => !is.has(type) && !(type === "integer" && is.has("number") && direction === "request"));
  const gained = direction === "response" ? [...is].filter((type) => !was.has(type)) : [];
  return [
    ...lost.map((type) => `${at}: type ${type} is no longer possible`),
    ...gained.map((type) => `${at}: type ${type} is new where clients do not expect it`),
  ];
}

/** What a client reads may become a list of values: it could be no other before. What it sends may not. */
function compareValues(before: JsonSchema, after: JsonSchema, at: string, direction: Direction): string[] {
  const allowed = (schema: JsonSchema) => schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  const was = allowed(before);
  const is = allowed(after);
  if (is === undefined) return [];
  if (was === undefined) return direction === "response" ? [] : [`${at}: only certain values are allowed now`];
  return was.filter((value) => !is.includes(value)).map((value) => `${at}: value ${JSON.stringify(value)} was removed`);
}

function compareBounds(before: JsonSchema, after: JsonSchema, at: string): string[] {
  const breaks: string[] = [];
  for (const key of LOWER_BOUNDS) {
    const is = after[key];
    if (is !== undefined && is > (before[key] ?? Number.NEGATIVE_INFINITY)) breaks.push(`${at}: ${key} was raised to ${is}`);
  }
  for (const key of UPPER_BOUNDS) {
    const is = after[key];
    if (is !== undefined && is < (before[key] ?? Number.POSITIVE_INFINITY)) breaks.push(`${at}: ${key} was lowered to ${is}`);
  }
  for (const key of EXACT) {
    if (after[key] !== undefined && after[key] !== before[key]) breaks.push(`${at}: ${key} was changed to ${after[key]}`);
  }
  return breaks;
}

function compareFields(before: JsonSchema, after: JsonSchema, at: string, comparison: SchemaComparison): string[] {
  const breaks: string[] = [];
  for (const [name, was] of Object.entries(before.properties ?? {})) {
    const is = after.properties?.[name];
    if (is === undefined) breaks.push(`${at}.${name}: field was removed`);
    else breaks.push(...compareSchemas(was, is, `${at}.${name}`, comparison));
  }
  const [stronger, weaker] = comparison.direction === "request" ? [after, before] : [before, after];
  for (const name of stronger.required ?? []) {
    const known = before.properties?.[name] === undefined || after.properties?.[name] !== undefined;
    if (!weaker.required?.includes(name) && known)
      breaks.push(`${at}.${name}: ${comparison.direction === "request" ? "is required now" : "is no longer always present"}`);
  }
  if (typeof before.additionalProperties === "object" && typeof after.additionalProperties === "object")
    breaks.push(...compareSchemas(before.additionalProperties, after.additionalProperties, `${at}.*`, comparison));
  if (before.propertyNames !== undefined && after.propertyNames !== undefined)
    breaks.push(...compareSchemas(before.propertyNames, after.propertyNames, `${at} (names)`, comparison));
  return breaks;
}

function compareOne(before: JsonSchema, after: JsonSchema, at: string, comparison: SchemaComparison): string[] {
  return [
    ...compareValues(before, after, at, comparison.direction),
    ...compareBounds(before, after, at),
    ...compareFields(before, after, at, comparison),
    ...(before.items !== undefined && after.items !== undefined
      ? compareSchemas(before.items, after.items, `${at}[]`, comparison)
      : []),
  ];
}

/**
 * What a client of `before` trips over in `after`, one sentence each; empty when nothing.
 * The rule is strict both ways: a removed field or value, a narrowed type or bound; for what is sent, a new required field;
 * for what is read, a new type (null, say) or a field that may be absent now. Added fields, values and wider bounds pass.
 */
export function compareSchemas(before: JsonSchema, after: JsonSchema, at: string, comparison: SchemaComparison): string[] {
  const was = alternatives(before, comparison.before);
  const is = alternatives(after, comparison.after);
  const typeBreaks = compareTypes(was, is, at, comparison.direction);
  if (typeBreaks.length > 0) return typeBreaks;
  return was.flatMap((schema) => {
    const attempts = is.map((candidate) => compareOne(schema, candidate, at, comparison));
    return attempts.sort((a, b) => a.length - b.length)[0] ?? [];
  });
}
