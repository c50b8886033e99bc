import { type Brand, DEFAULT_BRAND } from "#lib/brand";
import type { ErrorId } from "#lib/contract/errors";
import { ERRORS, httpStatus } from "#lib/contract/errors";
import { describeParameter, isInPath, type Operation } from "#lib/contract/operation";
import { OPERATION_LIST } from "#lib/operations/declarations";
import { postmanTests } from "./postman-tests";
import { exampleBody, type RecordedAnswer, recordedError } from "./reference/recorded";
import { SAMPLE_BASE } from "./sample-words";

/** The format of the collection, by the address that names it. */
const SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";

interface Pair {
  readonly key: string;
  readonly value: string;
}

interface QueryParameter extends Pair {
  readonly description: string;
  /** Left out of the call until it is ticked. */
  readonly disabled: boolean;
}

interface PostmanRequest {
  readonly method: string;
  readonly description: string;
  readonly header: readonly Pair[];
  readonly url: {
    readonly raw: string;
    readonly host: readonly string[];
    readonly path: readonly string[];
    readonly query: readonly QueryParameter[];
    readonly variable?: readonly (Pair & { readonly description: string })[];
  };
  readonly body?: { readonly mode: "raw"; readonly raw: string };
}

interface PostmanResponse {
  readonly name: string;
  readonly originalRequest: PostmanRequest;
  readonly status: string;
  readonly code: number;
  readonly _postman_previewlanguage: "json";
  readonly header: readonly Pair[];
  readonly body: string;
}

interface PostmanItem {
  readonly name: string;
  readonly event: readonly {
    readonly listen: "test";
    readonly script: { readonly type: "text/javascript"; readonly exec: readonly string[] };
  }[];
  readonly request: PostmanRequest;
  readonly response: readonly PostmanResponse[];
}

/** The parts of a Postman collection, format 2.1, that are used. */
interface PostmanCollection {
  readonly info: { readonly name: string; readonly description: string; readonly schema: typeof SCHEMA };
  readonly auth: { readonly type: "bearer"; readonly bearer: readonly (Pair & { readonly type: "string" })[] };
  readonly variable: readonly (Pair & { readonly type: "string" })[];
  readonly item: readonly PostmanItem[];
}

function request(operation: Operation): PostmanRequest {
  const { method, query, description, body } = operation;
  const path = operation.path.replace(/\{(\w+)\}$/, ":$1");
  const places = Object.entries(query).filter(([name]) => isInPath(operation, name));
  const inQuery = Object.entries(query).filter(([name]) => !isInPath(operation, name));
  const variable = places.map(([key, { example, description: words }]) => ({ key, value: example, description: words }));
  const parameters = inQuery.map(([key, parameter]) => ({
    key,
    value: parameter.example,
    description: describeParameter(key, parameter),
    disabled: !parameter.required,
  }));
  const sent = parameters.filter(({ disabled }) => !disabled).map(({ key, value }) => `${key}=${value}`);
  return {
    method,
    description,
    header: body === undefined ? [] : [{ key: "Content-Type", value: body.mediaType }],
    url: {
      raw: `{{base}}${path}${sent.length === 0 ? "" : `?${sent.join("&")}`}`,
      host: ["{{base}}"],
      path: path.slice(1).split("/"),
      query: parameters,
      ...(variable.length > 0 && { variable }),
    },
    ...(body === undefined ? {} : { body: { mode: "raw", raw: body.example } }),
  };
}

function response(
  name: string,
  originalRequest: PostmanRequest,
  answer: Pick<RecordedAnswer, "status" | "body">,
): PostmanResponse {
  return {
    name,
    originalRequest,
    status: name,
    code: answer.status,
    _postman_previewlanguage: "json",
    header: [{ key: "Content-Type", value: "application/json; charset=utf-8" }],
    body: JSON.stringify(answer.body, null, 2),
  };
}

function item(operation: Operation): PostmanItem {
  const original = request(operation);
  const refusals = operation.errors.flatMap((id: ErrorId) => {
    const answer = recordedError(id);
    return answer === undefined || httpStatus(id) !== answer.status ? [] : [response(ERRORS[id].title, original, answer)];
  });
  // The bytes of a file say nothing to a reader.
  const shown = operation.file === undefined ? [{ status: 200, body: exampleBody(operation) }] : [];
  const answered = shown.map((answer) => response(operation.summary, original, answer));
  const test = { listen: "test", script: { type: "text/javascript", exec: postmanTests(operation) } } as const;
  return { name: operation.summary, event: [test], request: original, response: [...answered, ...refusals] };
}

/**
 * The REST operations as a Postman collection, each with tests and the sandbox's answers.
 * @param options.base address of the service; its variable `key` is left for the reader
 */
export function postmanCollection({
  base = SAMPLE_BASE,
  brand = DEFAULT_BRAND,
}: {
  base?: string;
  brand?: Brand;
} = {}): PostmanCollection {
  return {
    info: {
      name: `${brand.name} market data`,
      description: "Set the variable `key` of this collection to your API key. The tests of each request hold with any key.",
      schema: SCHEMA,
    },
    auth: { type: "bearer", bearer: [{ key: "token", value: "{{key}}", type: "string" }] },
    variable: [
      { key: "base", value: base, type: "string" },
      { key: "key", value: "", type: "string" },
    ],
    item: OPERATION_LIST.map(item),
  };
}
