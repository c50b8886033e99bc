import { describe, expect, test } from "vitest";
import { breakingChanges } from "./breaking";
import type { JsonSchema } from "./json-schema";
import { openApiDocument } from "./openapi";
import type { OpenApiDocument, OpenApiOperation, OpenApiParameter } from "./openapi-types";

const KLINES = "/api/v1/market/klines";
const QUOTES = "/api/v1/market/quotes/latest";
const INGEST = "/api/v1/ingest/ticks";

/** Throws where a path into the document is wrong, so that a case cannot pass by changing nothing. */
function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("not in the document");
  return value;
}

const get = (document: OpenApiDocument, path: string): OpenApiOperation => found(document.paths[path]?.get);
const schema = (document: OpenApiDocument, id: string): JsonSchema => found(document.components.schemas[id]);
const field = (document: OpenApiDocument, id: string, name: string): JsonSchema => found(schema(document, id).properties?.[name]);

function parameter(document: OpenApiDocument, path: string, name: string): OpenApiParameter {
  const all = get(document, path).parameters;
  return found(all.find((entry): entry is OpenApiParameter => "name" in entry && entry.name === name));
}

const today = openApiDocument();

/** The breaks that one change of today's document makes. */
function breaksOf(change: (document: OpenApiDocument) => void): string[] {
  const changed = structuredClone(today);
  change(changed);
  return breakingChanges(today, changed);
}

const BREAKS: Record<string, [change: (document: OpenApiDocument) => void, sentence: RegExp]> = {
  "a removed path": [(d) => delete d.paths[KLINES], /klines: path was removed/],
  "a removed operation": [(d) => delete found(d.paths[KLINES]).get, /GET .*klines: operation was removed/],
  "a renamed operation": [(d) => Object.assign(get(d, KLINES), { operationId: "candles" }), /renamed to candles/],
  "a removed parameter": [(d) => get(d, KLINES).parameters.splice(4, 1), /query limit: parameter was removed/],
  "a new required parameter": [
    (d) => get(d, KLINES).parameters.push({ name: "side", in: "query", description: "", required: true, schema: {} }),
    /query side: is required now/,
  ],
  "an optional parameter that is required now": [
    (d) => Object.assign(parameter(d, KLINES, "from"), { required: true }),
    /from: is req/,
  ],
  "a list written differently": [(d) => Object.assign(parameter(d, QUOTES, "tickers"), { explode: true }), /written differently/],
  "a lowered limit": [
    (d) => Object.assign(parameter(d, KLINES, "limit").schema, { maximum: 1000 }),
    /maximum was lowered to 1000/,
  ],
  "a raised minimum": [(d) => Object.assign(parameter(d, KLINES, "limit").schema, { minimum: 2 }), /minimum was raised to 2/],
  "fewer elements of a list": [
    (d) => Object.assign(parameter(d, QUOTES, "tickers").schema, { maxItems: 50 }),
    /maxItems was lowered/,
  ],
  "a changed pattern": [(d) => Object.assign(schema(d, "Ticker"), { pattern: "^[A-Z]{6}$" }), /pattern was changed/],
  "a parameter of another type": [
    (d) => Object.assign(parameter(d, KLINES, "from"), { schema: { type: "string" } }),
    /type integer is no/,
  ],
  "a parameter that takes only some values now": [
    (d) => Object.assign(parameter(d, KLINES, "limit"), { schema: { type: "integer", enum: [500] } }),
    /only certain values/,
  ],
  "a removed field": [(d) => delete schema(d, "Quote").properties?.mid, /\.mid: field was removed/],
  "a field that may be absent now": [
    (d) => found(schema(d, "Quote").required).splice(found(schema(d, "Quote").required).indexOf("mid"), 1),
    /\.mid: is no longer always present/,
  ],
  "a field of another type": [
    (d) => Object.assign(field(d, "Quote", "bid"), { type: "string" }),
    /bid: type number is no longer/,
  ],
  "a field that may be null now": [
    (d) => Object.assign(field(d, "Quote", "bid"), { type: ["number", "null"] }),
    /type null is new/,
  ],
  "a null that is never answered any more": [
    (d) => Object.assign(field(d, "Kline", "real_volume"), { type: "number" }),
    /type null is no/,
  ],
  "a removed value of an enumeration": [(d) => schema(d, "Timeframe").enum?.pop(), /value "MN1" was removed/],
  "a changed constant": [(d) => Object.assign(field(d, "Kline", "type"), { const: "bar" }), /value "kline" was removed/],
  "a removed response code": [(d) => delete get(d, QUOTES).responses[503], /503: response was removed/],
  "a removed header": [(d) => delete get(d, KLINES).responses[200]?.headers?.ETag, /header ETag was removed/],
  "another media type": [
    (d) => delete get(d, KLINES).responses[200]?.content?.["application/json"],
    /application\/json was removed/,
  ],
  "another scope": [
    (d) => Object.assign(get(d, KLINES), { security: [{ apiKey: ["market:history"] }] }),
    /scope market:history is req/,
  ],
  "another scope of a bearer key": [
    (d) => Object.assign(get(d, KLINES), { "x-scope": "market:history" }),
    /scope market:history is req/,
  ],
  "an error that an operation no longer returns": [
    (d) => field(d, "KlinesFailure", "message").enum?.shift(),
    /value "invalid_parameter" was removed/,
  ],
  "a new required field of a pushed line": [(d) => schema(d, "TickLine").required?.push("side"), /line\.side: is required now/],
  "a body that is required now": [
    (d) => Object.assign(get(d, KLINES), { requestBody: { description: "", required: true, content: {} } }),
    /body: is required now/,
  ],
};

