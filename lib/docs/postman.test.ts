import { expect, test } from "vitest";
import { OPERATION_LIST } from "#lib/operations/declarations";
import { importTool } from "#lib/testing/tools";
import { postmanCollection } from "./postman";

interface Values {
  toObject(): Readonly<Record<string, string>>;
}
interface Item {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly url: {
      getPath(): string;
      getHost(): string;
      getQueryString(): string;
      readonly query: { map<Made>(make: (parameter: { key: string; disabled?: boolean }) => Made): Made[] };
    };
    readonly headers: { get(name: string): string | undefined };
    readonly body?: { readonly raw?: string };
  };
  readonly responses: { count(): number; each(visit: (response: { code: number; json(): unknown }) => void): void };
  readonly events: { listeners(name: string): { readonly script: { readonly exec?: readonly string[] } }[] };
}
interface Collection {
  readonly variables: Values;
  readonly auth?: { parameters(): Values };
  forEachItem(visit: (item: Item) => void): void;
}
interface Postman {
  readonly default: { readonly Collection: new (document: object) => Collection };
}
const { default: postman } = await importTool<Postman>("postman-collection");

/** As Postman itself reads the file. */
function read(): { collection: Collection; items: Item[] } {
  const collection = new postman.Collection(
    JSON.parse(JSON.stringify(postmanCollection({ base: "https://market.example.com" }))),
  );
  const items: Item[] = [];
  collection.forEachItem((item) => items.push(item));
  return { collection, items };
}

test("is read by Postman as one request for each operation, at its address", () => {
  const { collection, items } = read();
  const variables = collection.variables.toObject();
  expect(variables).toEqual({ base: "https://market.example.com", key: "" });
  const calls = items.map(({ request }) => `${request.method} ${request.url.getPath()}`);
  expect(calls).toEqual(OPERATION_LIST.map(({ method, path }) => `${method} ${path.replace("{id}", "klines-EURUSD-2026-10")}`));
  expect(items.every(({ request }) => request.url.getHost() === "{{base}}")).toBe(true);
});

test("sends the key, the required parameters, and offers the others", () => {
  const { collection, items } = read();
  expect(collection.auth?.parameters().toObject()).toEqual({ token: "{{key}}" });
  const klines = items.find(({ name }) => name === "Historical klines")?.request;
  expect(klines?.url.getQueryString()).toBe("ticker=EURUSD&timeframe=H1");
  const offered = klines?.url.query.map(({ key, disabled }) => [key, disabled]);
  expect(offered).toEqual([
    ["ticker", false],
    ["timeframe", false],
    ["from", true],
    ["to", true],
    ["limit", true],
    ["price", true],
    ["as_of", true],
    ["format", true],
  ]);
});

test("shows the sandbox's answer and refusals of each", () => {
  for (const { responses } of read().items) {
    expect(responses.count()).toBeGreaterThan(1);
    responses.each((response) => {
      const { code } = response.json() as { code: number };
      expect(Math.floor(code / 100)).toBe(code === 0 ? 0 : response.code);
    });
  }
});

test("tests each answer: its status, and its shape or the reason of the refusal", () => {
  for (const { name, events } of read().items) {
    const script = String(events.listeners("test")[0]?.script.exec?.join("\n"));
    expect(script.match(/pm\.test\(/g), name).toHaveLength(3);
    expect(() => new Function("pm", script), name).not.toThrow();
    expect(script).not.toContain("internal_error");
  }
});

test("carries a body where the operation takes one", () => {
  const push = read().items.find(({ name }) => name === "Push ticks")?.request;
  expect(push?.headers.get("Content-Type")).toBe("application/x-ndjson");
  expect(JSON.parse(push?.body?.raw ?? "")).toMatchObject({ ticker: "EURUSD" });
});
