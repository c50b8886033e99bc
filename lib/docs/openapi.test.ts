import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020";
import { describe, expect, test } from "vitest";
import { failureExample } from "#lib/contract/envelope";
import { ERROR_IDS, ERRORS, httpStatus } from "#lib/contract/errors";
import { linkOperation, REST_CALLS } from "#lib/operations/link/declaration";
import { createSchemaProblems } from "#lib/testing/schema-problems";
import { asyncApiDocument } from "./asyncapi";
import { breakingChanges } from "./breaking";
import { asyncApiResponse, openApiResponse } from "./document-response";
import { openApiDocument, openApiText } from "./openapi";
import type { OpenApiDocument, OpenApiOperation, OpenApiParameter } from "./openapi-types";

const published = readFileSync(new URL("./v1/openapi.json", import.meta.url), "utf8");
const document = openApiDocument();

function operationOf(id: string): OpenApiOperation {
  const found = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .find((candidate) => candidate.operationId === id);
  if (found === undefined) throw new Error(`${id} is not in the document`);
  return found;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
const problems = createSchemaProblems(ajv, (schema) => ({ components: document.components, ...schema }));
const FAILURE = { $ref: "#/components/schemas/Failure" };

describe("the OpenAPI document", () => {
  test("breaks no client of the published v1", () => {
    expect(breakingChanges(JSON.parse(published) as OpenApiDocument, document)).toEqual([]);
  });

  test("is valid OpenAPI 3.1", async () => {
    const openapi = new Validator();
    const result = await openapi.validate(JSON.parse(openApiText()));
    expect(result.errors ?? []).toEqual([]);
    expect(openapi.version).toBe("3.1");
  });

  test("has every reference it uses", () => {
    for (const [, path] of openApiText().matchAll(/"\$ref": "#\/([^"]+)"/g)) {
      const target = path
        ?.split("/")
        .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);
      expect(target, `#/${path}`).toBeDefined();
    }
  });

  test("leaves every object open, so that a later field breaks no client", () => {
    expect(openApiText()).not.toContain('"additionalProperties": false');
  });

  test("takes another server address when it is given one", () => {
    expect(openApiDocument({ serverUrl: "https://data.example.com" }).servers).toEqual([{ url: "https://data.example.com" }]);
  });
});

describe.each(REST_CALLS)("$id", (operation) => {
  const documented = operationOf(operation.id);
  const content = documented.responses[200]?.content?.["application/json"];

  test("stands under its method and path, with the scope it needs", () => {
    expect(document.paths[operation.path]?.[operation.method.toLowerCase()]).toBe(documented);
    expect(documented.security).toEqual(operation.id === linkOperation.id ? [] : [{ apiKey: [] }]);
    expect(documented["x-scope"]).toBe(operation.scope);
  });

  test("shows an answer that its own schema accepts, with a field added too", () => {
    if (operation.file !== undefined) {
      for (const status of [200, 206])
        expect(documented.responses[status]?.content?.[operation.file.mediaType]?.schema.format).toBe("binary");
      expect(documented.responses[416]?.headers).toHaveProperty("Content-Range");
      return;
    }
    expect(content?.schema).toBeDefined();
    expect(problems(content?.schema ?? {}, content?.example)).toEqual([]);
    expect(problems(content?.schema ?? {}, { ...(content?.example as object), added: true })).toEqual([]);
    expect(problems(content?.schema ?? {}, { code: 0, message: "success", data: 1 })).not.toEqual([]);
  });

  test("shows a value for each query parameter that its schema accepts", () => {
    const queries = documented.parameters.filter((entry): entry is OpenApiParameter => "in" in entry && entry.in !== "header");
    expect(queries.map(({ name }) => name)).toEqual(Object.keys(operation.query));
    for (const { name, schema, example } of queries) expect(problems(schema, example), name).toEqual([]);
  });

  test("declares each of its errors under its status, with an example", () => {
    for (const id of operation.errors) {
      const failed = documented.responses[httpStatus(id)];
      expect(failed?.headers).toHaveProperty("X-Request-Id");
      expect(failed?.content?.["application/json"]?.examples?.[id]).toEqual({ $ref: `#/components/examples/${id}` });
    }
  });
});

const RETURNED = ERROR_IDS.filter((id) => REST_CALLS.some(({ errors }) => errors.includes(id)));

