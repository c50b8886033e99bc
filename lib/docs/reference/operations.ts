import { ERRORS, type ErrorId, errorDocsPath, httpStatus } from "#lib/contract/errors";
import { isInPath, type Operation, operationDocsPath } from "#lib/contract/operation";
import { OPERATION_LIST } from "#lib/operations/declarations";
import { markdownTable } from "../markdown-table";
import { answerHeaders, scopeText } from "../openapi";
import { HEADERS } from "../openapi-headers";
import { createFieldReader, fieldsTable } from "./fields";
import { blocks, type ReferencePage } from "./page";
import { exampleBody, jsonBlock, recordedAnswer } from "./recorded";
import { requestSamples } from "./request-samples";

/** Errors as a Markdown table, by status: code, identifier with a link to its page, title. */
export function errorRows(ids: readonly ErrorId[]): string {
  return markdownTable(
    ["Status", "Code", "Identifier", "Description"],
    [...ids]
      .sort((a, b) => ERRORS[a].code - ERRORS[b].code)
      .map((id) => [httpStatus(id), ERRORS[id].code, `[\`${id}\`](${errorDocsPath(id)})`, ERRORS[id].title]),
  );
}

function cost(operation: Operation): string {
  if (operation.costWords !== undefined) return operation.costWords;
  const units = operation.cost({});
  if (operation.countedIn === "ticks")
    return `Costs no rate-limit units: pushed ticks have [a limit of their own](/docs/limits#pushed-ticks). A request counts as at least ${units} ticks.`;
  if (units === 0) return "Costs no rate-limit units.";
  return units === 1 ? "Costs one rate-limit unit." : `Costs ${units} rate-limit units.`;
}

function parameters(operation: Operation): string {
  const { query } = operation;
  const reader = createFieldReader();
  const rows = Object.entries(query).map(([name, { schema, required, description, example }]) => [
    isInPath(operation, name) ? `\`${name}\`, in the path` : `\`${name}\``,
    `${reader.parameterType(schema)}${required ? "" : ", optional"}`,
    description,
    `\`${example}\``,
  ]);
  return rows.length === 0 ? "None." : markdownTable(["Parameter", "Type", "Description", "Example"], rows);
}

function body({ body: sent }: Operation): string | undefined {
  if (sent === undefined) return undefined;
  return blocks(
    "## Body",
    `\`${sent.mediaType}\`. ${sent.description} At most ${sent.maxLines} lines and ${sent.maxBytes} bytes.`,
    fieldsTable(createFieldReader().of(sent.line), JSON.parse(sent.example)),
  );
}

function headers(operation: Operation): string {
  const names = answerHeaders(operation);
  return markdownTable(
    ["Header", "Description"],
    names.map((name) => [`\`${name}\``, HEADERS[name]?.description ?? ""]),
  );
}

/** The errors of one operation with their causes and fixes. */
function errorsTable(ids: readonly ErrorId[]): string {
  const sorted = [...ids].sort((a, b) => ERRORS[a].code - ERRORS[b].code);
  const row = (id: ErrorId) => [`[\`${id}\`](${errorDocsPath(id)})`, httpStatus(id), ERRORS[id].cause, ERRORS[id].fix];
  return markdownTable(["Error", "Status", "Cause", "Fix"], sorted.map(row));
}

/** Link to the playground with the required parameters filled in. */
function tryIt({ id, method, query, file }: Operation): string | undefined {
  if (method !== "GET" || file !== undefined) return undefined;
  const required = Object.entries(query).filter(([, parameter]) => parameter.required);
  const search = new URLSearchParams({ op: id, ...Object.fromEntries(required.map(([name, { example }]) => [name, example])) });
  return `[Try it in the playground](/playground?${search.toString().replaceAll("%2C", ",")})`;
}

function responseFields(operation: Operation): string {
  const { file, data } = operation;
  if (file === undefined)
    return blocks(
      "The `data` of the [envelope](/docs/operations#envelope):",
      fieldsTable(createFieldReader({ expanded: true }).of(data), exampleBody(operation).data),
    );
  return `\`${file.mediaType}\`. ${file.description} See [Files](/docs/files).`;
}

function responseExample(operation: Operation): string | undefined {
  if (operation.file !== undefined) return undefined;
  const answer = recordedAnswer(operation);
  const intro = answer === undefined ? "A response:" : `The sandbox's response to \`${answer.method} ${answer.path}\`:`;
  return blocks("## Response example", intro, jsonBlock(exampleBody(operation)));
}

function operationPage(operation: Operation): ReferencePage {
  return {
    path: operationDocsPath(operation).replace("/docs/", ""),
    title: operation.summary,
    description: operation.description,
    body: blocks(
      `\`${operation.method} ${operation.path}\``,
      `Scope ${scopeText(operation)}. ${cost(operation)}`,
      "## Request",
      requestSamples(operation),
      tryIt(operation),
      "## Parameters",
      parameters(operation),
      body(operation),
      "## Response",
      responseFields(operation),
      "### Headers",
      headers(operation),
      "## Errors",
      errorsTable(operation.errors),
      responseExample(operation),
    ),
  };
}

function overview(): ReferencePage {
  const rows = OPERATION_LIST.map((operation) => [
    `[${operation.summary}](${operationDocsPath(operation)})`,
    `\`${operation.method} ${operation.path}\``,
    scopeText(operation),
  ]);
  return {
    path: "operations/index",
    title: "REST operations",
    description: "Every call of the REST API, and what all responses have in common.",
    body: blocks(
      markdownTable(["Operation", "Call", "Scope"], rows),
      "Every GET endpoint also supports HEAD. Unknown query parameters are ignored and listed in `X-Ignored-Params`.",
      "## Envelope",
      "Every response has the same three fields. Check that `code` is 0 before you read `data`.",
      markdownTable(
        ["Field", "Success", "Failure"],
        [
          ["`code`", "0", "error code: HTTP status × 100 + n"],
          ["`message`", "`success`", "stable identifier, for example `unknown_ticker`"],
          ["`data`", "the result of the operation", "details of the error: see [Failure](/docs/records/failure)"],
        ],
      ),
      "v1 only ever adds fields and values. Ignore fields you do not know, and treat an unknown value as `unknown`.",
    ),
  };
}

/** A page per REST operation, and an overview. */
export function operationPages(): ReferencePage[] {
  return [overview(), ...OPERATION_LIST.map(operationPage)];
}
