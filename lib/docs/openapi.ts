import { type Brand, contactOf, DEFAULT_BRAND } from "#lib/brand";
import { CSV_MEDIA, csvOf, LINES_MEDIA } from "#lib/contract/csv";
import { Failure, failureExample, success } from "#lib/contract/envelope";
import { ERROR_IDS, ERRORS, type ErrorId, httpStatus } from "#lib/contract/errors";
import { PARQUET_MEDIA } from "#lib/contract/files";
import { describeParameter, isInPath, type Operation, type Parameter } from "#lib/contract/operation";
import { linkOperation, REST_CALLS } from "#lib/operations/link/declaration";
import manifest from "../../package.json" with { type: "json" };
import { type JsonSchema, type SchemaPrinter, schemaPrinter } from "./json-schema";
import { HEADER_PARAMETERS, HEADERS, headerReferences, RATE_LIMIT_HEADERS } from "./openapi-headers";
import type { OpenApiDocument, OpenApiMedia, OpenApiOperation, OpenApiParameter, OpenApiResponse } from "./openapi-types";

/** Version of the API, not of the software: increases with additions to v1. */
const API_VERSION = "1.0.0";
const SECURITY_SCHEME = "apiKey";
const JSON_MEDIA = "application/json";

const DESCRIPTION = [
  "Quotes, snapshots, klines, instruments and market status for forex and metals.",
  "Every response is an envelope. Check that `code` is 0 before you read `data`; otherwise `message` is a stable error identifier.",
  "Every GET endpoint also supports HEAD. Unknown query parameters are ignored and listed in `X-Ignored-Params`.",
  "v1 only ever adds fields and values. Ignore fields you do not know, and treat an unknown value as `unknown`.",
].join("\n\n");

const KEY_DESCRIPTION = [
  "An API key: `Authorization: Bearer sw_live_…` (live venue) or `sw_test_…` (synthetic sandbox).",
  "Scopes: `market:read` for REST, `market:stream` for streams, `market:ingest` (issued by the operator) for pushing market data.",
  "If a request has an `Origin` header, that origin must be one of the key's allowed origins.",
].join("\n\n");

const TAGS: Record<string, string> = {
  market: "Read market data.",
  key: "Look up your own key.",
  ingest: "Send market data to this installation.",
  link: "Read with a link instead of a key.",
};

/** The value of a parameter's example as its schema types it. */
function exampleValue(example: string, type: unknown): unknown {
  if (type === "array") return example.split(",");
  return type === "integer" || type === "number" ? Number(example) : example;
}

function parameterOf(operation: Operation, name: string, parameter: Parameter, printer: SchemaPrinter): OpenApiParameter {
  const schema = printer.parameter(parameter.schema);
  return {
    name,
    in: isInPath(operation, name) ? "path" : "query",
    description: describeParameter(name, parameter),
    required: parameter.required,
    ...(schema.type === "array" ? { style: "form" as const, explode: false } : {}),
    schema,
    example: exampleValue(parameter.example, schema.type),
  };
}

/** Responses sent before the key is known: without an account there are no rate limits to report. */
const BEFORE_KEY: ReadonlySet<number> = new Set([401, 405, 414]);

function errorHeaders(status: number): string[] {
  const names = ["X-Request-Id", ...(BEFORE_KEY.has(status) ? [] : RATE_LIMIT_HEADERS)];
  if (status === 401) names.push("WWW-Authenticate");
  if (status === 405) names.push("Allow");
  if (status === 416) names.push("Content-Range");
  if (status === 429 || status === 503) names.push("Retry-After");
  return names;
}

/** Failure with the errors of one operation alone. Generated types then tell success from failure by `code`, and errors apart. */
function failureOf(operation: Operation, printer: SchemaPrinter): JsonSchema {
  printer.of(Failure);
  const { properties = {}, ...failure } = printer.named().Failure ?? {};
  const errors = ERROR_IDS.filter((id) => operation.errors.includes(id));
  const narrowed = {
    ...properties,
    code: { ...properties.code, enum: errors.map((id) => ERRORS[id].code) },
    message: { ...properties.message, enum: errors },
  };
  const description = `An error response of \`${operation.id}\`.`;
  return printer.name(`${pascal(operation.id)}Failure`, { ...failure, description, properties: narrowed });
}