describe("the document", () => {
  test.each(RETURNED)(
    "has an example of %s that the failure schemas of its operations accept, and those of others refuse",
    (id) => {
      const example = document.components.examples[id];
      expect(example?.value).toMatchObject({ code: ERRORS[id].code, message: id });
      expect(problems(FAILURE, example?.value)).toEqual([]);
      for (const operation of REST_CALLS) {
        const { responses } = operationOf(operation.id);
        const schemas = Object.entries(responses).flatMap(([status, { content }]) => (/^[45]/.test(status) ? [content] : []));
        expect(schemas.length).toBeGreaterThan(4);
        for (const content of schemas) {
          const found = problems(content?.["application/json"]?.schema ?? {}, example?.value);
          expect(found?.length === 0, operation.id).toBe(operation.errors.includes(id));
        }
      }
    },
  );

  test("describes errors that are added later, and no success, as a failure too", () => {
    const schema = operationOf("klines").responses.default?.content?.["application/json"]?.schema ?? {};
    for (const id of ERROR_IDS) expect(problems(schema, failureExample(id))).toEqual([]);
    expect(problems(schema, { ...failureExample("not_found"), code: 0 })).not.toEqual([]);
  });

  test("shows examples of the errors that an operation returns, and no others", () =>
    expect(Object.keys(document.components.examples)).toEqual(RETURNED));

  test("writes a list of tickers as one comma-separated value", () => {
    const tickers = operationOf("latestQuotes").parameters.find((entry) => "name" in entry && entry.name === "tickers");
    expect(tickers).toMatchObject({ style: "form", explode: false, schema: { type: "array", maxItems: 100 } });
  });

  test("shows the instant of market status as it is written in a URL", () => {
    const at = operationOf("marketStatus").parameters.find((entry) => "name" in entry && entry.name === "at");
    expect(at).toMatchObject({ schema: { type: "string", format: "date-time" } });
  });

  test("describes one line of a pushed batch", () => {
    const media = operationOf("ingestTicks").requestBody?.content["application/x-ndjson"];
    expect(problems(media?.["x-itemSchema"] ?? {}, JSON.parse(String(media?.example)))).toEqual([]);
    expect(problems(media?.["x-itemSchema"] ?? {}, { ticker: "EUR/USD" })).not.toEqual([]);
  });
});

describe("/openapi.json", () => {
  test("answers the document to every origin", async () => {
    const response = openApiResponse();
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(await response.text()).toBe(openApiText());
  });

  test.each(["{tag}", "W/{tag}", '"other", {tag}', "*"])("answers 304 to a reader whose copy is current (%s)", async (form) => {
    const tag = openApiResponse().headers.get("etag") ?? "";
    const request = new Request("http://localhost/openapi.json", { headers: { "if-none-match": form.replace("{tag}", tag) } });
    const response = openApiResponse(request);
    expect(response.status).toBe(304);
    expect(await response.text()).toBe("");
  });

  test.each([
    [{ host: "prices.example.com" }, "http://prices.example.com"],
    [{ host: "prices.example.com", "x-forwarded-proto": "https" }, "https://prices.example.com"],
    [{ host: "[::1]:3000" }, "http://[::1]:3000"],
    [{ host: 'evil", "x": "' }, "/"],
    [{ host: "1.2.3.999" }, "/"],
    [{ host: "prices.example.com:70000" }, "/"],
    [{}, "/"],
  ])("names the server it was fetched from (%j)", async (headers, url) => {
    const ask = () => openApiResponse(new Request("http://internal/openapi.json", { headers }));
    const { servers, ...rest } = await ask().json();
    expect(servers).toEqual([{ url }]);
    expect(rest).toEqual(JSON.parse(JSON.stringify({ ...openApiDocument(), servers: undefined })));
    expect(ask().headers.get("cache-control")).toBe("private, max-age=300");
  });

  test("is AsyncAPI for streams, with the host and the protocol it was fetched by", async () => {
    const ask = (headers: Record<string, string>) =>
      asyncApiResponse(new Request("http://internal/asyncapi.json", { headers })).json();
    const plain = asyncApiDocument({ host: "localhost:4000" });
    const { websocket, ...other } = plain.servers;
    expect(await ask({ host: "localhost:4000" })).toEqual(
      JSON.parse(JSON.stringify({ ...plain, servers: { ...other, websocket: { ...websocket, protocol: "ws" } } })),
    );
    const secure = asyncApiDocument({ host: "prices.example.com" });
    expect(await ask({ host: "prices.example.com", "x-forwarded-proto": "https" })).toEqual(JSON.parse(JSON.stringify(secure)));
  });

  test("answers whole to a reader whose copy is old", () => {
    const request = new Request("http://localhost/openapi.json", { headers: { "if-none-match": '"old"' } });
    expect(openApiResponse(request).status).toBe(200);
  });
});
