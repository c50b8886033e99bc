import type { JsonSchema } from "./json-schema";

type Named = Record<string, JsonSchema>;

const COMPONENTS = "#/components/schemas/";

const pascal = (name: string) => name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** True for a schema that generators make a type of: an object, a choice, a list of values, a reference with a description. */
function isType({ type, anyOf, oneOf, allOf, enum: values }: JsonSchema): boolean {
  return type === "object" || [anyOf, oneOf, allOf].some((parts) => parts !== undefined) || (values?.length ?? 0) > 1;
}

/**
 * Named schemas with names for all parts that generators make types of. Without one, a type is called AnonymousSchema_12, and
 * another one after the next release. A part is named after where it stands: `SubscribeAck.data` is `SubscribeAckData`.
 * @throws Error when two schemas would have one name
 */
export function withNamedParts(schemas: Readonly<Named>): Named {
  const named: Named = {};

  function add(name: string, schema: JsonSchema): JsonSchema {
    if (named[name] !== undefined || (schemas[name] !== undefined && schemas[name] !== schema))
      throw new Error(`Two schemas are called ${name}.`);
    named[name] = partsNamed(name, schema);
    return { $ref: COMPONENTS + name };
  }

  const part = (name: string, schema: JsonSchema) => (isType(schema) ? add(name, schema) : partsNamed(name, schema));

  function partsNamed(name: string, schema: JsonSchema): JsonSchema {
    const { properties, items, additionalProperties: values, propertyNames: keys } = schema;
    const choice = (choices: JsonSchema[]) => choices.map((inner, index) => part(`${name}Choice${index + 1}`, inner));
    return {
      ...schema,
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([key, inner]) => [key, part(`${name}${pascal(key)}`, inner)]),
        ),
      }),
      ...(items && { items: part(`${name}Item`, items) }),
      ...(typeof values === "object" && { additionalProperties: part(`${name}Value`, values) }),
      ...(keys && { propertyNames: part(`${name}Key`, keys) }),
      ...(schema.anyOf && { anyOf: choice(schema.anyOf) }),
      ...(schema.oneOf && { oneOf: choice(schema.oneOf) }),
    };
  }

  for (const [name, schema] of Object.entries(schemas)) add(name, schema);
  return Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1)));
}
