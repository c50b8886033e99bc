import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import type { Operation } from "#lib/contract/operation";
import { type OperationId, operations } from "#lib/contract/operations";
import { type JsonSchema, schemaPrinter } from "#lib/docs/json-schema";

/** Operations that agents are offered. */
export const TOOL_IDS = [
  "instruments",
  "latestQuotes",
  "latestSnapshots",
  "marketStatus",
  "klines",
] as const satisfies readonly OperationId[];
export type ToolId = (typeof TOOL_IDS)[number];

/** The others, and why; the compiler asks for a word on every operation. */
export const NO_TOOLS: Readonly<Record<Exclude<OperationId, ToolId>, string>> = {
  createStreamTicket: "A ticket opens a WebSocket from a browser's page; an agent that calls tools has no use for one.",
  ingestTicks: "Ticks come from a feeder in batches of up to 16 MiB, with an operator's key; no model should write prices.",
};

/** A schema that needs no other document: its named parts stand in it. */
type ObjectSchema = JsonSchema & { type: "object"; $defs?: Record<string, JsonSchema> };

const COMPONENTS = "#/components/schemas/";

/** Puts what a printer named into the schema that refers to it. */
function selfContained(schema: JsonSchema, named: Record<string, JsonSchema>): ObjectSchema {
  // A tool's schema has to say itself that it is an object.
  const root = schema.$ref === undefined ? schema : named[schema.$ref.slice(COMPONENTS.length)];
  const whole = { ...root, ...(Object.keys(named).length > 0 && { $defs: named }) };
  return JSON.parse(JSON.stringify(whole).replaceAll(COMPONENTS, "#/$defs/"));
}

function inputSchemaOf({ query }: Operation): ObjectSchema {
  const printer = schemaPrinter("draft-2020-12");
  const entries = Object.entries(query);
  const properties = entries.map(([name, { schema, description }]) => [name, { ...printer.parameter(schema), description }]);
  const required = entries.filter(([, parameter]) => parameter.required).map(([name]) => name);
  const schema = { type: "object", properties: Object.fromEntries(properties), required, additionalProperties: false };
  return selfContained(schema, printer.named());
}

function outputSchemaOf({ data }: Operation): ObjectSchema {
  const printer = schemaPrinter("draft-2020-12");
  const schema = printer.of(data);
  return selfContained(schema, printer.named());
}

/** Operations as tools, made from the contract: what is asked is the query, what is answered the envelope's `data`. */
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

/** True for the name of a tool. */
export function isToolId(name: unknown): name is ToolId {
  return (TOOL_IDS as readonly unknown[]).includes(name);
}

/** The text of a plain value; null for what a query cannot hold. */
function textOf(value: unknown): string | null {
  return typeof value === "object" ? null : String(value);
}

/**
 * The same question as a GET: path and query. A list is joined by commas; what is null counts as left out.
 * @returns undefined for arguments that no query can hold: objects, and lists in lists
 */
export function targetOf(id: ToolId, args: Readonly<Record<string, unknown>>): string | undefined {
  const given: [string, string][] = [];
  for (const [name, value] of Object.entries(args)) {
    if (value === null || value === undefined) continue;
    const texts = Array.isArray(value) ? value.map(textOf) : [textOf(value)];
    if (texts.includes(null)) return undefined;
    given.push([name, texts.join(",")]);
  }
  const search = new URLSearchParams(given).toString();
  return operations[id].path + (search === "" ? "" : `?${search}`);
}