/** One response per status, with an example of each of its errors, and one for errors that a later version adds. */
function errorResponses(operation: Operation, printer: SchemaPrinter): Record<string, OpenApiResponse> {
  const byStatus = new Map<number, ErrorId[]>();
  for (const id of operation.errors) byStatus.set(httpStatus(id), [...(byStatus.get(httpStatus(id)) ?? []), id]);
  const schema = failureOf(operation, printer);
  const response = (status: number, ids: ErrorId[]): OpenApiResponse => ({
    description: ids.map((id) => `\`${ERRORS[id].code} ${id}\`: ${ERRORS[id].title}.`).join("\n\n"),
    headers: headerReferences(errorHeaders(status)),
    content: {
      [JSON_MEDIA]: {
        schema,
        examples: Object.fromEntries(ids.map((id) => [id, { $ref: `#/components/examples/${id}` }])),
      },
    },
  });
  const others = {
    description: "Any other error: one of HTTP itself, or one that was added later.",
    headers: headerReferences(["X-Request-Id"]),
    content: { [JSON_MEDIA]: { schema: printer.of(Failure) } },
  };
  return {
    ...Object.fromEntries([...byStatus].map(([status, ids]) => [String(status), response(status, ids)])),
    default: others,
  };
}

const FILE_HEADERS = ["X-Request-Id", ...RATE_LIMIT_HEADERS, "X-Ignored-Params", "ETag", "Cache-Control"];

/** Names of the headers in an operation's successful response. */
export function answerHeaders({ revalidated, file }: Operation): string[] {
  if (file !== undefined) return [...FILE_HEADERS, "Accept-Ranges", "Content-Disposition"];
  const own = revalidated ? ["ETag", "Cache-Control", "Link"] : [];
  return ["X-Request-Id", ...RATE_LIMIT_HEADERS, "X-Ignored-Params", ...own];
}

const isLink = ({ id }: Pick<Operation, "id">) => id === linkOperation.id;

/** The items as CSV and as lines, where the operation offers it. */
function itemsMedia(operation: Operation): Record<string, OpenApiMedia> {
  if (isLink(operation))
    return {
      [CSV_MEDIA]: { schema: { type: "string", description: "The items as CSV, with the columns of the operation." } },
      [PARQUET_MEDIA]: { schema: { type: "string", format: "binary", description: "The bytes of a file." } },
    };
  const table = csvOf(operation);
  if (table === undefined) return {};
  const { items } = operation.example as { items: readonly object[] };
  const description = `The items as CSV (RFC 4180) with a header row: ${table.columns.join(", ")}.`;
  const csv = { schema: { type: "string", description }, example: table.text(items) };
  if (!operation.lines) return { [CSV_MEDIA]: csv };
  const lines = {
    schema: { type: "string", description: "The items as NDJSON, one in a line." },
    example: items.map((item) => `${JSON.stringify(item)}\n`).join(""),
  };
  return { [CSV_MEDIA]: csv, [LINES_MEDIA]: lines };
}

const pascal = (id: string) => id.charAt(0).toUpperCase() + id.slice(1);

/** The bytes of a file: as a whole, or a part of them. */
function fileResponses(operation: Operation, { mediaType, description }: NonNullable<Operation["file"]>) {
  const bytes: OpenApiMedia = { schema: { type: "string", format: "binary", description } };
  const csv: OpenApiMedia = { schema: { type: "string", description: "The rows as CSV, with the columns of klines." } };
  return {
    200: {
      description: operation.summary,
      headers: headerReferences(answerHeaders(operation)),
      content: { [mediaType]: bytes, [CSV_MEDIA]: csv },
    },
    206: {
      description: "The requested range of the file.",
      headers: headerReferences([...answerHeaders(operation), "Content-Range"]),
      content: { [mediaType]: bytes },
    },
    304: UNCHANGED,
  };
}

const UNCHANGED: OpenApiResponse = {
  description: "Not modified.",
  headers: headerReferences(["X-Request-Id", ...RATE_LIMIT_HEADERS, "ETag"]),
};

