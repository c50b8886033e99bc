import { Collection, type Item } from "postman-collection";
import { expect, test } from "vitest";
import { OPERATION_LIST } from "#lib/contract/operations";
import { postmanCollection } from "./postman";

/** As Postman itself reads the file. */
function read(): { collection: Collection; items: Item[] } {
  const collection = new Collection(JSON.parse(JSON.stringify(postmanCollection({ base: "https://market.example.com" }))));
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
