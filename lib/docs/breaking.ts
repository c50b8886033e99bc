import { compareSchemas, type Direction } from "./breaking-schema";
import type { JsonSchema } from "./json-schema";
import type {
  OpenApiDocument,
  OpenApiMedia,
  OpenApiOperation,
  OpenApiParameter,
  OpenApiResponse,
  Reference,
} from "./openapi-types";

const PARAMETERS = "#/components/parameters/";
const SCHEMAS = "#/components/schemas/";

interface Pair {
  readonly before: OpenApiDocument;
  readonly after: OpenApiDocument;
}

function comparison({ before, after }: Pair, direction: Direction) {
  return { direction, before: before.components.schemas, after: after.components.schemas };
}

/** The parameters of an operation by place and name, references looked up. */
function parametersOf(operation: OpenApiOperation, document: OpenApiDocument): Map<string, OpenApiParameter> {
  const found = new Map<string, OpenApiParameter>();
  const resolve = (entry: OpenApiParameter | Reference) =>
    "$ref" in entry ? document.components.parameters[entry.$ref.slice(PARAMETERS.length)] : entry;
  for (const entry of operation.parameters) {
    const parameter = resolve(entry);
    if (parameter !== undefined) found.set(`${parameter.in} ${parameter.name}`, parameter);
  }
  return found;
}

function compareParameters(was: OpenApiOperation, is: OpenApiOperation, at: string, pair: Pair): string[] {
  const before = parametersOf(was, pair.before);
  const after = parametersOf(is, pair.after);
  const breaks: string[] = [];
  for (const [name, parameter] of before) {
    const now = after.get(name);
    const where = `${at} ${name}`;
    if (now === undefined) breaks.push(`${where}: parameter was removed`);
    else {
      if (now.style !== parameter.style || now.explode !== parameter.explode) breaks.push(`${where}: is written differently now`);
      breaks.push(...compareSchemas(parameter.schema, now.schema, where, comparison(pair, "request")));
    }
  }
  for (const [name, parameter] of after)
    if (parameter.required && !before.get(name)?.required) breaks.push(`${at} ${name}: is required now`);
  return breaks;
}

type Content = Record<string, OpenApiMedia> | undefined;

function compareContent(was: Content, is: Content, at: string, pair: Pair, direction: Direction): string[] {
  return Object.entries(was ?? {}).flatMap(([mediaType, before]) => {
    const after = is?.[mediaType];
    if (after === undefined) return [`${at}: ${mediaType} was removed`];
    const line = (media: OpenApiMedia): JsonSchema => media["x-itemSchema"] ?? {};
    return [
      ...compareSchemas(before.schema, after.schema, at, comparison(pair, direction)),
      ...compareSchemas(line(before), line(after), `${at} line`, comparison(pair, direction)),
    ];
  });
}

function compareBody(was: OpenApiOperation, is: OpenApiOperation, at: string, pair: Pair): string[] {
  const breaks = compareContent(was.requestBody?.content, is.requestBody?.content, `${at} body`, pair, "request");
  if (is.requestBody?.required && !was.requestBody?.required) breaks.push(`${at} body: is required now`);
  return breaks;
}

/** The failure schema of a response with the errors that its examples show: an older document names all errors everywhere. */
function narrowed(media: OpenApiMedia, { before }: Pair): OpenApiMedia {
  const named = media.schema.$ref?.slice(SCHEMAS.length);
  const schema = named === undefined ? media.schema : (before.components.schemas[named] ?? media.schema);
  const { message, ...others } = schema.properties ?? {};
  if (message === undefined || media.examples === undefined) return media;
  return {
    ...media,
    schema: { ...schema, properties: { ...others, message: { ...message, enum: Object.keys(media.examples) } } },
  };
}

function compareResponse(was: OpenApiResponse, is: OpenApiResponse, at: string, pair: Pair): string[] {
  const content = Object.fromEntries(Object.entries(was.content ?? {}).map(([type, media]) => [type, narrowed(media, pair)]));
  const lost = Object.keys(was.headers ?? {}).filter((name) => is.headers?.[name] === undefined);
  return [
    ...lost.map((name) => `${at}: header ${name} was removed`),
    ...compareContent(content, is.content, at, pair, "response"),
  ];
}

function compareSecurity(was: OpenApiOperation, is: OpenApiOperation, at: string): string[] {
  const scopes = ({ security, "x-scope": scope = "any" }: OpenApiOperation) =>
    [...security.flatMap((scheme) => Object.values(scheme).flat()), scope].filter((name) => name !== "any");
  const known = scopes(was);
  return scopes(is)
    .filter((scope) => !known.includes(scope))
    .map((scope) => `${at}: scope ${scope} is required now`);
}

function compareOperations(was: OpenApiOperation, is: OpenApiOperation, at: string, pair: Pair): string[] {
  const responses = Object.entries(was.responses).flatMap(([status, before]) => {
    const after = is.responses[status];
    return after === undefined
      ? [`${at} ${status}: response was removed`]
      : compareResponse(before, after, `${at} ${status}`, pair);
  });
  return [
    ...(was.operationId === is.operationId ? [] : [`${at}: operation ${was.operationId} was renamed to ${is.operationId}`]),
    ...compareSecurity(was, is, at),
    ...compareParameters(was, is, at, pair),
    ...compareBody(was, is, at, pair),
    ...responses,
  ];
}

/**
 * Everything in `after` that would break a client written against `before`, one sentence each; empty when v1 only grew.
 * Both are documents of `openApiDocument`.
 */
export function breakingChanges(before: OpenApiDocument, after: OpenApiDocument): string[] {
  return Object.entries(before.paths).flatMap(([path, methods]) => {
    const now = after.paths[path];
    if (now === undefined) return [`${path}: path was removed`];
    return Object.entries(methods).flatMap(([method, operation]) => {
      const at = `${method.toUpperCase()} ${path}`;
      const current = now[method];
      return current === undefined
        ? [`${at}: operation was removed`]
        : compareOperations(operation, current, at, { before, after });
    });
  });
}