function successResponses(operation: Operation, printer: SchemaPrinter): Record<string, OpenApiResponse> {
  if (operation.file !== undefined) return fileResponses(operation, operation.file);
  const id = `${pascal(operation.id)}Response`;
  const answered: OpenApiResponse = {
    description: operation.summary,
    headers: headerReferences(answerHeaders(operation)),
    content: {
      [JSON_MEDIA]: {
        schema: printer.name(id, printer.of(success(operation.data))),
        example: { code: 0, message: "success", data: operation.example },
      },
      ...itemsMedia(operation),
    },
  };
  return operation.revalidated ? { 200: answered, 304: UNCHANGED } : { 200: answered };
}

function requestBody(operation: Operation, printer: SchemaPrinter): Pick<OpenApiOperation, "requestBody"> {
  if (operation.body === undefined) return {};
  const { mediaType, description, example, line, maxLines, maxBytes } = operation.body;
  const item = printer.of(line);
  // Tools look for named schemas in schemas alone; the text itself is checked against none.
  const media: OpenApiMedia = { schema: { type: "string", description, $defs: { line: item } }, example, "x-itemSchema": item };
  const limits = `At most ${maxLines} lines and ${maxBytes} bytes.`;
  return { requestBody: { description: `${description} ${limits}`, required: true, content: { [mediaType]: media } } };
}

/** The scope an operation needs, as texts name it. */
export const scopeText = ({ scope }: Pick<Operation, "scope">) => (scope === "any" ? "any" : `\`${scope}\``);

function openApiOperation(operation: Operation, printer: SchemaPrinter): OpenApiOperation {
  const isFile = operation.file !== undefined;
  const headerNames = [
    "RequestId",
    ...(operation.revalidated || isFile ? ["IfNoneMatch"] : []),
    ...(isFile ? ["Range", "IfRange"] : []),
  ];
  return {
    operationId: operation.id,
    tags: [operation.path.split("/")[3] ?? "market"],
    summary: operation.summary,
    description: `${operation.description}\n\nScope: ${scopeText(operation)}.`,
    // The token of a link is its parameter.
    security: isLink(operation) ? [] : [{ [SECURITY_SCHEME]: [] }],
    "x-scope": operation.scope,
    parameters: [
      ...Object.entries(operation.query).map(([name, parameter]) => parameterOf(operation, name, parameter, printer)),
      ...headerNames.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    ...requestBody(operation, printer),
    responses: { ...successResponses(operation, printer), ...errorResponses(operation, printer) },
  };
}

/** An example of each error that an operation returns. */
function errorExamples(): OpenApiDocument["components"]["examples"] {
  const returned = ERROR_IDS.filter((id) => REST_CALLS.some(({ errors }) => errors.includes(id)));
  return Object.fromEntries(
    returned.map((id) => [
      id,
      { summary: ERRORS[id].title, description: `${ERRORS[id].cause} ${ERRORS[id].fix}`, value: failureExample(id) },
    ]),
  );
}

/**
 * The REST API as an OpenAPI 3.1 document, generated from the contract.
 * @param options.serverUrl base URL of the paths; by default relative to the URL of the document.
 */
export function openApiDocument({
  serverUrl = "/",
  brand = DEFAULT_BRAND,
}: {
  serverUrl?: string;
  brand?: Brand;
} = {}): OpenApiDocument {
  const printer = schemaPrinter("draft-2020-12");
  const paths: OpenApiDocument["paths"] = {};
  for (const operation of REST_CALLS) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: openApiOperation(operation, printer),
    };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: `${brand.name} market data`,
      version: API_VERSION,
      description: DESCRIPTION,
      contact: contactOf(brand),
      license: { name: manifest.license, identifier: manifest.license },
    },
    servers: [{ url: serverUrl }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        [SECURITY_SCHEME]: { type: "http", scheme: "bearer", bearerFormat: "sw_{live|test}_…", description: KEY_DESCRIPTION },
      },
      parameters: HEADER_PARAMETERS,
      headers: HEADERS,
      examples: errorExamples(),
      schemas: printer.named(),
    },
  };
}

/** The document as text, ending in a line feed. */
export function openApiText(brand = DEFAULT_BRAND): string {
  return `${JSON.stringify(openApiDocument({ brand }), null, 2)}\n`;
}
