import type { z } from "zod";
import { FailureData } from "#lib/contract/envelope";
import { operationDocsPath } from "#lib/contract/operation";
import { SubscribeParams } from "#lib/contract/stream";
import { OPERATION_LIST } from "#lib/operations/declarations";
import { schemaPrinter } from "../json-schema";
import { createFieldReader, fieldsTable } from "./fields";
import { blocks, type ReferencePage } from "./page";
import { recordPath } from "./paths";
import { RECORDS } from "./record-list";
import { jsonBlock } from "./recorded";

/** Links to the operations that return a record. */
function givenBy(name: string): string | undefined {
  const holding = OPERATION_LIST.filter(({ data }) => {
    const printer = schemaPrinter("draft-2020-12");
    printer.of(data);
    return name in printer.named();
  });
  if (holding.length === 0) return undefined;
  return `Returned by ${holding.map((operation) => `[${operation.summary}](${operationDocsPath(operation)})`).join(", ")}.`;
}

/** Parts of records and messages that a guide explains; they have no page of their own. */
const PARTS: ReadonlyMap<string, z.ZodType> = new Map(Object.entries({ FailureData, SubscribeParams }));

/**
 * The fields of a record as a table, for guides.
 * @param only the names of those to show; all without
 * @throws Error for a record or a field that does not exist
 */
export function recordFields(name: string, only?: readonly string[]): string {
  const { schema, example } = RECORDS.get(name) ?? { schema: PARTS.get(name), example: undefined };
  if (schema === undefined) throw new Error(`<Fields of="${name}"> names no record.`);
  const fields = createFieldReader().of(schema);
  const missing = only?.filter((wanted) => !fields.some((field) => field.name === wanted)) ?? [];
  if (missing.length > 0) throw new Error(`${name} has no field ${missing.join(", ")}.`);
  return fieldsTable(only === undefined ? fields : fields.filter((field) => only.includes(field.name)), example);
}

/** A page per record. */
export function recordPages(): ReferencePage[] {
  return [...RECORDS].map(([name, { schema, example }]) => ({
    path: (recordPath(name) ?? "").replace("/docs/", ""),
    title: name,
    description: schema.meta()?.description ?? name,
    body: blocks(
      givenBy(name),
      "## Fields",
      fieldsTable(createFieldReader().of(schema), example),
      "## Example",
      jsonBlock(example),
    ),
  }));
}