const ADDITIONS: Record<string, (document: OpenApiDocument) => void> = {
  nothing: () => {},
  "a new path": (d) => Object.assign(d.paths, { "/api/v1/market/depth": d.paths[KLINES] }),
  "a new optional parameter": (d) => get(d, KLINES).parameters.push({ name: "side", in: "query", description: "", schema: {} }),
  "a required parameter that may be left out now": (d) => Object.assign(parameter(d, QUOTES, "tickers"), { required: false }),
  "a raised limit": (d) => Object.assign(parameter(d, KLINES, "limit").schema, { maximum: 10_000 }),
  "a parameter of a wider type": (d) => Object.assign(parameter(d, KLINES, "limit").schema, { type: ["integer", "string"] }),
  "a new field": (d) => Object.assign(found(schema(d, "Quote").properties), { side: { type: "string" } }),
  "a field that is always present now": (d) => schema(d, "FailureData").required?.push("parameter"),
  "a new value of an enumeration": (d) => schema(d, "AssetClass").enum?.push("crypto"),
  "a list of the values that a field always had": (d) => Object.assign(field(d, "Kline", "ticker"), { enum: ["EURUSD"] }),
  "a new error of an operation": (d) => field(d, "KlinesFailure", "message").enum?.push("not_found"),
  "a new response code": (d) => Object.assign(get(d, KLINES).responses, { 451: { description: "" } }),
  "a new optional field of a pushed line": (d) =>
    Object.assign(found(schema(d, "TickLine").properties), { side: { type: "string" } }),
  "other words": (d) => Object.assign(get(d, KLINES), { summary: "Candles", description: "History." }),
};

describe("a change breaks v1 when it is", () => {
  test.each(Object.entries(BREAKS))("%s", (_, [change, sentence]) => {
    const breaks = breaksOf(change);
    expect(breaks.join("\n")).toMatch(sentence);
  });

  test("a removed ingest body format", () => {
    expect(breaksOf((d) => delete found(d.paths[INGEST]?.post?.requestBody).content["application/x-ndjson"])).toEqual([
      `POST ${INGEST} body: application/x-ndjson was removed`,
    ]);
  });
});

describe("a change leaves v1 whole when it is", () => {
  test.each(Object.entries(ADDITIONS))("%s", (_, change) => {
    expect(breaksOf(change)).toEqual([]);
  });
});
