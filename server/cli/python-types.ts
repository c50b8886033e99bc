import type { JsonSchema } from "#lib/docs/json-schema";

/** Named JSON schemas as a Python module of TypedDicts. */

const REFERENCE = /^#\/components\/schemas\//;
/** Words that cannot name a field of a class. */
const KEYWORDS = new Set(["from", "class", "import", "is", "in", "not", "and", "or", "if", "else", "pass", "global", "lambda"]);

const pascal = (name: string) => name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** A text as a literal of Python. */
const text = (value: unknown) => JSON.stringify(value);

/** Prints one schema as a type; objects without a name get one, after where they stand. */
function typeOf(name: string, schema: JsonSchema, known: ReadonlyMap<string, string>, add: AddObject): string {
  const inner = (part: string, child: JsonSchema) => typeOf(name + part, child, known, add);
  if (schema.$ref !== undefined) return schema.$ref.replace(REFERENCE, "");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map((choice) => inner("", choice)))].join(" | ");
  const values = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (values !== undefined) return known.get(values.join()) ?? `Literal[${values.map(text).join(", ")}]`;
  if (Array.isArray(schema.type)) return schema.type.map((type) => inner("", { ...schema, type })).join(" | ");
  switch (schema.type) {
    case "string":
      return "str";
    case "integer":
      return "int";
    case "number":
      return "float";
    case "boolean":
      return "bool";
    case "null":
      return "None";
    case "array":
      return `list[${schema.items === undefined ? "Any" : inner("Item", schema.items)}]`;
    case "object":
      if (schema.properties !== undefined) return add(name, schema);
      return typeof schema.additionalProperties === "object"
        ? `dict[str, ${inner("Value", schema.additionalProperties)}]`
        : "dict[str, Any]";
    default:
      return "Any";
  }
}

type AddObject = (name: string, schema: JsonSchema) => string;

interface Field {
  readonly name: string;
  readonly type: string;
  readonly description: string | undefined;
}

function printFields(name: string, description: string | undefined, fields: readonly Field[]): string {
  const about = description === undefined ? [] : [`    ${text(description)}`, ""];
  if (fields.every((field) => !KEYWORDS.has(field.name))) {
    const lines = fields.flatMap((field) => [
      `    ${field.name}: ${field.type}`,
      ...(field.description === undefined ? [] : [`    ${text(field.description)}`]),
    ]);
    return [`class ${name}(TypedDict):`, ...about, ...lines].join("\n");
  }
  // A field such as `from` cannot be written in a class.
  const lines = fields.flatMap((field) => [
    ...(field.description === undefined ? [] : [`        # ${field.description}`]),
    `        ${text(field.name)}: ${text(field.type)},`,
  ]);
  const comment = description === undefined ? [] : [`# ${description}`];
  return [...comment, `${name} = TypedDict(`, `    ${text(name)},`, "    {", ...lines, "    },", ")"].join("\n");
}

/**
 * A module with one type for each schema. References between them must be to schemas of the list.
 * @param aliases names for enums, by their values
 * @throws Error when two types would have one name
 */
export function pythonTypes(
  schemas: Readonly<Record<string, JsonSchema>>,
  aliases: Readonly<Record<string, readonly string[]>> = {},
): string {
  const plain: string[] = Object.entries(aliases).map(([name, values]) => `${name} = Literal[${values.map(text).join(", ")}]`);
  const known = new Map(Object.entries(aliases).map(([name, values]) => [values.join(), name]));
  const objects = new Map<string, string>();

  function add(name: string, schema: JsonSchema): string {
    if (objects.has(name)) throw new Error(`Two types are called ${name}.`);
    objects.set(name, "");
    const fields = Object.entries(schema.properties ?? {}).map(([field, child]) => {
      const type = typeOf(name + pascal(field), child, known, add);
      const isRequired = schema.required?.includes(field) === true;
      return { name: field, type: isRequired ? type : `NotRequired[${type}]`, description: child.description };
    });
    objects.set(name, printFields(name, schema.description, fields));
    return name;
  }

  for (const [name, schema] of Object.entries(schemas)) {
    if (schema.properties !== undefined) add(name, schema);
    else plain.push(`${name} = ${typeOf(name, schema, known, add)}`);
  }
  const names = [...plain.map((line) => line.slice(0, line.indexOf(" "))), ...objects.keys()].sort();
  return [
    '"""What the service sends, as its contract says. Ignore fields and values that are not listed: v1 only adds to them."""',
    "",
    "from __future__ import annotations",
    "",
    "from typing import Any, Literal, NotRequired, TypedDict",
    "",
    `__all__ = [${names.map(text).join(", ")}]`,
    "",
    ...plain,
    ...[...objects].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, printed]) => ["", "", printed]),
    "",
  ].join("\n");
}
