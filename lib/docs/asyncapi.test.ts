import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { GET } from "#app/asyncapi.json/route";
import { afterClose, CLOSES, PROTOCOL_CLOSES } from "#lib/contract/close-codes";
import * as limits from "#lib/contract/limits";
import { ClientMessage, METHOD_PARAMS, SERVER_MESSAGES, STREAM_METHODS, type StreamMethod } from "#lib/contract/stream";
import { createSchemaProblems } from "#lib/testing/schema-problems";
import { importTool } from "#lib/testing/tools";
import { asyncApiDocument, asyncApiText } from "./asyncapi";
import { breakingStreamChanges } from "./asyncapi-breaking";
import { withNamedParts } from "./asyncapi-names";
import type { AsyncApiDocument, AsyncApiMessage } from "./asyncapi-types";
import type { JsonSchema } from "./json-schema";
import type { Reference } from "./openapi-types";

const published = readFileSync(new URL("./v1/asyncapi.json", import.meta.url), "utf8");
const document = asyncApiDocument();

/** What a reference inside the document points to; undefined where it points to nothing. */
function resolve({ $ref }: Reference): unknown {
  return $ref
    .slice("#/".length)
    .split("/")
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);
}

/** A message, through the reference of an operation to its channel and from there to the components. */
function messageAt(reference: Reference): AsyncApiMessage {
  const found = resolve(reference) as AsyncApiMessage | Reference;
  return "$ref" in found ? messageAt(found) : found;
}

/** Where a parsed document has a type that generators would call AnonymousSchema. */
function unnamedTypes(value: unknown, at = "", seen = new Set<unknown>()): string[] {
  if (typeof value !== "object" || value === null || seen.has(value)) return [];
  seen.add(value);
  const schema = value as JsonSchema & { "x-parser-schema-id"?: string };
  const isType =
    schema.type === "object" ||
    [schema.anyOf, schema.oneOf, schema.allOf].some((parts) => parts !== undefined) ||
    (schema.enum?.length ?? 0) > 1;
  const unnamed = isType && schema["x-parser-schema-id"]?.startsWith("<anonymous") === true;
  return [
    ...(unnamed ? [at] : []),
    ...Object.entries(value).flatMap(([key, inner]) => unnamedTypes(inner, `${at}/${key}`, seen)),
  ];
}

interface AsyncApiParser {
  readonly Parser: new () => {
    parse(text: string): Promise<{
      readonly document?: { version(): string; json(): unknown };
      readonly diagnostics: readonly { readonly code: string | number; readonly message: string }[];
    }>;
  };
}
const { Parser } = await importTool<AsyncApiParser>("@asyncapi/parser");

// Its rules are compiled at the first document, which takes longer than all that follows.
const parser = new Parser();
/** The document of the contract, as tools read it. */
const parsing = parser.parse(asyncApiText());

const ajv = new Ajv({ strict: false, allErrors: true });
/** Problems of a value with a schema of the document, read as draft-07. */
const problems = createSchemaProblems(ajv, (schema) => ({ components: document.components, allOf: [schema] }));

const operationsOf = (channel: string, action: string) =>
  Object.values(document.operations).filter(
    (operation) => operation.action === action && operation.channel.$ref === `#/channels/${channel}`,
  );
const names = (references: readonly Reference[]) => references.map((reference) => messageAt(reference).name);

describe("the document", () => {
  test("breaks no client of the published v1", () => {
    expect(breakingStreamChanges(JSON.parse(published) as AsyncApiDocument, document)).toEqual([]);
  });

  test("is valid AsyncAPI 3.0 without a warning", async () => {
    const { document: parsed, diagnostics } = await parsing;
    expect(parsed?.version()).toBe("3.0.0");
    // The one hint is on purpose: most tools read 3.0.
    expect(diagnostics.filter(({ code }) => code !== "asyncapi-latest-version")).toEqual([]);
  });

  test("has names for all that generators make types of", async () => {
    expect(unnamedTypes((await parsing).document?.json())).toEqual([]);
    const { payload } = document.components.messages.QuoteMessage ?? {};
    const unnamed = { ...document, components: { ...document.components, schemas: { ...document.components.schemas } } };
    unnamed.components.schemas.QuoteMessage = { type: "object", properties: { data: { type: "object", properties: {} } } };
    expect(payload).toEqual({ $ref: "#/components/schemas/QuoteMessage" });
    expect(unnamedTypes((await parser.parse(JSON.stringify(unnamed))).document?.json())).not.toEqual([]);
  });

  test("never gives two schemas one name", () => {
    const quote: JsonSchema = { type: "object", properties: { side: { type: "object" } } };
    expect(Object.keys(withNamedParts({ Quote: quote }))).toEqual(["Quote", "QuoteSide"]);
    expect(() => withNamedParts({ Quote: quote, QuoteSide: { type: "string" } })).toThrow("Two schemas are called QuoteSide.");
  });

  test("is refused by the same check when it is broken", async () => {
    const broken = asyncApiText().replace('"#/components/schemas/QuoteMessage"', '"#/components/schemas/Nowhere"');
    const { diagnostics } = await parser.parse(broken);
    expect(diagnostics.map(({ code }) => code)).toContain("invalid-ref");
  });

  test("has every reference it uses", () => {
    const references = [...asyncApiText().matchAll(/"\$ref": "([^"]+)"/g)].map(([, $ref = ""]) => $ref);
    expect(references.length).toBeGreaterThan(100);
    expect(references.filter(($ref) => resolve({ $ref }) === undefined)).toEqual([]);
  });

  test("leaves every object open, so that a later field breaks no client", () => {
    expect(asyncApiText()).not.toContain('"additionalProperties": false');
  });

  test("takes another host when it is given one", () => {
    const { servers } = asyncApiDocument({ host: "data.example.com" });
    expect(Object.values(servers).map(({ variables }) => variables.host?.default)).toEqual([
      "data.example.com",
      "data.example.com",
    ]);
  });
});

