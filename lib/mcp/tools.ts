import type { Tool } from "@modelcontextprotocol/server";
import { type Operation, type Parameter, splitAddress } from "#lib/contract/operation";
import { FormatParameter, PastSecondsParameter, UnixSecondsParameter } from "#lib/contract/primitives";
import { type JsonSchema, type SchemaPrinter, schemaPrinter } from "#lib/docs/json-schema";
import { Fault } from "#lib/fault";
import { OPERATION_LIST } from "#lib/operations/declarations";

/** The longest name of an argument that a refusal repeats. */
const ARGUMENT_MAX_CHARACTERS = 80;

/** An operation that is offered as a tool. */
export type ToolOperation = Operation & { readonly mcp: { readonly tool: true } };

const isTool = (operation: Operation): operation is ToolOperation => operation.mcp.tool;

/** The operations that are offered as tools. */
export const TOOLS: readonly ToolOperation[] = OPERATION_LIST.filter(isTool);

/** The tool of a name; undefined for anything else. */
export const toolNamed = (name: unknown): ToolOperation | undefined => TOOLS.find(({ id }) => id === name);

/** A self-contained schema: its named parts are included. */
type ObjectSchema = JsonSchema & { type: "object"; $defs?: Record<string, JsonSchema> };

const COMPONENTS = "#/components/schemas/";

/** Adds the named parts of a printer to the schema that refers to them. */
function selfContained(schema: JsonSchema, named: Record<string, JsonSchema>): ObjectSchema {
  // MCP requires `type: object` on the schema itself. None refers to itself, so one that is named is not a part as well.
  const { [schema.$ref?.slice(COMPONENTS.length) ?? ""]: root = schema, ...parts } = named;
  const whole = { ...root, ...(Object.keys(parts).length > 0 && { $defs: parts }) };
  return JSON.parse(JSON.stringify(whole).replaceAll(COMPONENTS, "#/$defs/"));
}

/** The parameters that are times: they also take a day, as results have it. */
const isTime = ({ schema }: Pick<Parameter, "schema">) => schema === UnixSecondsParameter || schema === PastSecondsParameter;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * A parameter as agents may write it: a list also as text with commas, a time also in ISO 8601. Hosts check arguments against this
 * schema before they send them.
 */
function argumentSchemaOf({ schema, list, description }: Parameter, printer: SchemaPrinter): JsonSchema {
  const printed = printer.parameter(schema);
  if (list) return { anyOf: [printed, { type: "string" }], description: `${description} As a list, or as text with commas.` };
  if (isTime({ schema }))
    return {
      anyOf: [printed, { type: "string", format: "date-time" }, { type: "string", format: "date" }],
      description: `${description} Also as a UTC day, 2026-01-02.`,
    };
  return { ...printed, description };
}

/** A result is always JSON. */
const isOffered = ([, { schema }]: [string, Parameter]) => schema !== FormatParameter;

function inputSchemaOf({ query, mcp: { defaults = {} } }: ToolOperation): ObjectSchema {
  const printer = schemaPrinter("draft-2020-12");
  const entries = Object.entries(query).filter(isOffered);
  const properties = entries.map(([name, parameter]) => {
    const printed = argumentSchemaOf(parameter, printer);
    const own = defaults[name];
    return [name, own === undefined ? printed : { ...printed, default: own.value, description: own.description }];
  });
  const required = entries.filter(([, parameter]) => parameter.required).map(([name]) => name);
  const schema = { type: "object", properties: Object.fromEntries(properties), required, additionalProperties: false };
  return selfContained(schema, printer.named());
}

/** Words about a result, which agents pay for with each list of tools. The description of the tool says what they need. */
const WORDS = new Set(["description", "examples", "title", "pattern", "minimum", "maximum"]);

/** A schema without words. `named` is true within a map from names to schemas, whose names are kept whatever they are. */
function withoutWords(schema: unknown, named = false): unknown {
  if (Array.isArray(schema)) return schema.map((inner) => withoutWords(inner));
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => named || !WORDS.has(key))
      .map(([key, inner]) => [key, withoutWords(inner, !named && (key === "properties" || key === "$defs"))]),
  );
}

