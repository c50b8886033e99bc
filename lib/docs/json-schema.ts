import { z } from "zod";
import { InstantParameter } from "#lib/contract/primitives";

/** The parts of JSON Schema that the service's documents use. */
export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  pattern?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  /** Holds one reference that has a description of its own: draft-07 reads nothing that stands beside a `$ref`. */
  allOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  propertyNames?: JsonSchema;
  items?: JsonSchema;
  $defs?: Record<string, JsonSchema>;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

/** What OpenAPI 3.1 reads, and what AsyncAPI reads. */
type JsonSchemaDialect = "draft-2020-12" | "draft-7";

/** Where named schemas live in the document. */
const COMPONENTS = "#/components/schemas/";
/** Where each dialect keeps the named schemas of its own text. */
const LOCAL_DEFINITIONS = /^#\/(?:\$defs|definitions)\//;

/**
 * What zod prints and readers do not want: objects stay open, so that a later field breaks no client; bounds that only say
 * "a safe integer" and the pattern behind a named format are noise; constants without a fraction are integers.
 */
function tidy(schema: JsonSchema): void {
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.format !== undefined) delete schema.pattern;
  // A choice among choices is one choice.
  if (schema.anyOf?.some(({ anyOf }) => anyOf !== undefined))
    schema.anyOf = schema.anyOf.flatMap((inner) => inner.anyOf ?? [inner]);
  const values = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  if (schema.type === "number" && values.length > 0 && values.every(Number.isInteger)) schema.type = "integer";
}

/** References point to where named schemas live. One that stands alone needs no `allOf`, which generators make a type of. */
function pointToComponents<T>(value: T): T;
function pointToComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pointToComponents);
  if (typeof value !== "object" || value === null) return value;
  const { allOf, ...beside } = value as JsonSchema;
  if (allOf?.length === 1 && Object.keys(beside).length === 0) return pointToComponents(allOf[0]);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) =>
      key === "$ref" && typeof inner === "string"
        ? [key, inner.replace(LOCAL_DEFINITIONS, COMPONENTS)]
        : [key, pointToComponents(inner)],
    ),
  );
}

/** A schema as zod prints it, its named parts inside. */
type PrintedSchema = JsonSchema & {
  $schema?: string;
  $defs?: Record<string, JsonSchema>;
  definitions?: Record<string, JsonSchema>;
};

/** As zod prints a schema, and as readers want it. */
function print(schema: z.ZodType, dialect: JsonSchemaDialect): PrintedSchema {
  const override = (ctx: { jsonSchema: unknown }) => tidy(ctx.jsonSchema as JsonSchema);
  return z.toJSONSchema(schema, { target: dialect, io: "output", override }) as PrintedSchema;
}

/** A schema in draft-07 with its named parts inside: what needs no document around it. */
export function standaloneSchema(schema: z.ZodType): JsonSchema {
  return print(schema, "draft-7");
}

/** Prints zod schemas and gathers the named ones: `of` answers a schema that refers to them, `named` holds them. */
export interface SchemaPrinter {
  of(schema: z.ZodType): JsonSchema;
  /** Gives a schema a name under components and answers a reference to it. */
  name(id: string, schema: JsonSchema): JsonSchema;
  /** The schema of a query parameter as it is written in a URL. */
  parameter(schema: z.ZodType): JsonSchema;
  named(): Record<string, JsonSchema>;
}

/** Makes a printer of one dialect, with no names yet. */
export function schemaPrinter(dialect: JsonSchemaDialect): SchemaPrinter {
  const components = new Map<string, JsonSchema>();

  function of(schema: z.ZodType): JsonSchema {
    const { $schema: _, $defs, definitions, ...rest } = print(schema, dialect);
    for (const [id, definition] of Object.entries($defs ?? definitions ?? {})) components.set(id, pointToComponents(definition));
    return pointToComponents(rest);
  }

  return {
    of,
    name(id, schema) {
      components.set(id, schema);
      return { $ref: COMPONENTS + id };
    },
    // Its parsed value is a number, what is written is an instant.
    parameter: (schema) => (schema === InstantParameter ? { type: "string", format: "date-time" } : of(schema)),
    named: () => Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}
