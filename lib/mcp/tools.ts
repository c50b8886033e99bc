import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import type { KlineWindow } from "#lib/contract/kline";
import { KlineTable, tableOf } from "#lib/contract/kline-table";
import { MCP_KLINES_DEFAULT_LIMIT_ROWS } from "#lib/contract/limits";
import type { Operation, Parameter } from "#lib/contract/operation";
import { type OperationId, operations } from "#lib/contract/operations";
import {
  describeLimit,
  FormatParameter,
  LimitParameter,
  PastSecondsParameter,
  UnixSecondsParameter,
} from "#lib/contract/primitives";
import { type JsonSchema, type SchemaPrinter, schemaPrinter } from "#lib/docs/json-schema";

/** Operations offered as tools. */
export const TOOL_IDS = [
  "instruments",
  "latestQuotes",
  "latestSnapshots",
  "conversion",
  "marketStatus",
  "klines",
] as const satisfies readonly OperationId[];
export type ToolId = (typeof TOOL_IDS)[number];

/** Operations that are not tools, and why. The compiler requires every operation in one of the two lists. */
export const NO_TOOLS: Readonly<Record<Exclude<OperationId, ToolId>, string>> = {
  ticks: "It is for programs that read millions of quotes. An agent asks klines, whose rows say as much in a few hundred words.",
  files: "It lists files for bulk downloads. An agent that reads klines asks for those it needs.",
  file: "A file has more rows than a model can read.",
  marketHours: "It lists sessions for charts. An agent asks marketStatus, which knows the next open and close of any instant.",
  createStreamTicket: "A ticket opens a WebSocket from a web page; an agent that calls tools does not need one.",
  key: "It tells about a key, not about the market. An agent learns of a limit from the error that names it.",
  ingestTicks: "Ticks come from a feeder in large batches, with an operator's key. A model must not write prices.",
  ingestKlines: "Klines come from a feeder, as ticks do. A model must not write prices.",
  ingestState: "It tells a feeder where to continue.",
};

/** A self-contained schema: its named parts are included. */
type ObjectSchema = JsonSchema & { type: "object"; $defs?: Record<string, JsonSchema> };

const COMPONENTS = "#/components/schemas/";

/** Adds the named parts of a printer to the schema that refers to them. */
function selfContained(schema: JsonSchema, named: Record<string, JsonSchema>): ObjectSchema {
  // MCP requires `type: object` on the schema itself.
  const root = schema.$ref === undefined ? schema : named[schema.$ref.slice(COMPONENTS.length)];
  const whole = { ...root, ...(Object.keys(named).length > 0 && { $defs: named }) };
  return JSON.parse(JSON.stringify(whole).replaceAll(COMPONENTS, "#/$defs/"));
}

/**
 * A parameter as agents may write it: a list also as text with commas, a time also in ISO 8601. Hosts check arguments against this
 * schema before they send them. The limit has a default of its own.
 */
function argumentSchemaOf({ schema, list, description }: Parameter, printer: SchemaPrinter): JsonSchema {
  const printed = printer.parameter(schema);
  if (list) return { anyOf: [printed, { type: "string" }], description: `${description} As a list, or as text with commas.` };
  if (schema === LimitParameter)
    return { ...printed, default: MCP_KLINES_DEFAULT_LIMIT_ROWS, description: describeLimit(MCP_KLINES_DEFAULT_LIMIT_ROWS) };
  if (schema === UnixSecondsParameter || schema === PastSecondsParameter)
    return { anyOf: [printed, { type: "string", format: "date-time" }], description };
  return { ...printed, description };
}

/** A result is always JSON. */
const isOffered = ([, { schema }]: [string, Parameter]) => schema !== FormatParameter;

function inputSchemaOf({ query }: Operation): ObjectSchema {
  const printer = schemaPrinter("draft-2020-12");
  const entries = Object.entries(query).filter(isOffered);
  const properties = entries.map(([name, parameter]) => [name, argumentSchemaOf(parameter, printer)]);
  const required = entries.filter(([, parameter]) => parameter.required).map(([name]) => name);
  const schema = { type: "object", properties: Object.fromEntries(properties), required, additionalProperties: false };
  return selfContained(schema, printer.named());
}

function outputSchemaOf({ id, data }: Operation): ObjectSchema {
  const printer = schemaPrinter("draft-2020-12");
  const schema = printer.of(id === operations.klines.id ? KlineTable : data);
  return selfContained(schema, printer.named());
}

/** The tools, generated from the contract: the input is the query, the output is the envelope's `data`; klines are a table. */
export function listTools(): Tool[] {
  return TOOL_IDS.map((id) => {
    const operation = operations[id] as unknown as Operation;
    return {
      name: id,
      title: operation.summary,
      description: operation.description,
      inputSchema: inputSchemaOf(operation),
      outputSchema: outputSchemaOf(operation),
      annotations: { title: operation.summary, readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    } as Tool;
  });
}

/** The result of a tool from the data of its operation. */
export function resultOf(id: ToolId, data: Record<string, unknown>): Record<string, unknown> {
  return id === "klines" ? tableOf(data as KlineWindow) : data;
}

/** True for a tool name. */
export function isToolId(name: unknown): name is ToolId {
  return (TOOL_IDS as readonly unknown[]).includes(name);
}

/** A plain value as text; null for one that a query cannot contain. */
function textOf(value: unknown): string | null {
  return typeof value === "object" ? null : String(value);
}

/**
 * A tool call as path and query of a GET. Lists are joined by commas; null counts as absent, and klines have a default limit.
 * @returns undefined for arguments that a query cannot contain: objects and nested lists
 */
export function targetOf(id: ToolId, args: Readonly<Record<string, unknown>>): string | undefined {
  const given: [string, string][] = [];
  for (const [name, value] of Object.entries(args)) {
    if (value === null || value === undefined || name === "format") continue;
    const texts = Array.isArray(value) ? value.map(textOf) : [textOf(value)];
    if (texts.includes(null)) return undefined;
    given.push([name, texts.join(",")]);
  }
  if (id === "klines" && !given.some(([name]) => name === "limit")) given.push(["limit", String(MCP_KLINES_DEFAULT_LIMIT_ROWS)]);
  const search = new URLSearchParams(given).toString();
  return operations[id].path + (search === "" ? "" : `?${search}`);
}