function outputSchemaOf({ data, mcp: { result } }: ToolOperation): ObjectSchema {
  const printer = schemaPrinter("draft-2020-12");
  return withoutWords(selfContained(printer.of(result?.schema ?? data), printer.named())) as ObjectSchema;
}

/** The tools, generated from the declarations: the input is the query, the output is the envelope's `data`, or what stands for it. */
export function listTools(): Tool[] {
  return TOOLS.map((operation) => {
    const { id, summary, description } = operation;
    return {
      name: id,
      title: summary,
      description,
      inputSchema: inputSchemaOf(operation),
      outputSchema: outputSchemaOf(operation),
      annotations: { title: summary, readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    } as unknown as Tool;
  });
}

/** A tool about the service itself, which needs no key: one text in, one text out. */
export interface OwnTool<Source> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly argument: { readonly name: string; readonly description: string; readonly maxCharacters: number };
  /** Undefined for what is not there. */
  readonly answer: (text: string, source: Source) => Promise<string | undefined>;
}

/** An own tool as the list has it. */
export function listedOwn({ name, title, description, argument }: OwnTool<never>): Tool {
  const text = { type: "string", minLength: 1, maxLength: argument.maxCharacters, description: argument.description };
  return {
    name,
    title,
    description,
    inputSchema: {
      type: "object",
      properties: { [argument.name]: text },
      required: [argument.name],
      additionalProperties: false,
    },
    annotations: { title, readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  };
}

/** The result of a tool from the data of its operation: the data once, and a short text for hosts that show one. */
export function resultOf({ summary, mcp: { result } }: ToolOperation, data: Record<string, unknown>) {
  const structuredContent = result === undefined ? data : result.of(data as never);
  const lists = Object.entries(structuredContent).filter(([name, value]) => Array.isArray(value) && name !== "columns");
  const counts = lists.map(([name, value]) => `${(value as unknown[]).length} ${name}`).join(", ");
  const text = `${summary}${counts && `: ${counts}`}. The data is in structuredContent.`;
  return { content: [{ type: "text" as const, text }], structuredContent };
}

/**
 * Refuses an argument that a tool does not have. REST ignores it and says so in a header, which no agent sees: the answer to another
 * question would look like that to its own.
 * @throws Fault invalid_parameter
 */
export function requireKnownArguments({ id, query }: ToolOperation, args: object): void {
  const unknown = Object.keys(args).find((name) => !Object.hasOwn(query, name) && name !== "format");
  if (unknown === undefined) return;
  const allowed = Object.entries(query)
    .filter(isOffered)
    .map(([name]) => name);
  const parameter = unknown.slice(0, ARGUMENT_MAX_CHARACTERS);
  const detail = `\`${parameter}\` is not an argument of ${id}. It has ${allowed.join(", ")}.`;
  throw new Fault("invalid_parameter", { detail, parameter, allowed });
}

/** A plain value as text; null for one that a query cannot contain. */
function textOf(value: unknown): string | null {
  return typeof value === "object" ? null : String(value);
}

/**
 * A tool call as path and query of a GET. Lists are joined by commas; null counts as absent, and the tool has defaults of its own.
 * @returns undefined for arguments that a query cannot contain: objects and nested lists
 */
export function targetOf(operation: ToolOperation, args: Readonly<Record<string, unknown>>): string | undefined {
  const given = new Map<string, string>();
  for (const [name, value] of Object.entries(args)) {
    if (value === null || value === undefined || name === "format") continue;
    const texts = Array.isArray(value) ? value.map(textOf) : [textOf(value)];
    if (texts.includes(null)) return undefined;
    const text = texts.join(",");
    const parameter = operation.query[name];
    given.set(name, parameter !== undefined && isTime(parameter) && DAY.test(text) ? `${text}T00:00:00Z` : text);
  }
  const defaults = Object.entries(operation.mcp.defaults ?? {}).filter(([name]) => !given.has(name));
  for (const [name, { value }] of defaults) given.set(name, String(value));
  const { path, query } = splitAddress(operation, Object.fromEntries(given));
  const search = new URLSearchParams(query.map((pair) => [...pair])).toString();
  return path + (search === "" ? "" : `?${search}`);
}