describe.each(["stream", "socketIo"])("the channel %s", (channel) => {
  test("receives every method and answers each with its own ack or an error", () => {
    const received = operationsOf(channel, "receive");
    expect(received.flatMap(({ messages }) => names(messages))).toEqual([...STREAM_METHODS]);
    for (const { messages, reply } of received) {
      expect(names(reply?.messages ?? [])).toEqual(["ack", "error"]);
      const ack = messageAt(reply?.messages[0] ?? { $ref: "" });
      expect(ack.examples[0]?.payload).toMatchObject({ method: names(messages)[0] });
    }
  });

  test("sends every type of message of the contract", () => {
    const sent = operationsOf(channel, "send").flatMap(({ messages }) => names(messages));
    expect(new Set([...sent, "ack"])).toEqual(new Set(Object.keys(SERVER_MESSAGES)));
  });

  test("has a server that names how to authenticate", () => {
    const servers = document.channels[channel]?.servers.map((reference) => resolve(reference)) as { security: Reference[] }[];
    expect(servers).toHaveLength(1);
    for (const scheme of servers[0]?.security ?? []) expect(resolve(scheme)).toMatchObject({ "x-scope": "market:stream" });
  });
});

/** What the contract makes of a message's example: the same value where it is right. */
function readByContract(id: string, { name }: AsyncApiMessage, payload: unknown): unknown {
  if (id.endsWith("Event")) return METHOD_PARAMS[name as StreamMethod].parse(payload);
  if (STREAM_METHODS.includes(name as StreamMethod)) return ClientMessage.parse(payload);
  return SERVER_MESSAGES[name as keyof typeof SERVER_MESSAGES].parse(payload);
}

describe.each(Object.entries(document.components.messages))("the message %s", (id, message) => {
  test("is described in words", () => {
    for (const words of [message.title, message.summary, message.description]) expect(words).toMatch(/\w/);
  });

  test("shows examples that its schema and the contract accept, with a field added too", () => {
    expect(message.examples).not.toEqual([]);
    for (const { payload } of message.examples) {
      expect(problems(message.payload, payload)).toEqual([]);
      expect(problems(message.payload, { ...(payload as object), added: true })).toEqual([]);
      expect(readByContract(id, message, payload)).toEqual(payload);
    }
  });

  test("has a schema that refuses something else", () => {
    expect(problems(message.payload, [])).not.toEqual([]);
  });
});

describe("a message that only differs in its type", () => {
  test("is refused by the schema of another", () => {
    const { QuoteMessage, SnapshotMessage } = document.components.messages;
    expect(problems(SnapshotMessage?.payload ?? {}, QuoteMessage?.examples[0]?.payload)).not.toEqual([]);
  });
});

describe("the document tells", () => {
  test("every number of the contract about streams", () => {
    const expected = Object.entries(limits).flatMap(([name, value]) =>
      name.startsWith("STREAM_") ? [[name.slice("STREAM_".length).toLowerCase(), value]] : [],
    );
    const documented = Object.entries(document["x-limits"]).map(([name, { value }]) => [name, value]);
    expect(documented.sort()).toEqual(expected.sort());
    for (const [name, value] of documented) expect(document.info.description).toContain(`| \`${name}\` | ${value} |`);
  });

  test("every close code of the contract, and whether to come back", () => {
    const expected = [...Object.values(CLOSES).map(({ code }) => code), ...Object.keys(PROTOCOL_CLOSES).map(Number)];
    const documented = document["x-close-codes"];
    expect(documented.map(({ code }) => code)).toEqual(expected.sort((a, b) => a - b));
    for (const { code, after } of documented) {
      expect(after).toBe(afterClose(code));
      expect(document.info.description).toMatch(new RegExp(`^\\| ${code} \\| .* \\| ${after} \\|`, "m"));
    }
  });
});

describe("/asyncapi.json", () => {
  const ask = (headers: Record<string, string> = {}) => GET(new Request("http://localhost/asyncapi.json", { headers }));

  test("answers the document to every origin", async () => {
    const response = ask();
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(await response.text()).toBe(asyncApiText());
  });

  test("answers 304 to a reader whose copy is current, and whole to one whose copy is old", () => {
    expect(ask({ "if-none-match": ask().headers.get("etag") ?? "" }).status).toBe(304);
    expect(ask({ "if-none-match": '"old"' }).status).toBe(200);
  });
});
