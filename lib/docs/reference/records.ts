import { operationDocsPath } from "#lib/contract/operation";
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
