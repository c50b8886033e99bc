import type { z } from "zod";
import { UNIX_SECONDS_END } from "#lib/contract/limits";
import { type JsonSchema, schemaPrinter } from "../json-schema";
import { type Cell, markdownTable } from "../markdown-table";
import { recordPath } from "./paths";

/** A field of a record, a message or a response. */
interface Field {
  /** Full path: `data.rejected[].ticker`. */
  readonly name: string;
  /** Type in words, as Markdown. */
  readonly type: string;
  readonly required: boolean;
  readonly meaning: string;
}

/** How fields are described. */
interface FieldOptions {
  /** Spells out the fields of records with a page of their own too, so that nobody has to leave. */
  readonly expanded?: boolean;
}

const NAMED = /^#\/components\/schemas\//;

/** Describes schemas of the contract in words. Records with their own page become links; everything else is spelled out. */
interface FieldReader {
  /** The fields of an object, each followed by its nested fields. */
  of(schema: z.ZodType): Field[];
  /** Type of a query parameter. */
  parameterType(schema: z.ZodType): string;
}

/** Bounds of a number in words. */
function bounds({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonSchema): string {
  if (exclusiveMaximum === UNIX_SECONDS_END) return ", Unix seconds";
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (exclusiveMinimum !== undefined) return ` > ${exclusiveMinimum}`;
  return minimum === undefined ? "" : ` ≥ ${minimum}`;
}

function lengths({ minLength, maxLength, pattern, format }: JsonSchema): string {
  const sized = /^\^\[A-Z0-9\]\{(\d+),(\d+)\}\$$/.exec(pattern ?? "");
  if (sized !== null) return `, ${sized[1]} to ${sized[2]} letters and digits`;
  if (format === "date-time") return ", ISO 8601 timestamp";
  if (maxLength !== undefined) return `, ${minLength ?? 0} to ${maxLength} characters`;
  return "";
}

const literal = (value: unknown) => `\`${JSON.stringify(value).replaceAll('"', "")}\``;

function namesOf(schema: JsonSchema): string[] {
  return typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
}

/** Creates a reader. */
export function createFieldReader({ expanded = false }: FieldOptions = {}): FieldReader {
  const printer = schemaPrinter("draft-2020-12");
  const nameOf = ({ $ref }: JsonSchema) => $ref?.replace(NAMED, "");

  function resolve(schema: JsonSchema): JsonSchema {
    const name = nameOf(schema);
    if (name === undefined) return schema;
    const named = printer.named()[name];
    if (named === undefined) throw new Error(`The contract has no schema ${name}.`);
    return named;
  }

  function typeOf(schema: JsonSchema): string {
    const name = nameOf(schema);
    const page = name === undefined ? undefined : recordPath(name);
    if (page !== undefined) return `[${name}](${page})`;
    const of = resolve(schema);
    if (of.const !== undefined) return literal(of.const);
    if (of.enum !== undefined) return of.enum.map(literal).join(", ");
    const kinds = of.anyOf ?? of.oneOf;
    if (kinds !== undefined) return kinds.map(typeOf).join(" or ");
    if (of.items !== undefined && of.type === "array") return listOf(of);
    const [first = "any value", ...others] = namesOf(of);
    const detail = first === "string" ? lengths(of) : bounds(of);
    return [first + detail + (of.default === undefined ? "" : `, default ${of.default}`), ...others].join(" or ");
  }

  function listOf({ items = {}, minItems, maxItems }: JsonSchema): string {
    const count = maxItems === undefined ? "" : `${minItems ?? 0} to ${maxItems}: `;
    return `list of ${count}${typeOf(items)}`;
  }

  /** The nested object of a field without its own page, and the separator before its field names. */
  function inner(schema: JsonSchema): { parent: JsonSchema; join: string } | undefined {
    const name = nameOf(schema);
    if (!expanded && name !== undefined && recordPath(name) !== undefined) return undefined;
    const of = resolve(schema);
    if (of.type === "array" && of.items !== undefined) {
      const below = inner(of.items);
      return below && { parent: below.parent, join: `[]${below.join}` };
    }
    return of.properties === undefined ? undefined : { parent: of, join: "." };
  }

  function fieldsOf(schema: JsonSchema, prefix: string): Field[] {
    const { properties = {}, required = [] } = resolve(schema);
    return Object.entries(properties).flatMap(([name, property]) => {
      const below = inner(property);
      const meaning = property.description ?? resolve(property).description ?? "";
      const field = { name: prefix + name, type: typeOf(property), required: required.includes(name), meaning };
      return [field, ...(below === undefined ? [] : fieldsOf(below.parent, prefix + name + below.join))];
    });
  }

  return {
    of: (schema) => fieldsOf(printer.of(schema), ""),
    parameterType: (schema) => typeOf(printer.parameter(schema)),
  };
}

const LIST_MARKS = /(?:\[\])+$/;
const EXAMPLE_MAX_CHARACTERS = 80;

/** The value of a field in an example: of the first item of each list. */
function valueAt(example: unknown, name: string): unknown {
  let value = example;
  for (const part of name.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[part.replace(LIST_MARKS, "")];
    while (Array.isArray(value) && LIST_MARKS.test(part)) value = value[0];
  }
  return value;
}

/** A value as code; empty for what is no single value, or too long to help. */
function exampleCell(value: unknown): string {
  if (value === undefined || typeof value === "object") return "";
  const code = JSON.stringify(value);
  return code.length > EXAMPLE_MAX_CHARACTERS ? "" : `\`${code}\``;
}

/**
 * Fields as a Markdown table. Optional fields are marked; required is the default.
 * @param example an object with these fields, for the column of examples
 */
export function fieldsTable(fields: readonly Field[], example: unknown): string {
  if (fields.length === 0) return "None.";
  const row = ({ name, type, required, meaning }: Field): Cell[] => [
    `\`${name}\``,
    `${type}${required ? "" : ", optional"}`,
    meaning,
    exampleCell(valueAt(example, name)),
  ];
  return markdownTable(["Field", "Type", "Description", "Example"], fields.map(row));
}
