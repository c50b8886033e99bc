import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { Server } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { MCP_FOUND_PAGES_MAX_COUNT, MCP_RESOURCE_MAX_CHARACTERS, MCP_RESOURCES_PER_PAGE_COUNT } from "#lib/contract/limits";
import { DOCS_TOOLS, offerDocs, type PageReader, resourcesOf } from "./docs";

const INDEX = `# Spotwire

> Market data.

## Start

- [Quickstart](http://a.test/docs/quickstart.md): From nothing to a stream.
- [Documentation](http://a.test/docs.md)
- Operations
  - [GET \\[all\\]](http://a.test/docs/operations/klines.md): Candles: all of them.

## Machine-readable documents

- [OpenAPI](http://a.test/openapi.json): The REST operations.
`;

async function agentOf(read: PageReader): Promise<Client> {
  const server = new Server({ name: "docs", version: "1" }, { capabilities: { resources: {} } });
  offerDocs(server, read);
  const [near, far] = InMemoryTransport.createLinkedPair();
  const agent = new Client({ name: "an agent", version: "1" });
  await Promise.all([server.connect(far), agent.connect(near)]);
  return agent;
}

test("the pages of the index are resources, and other documents are not", () => {
  expect(resourcesOf(INDEX)).toEqual(
    [
      { name: "quickstart", title: "Quickstart", description: "From nothing to a stream." },
      { name: "docs", title: "Documentation" },
      { name: "operations/klines", title: "GET [all]", description: "Candles: all of them." },
    ].map((page) => ({ ...page, uri: expect.stringMatching(/^http:\/\/a\.test\/docs.*\.md$/), mimeType: "text/markdown" })),
  );
});

test("a long list comes in pages, and past its end it is empty", async () => {
  const lines = Array.from({ length: 120 }, (_, index) => `- [P${index}](http://a.test/docs/p${index}.md): x`);
  const agent = await agentOf(async () => lines.join("\n"));
  const first = await agent.listResources({ cursor: "0" });
  expect(first).toMatchObject({ resources: { length: MCP_RESOURCES_PER_PAGE_COUNT }, nextCursor: "50" });
  const last = await agent.listResources({ cursor: "100" });
  expect(last.resources).toHaveLength(20);
  expect(last.nextCursor).toBeUndefined();
  expect((await agent.listResources({ cursor: "999999" })).resources).toEqual([]);
  for (const cursor of ["-1", "1000000", "x", ""]) await expect(agent.listResources({ cursor })).rejects.toThrow(/cursor/);
});

test("a page that is too long is cut, and says where the rest is", async () => {
  const pages: Readonly<Record<string, string>> = { "/llms.txt": INDEX, "/docs/quickstart.md": "x".repeat(90_000) };
  const agent = await agentOf(async (path) => pages[path]);
  const uri = "http://a.test/docs/quickstart.md";
  const { contents } = await agent.readResource({ uri });
  const text = String((contents[0] as { text?: string }).text);
  expect(text).toBe(`${"x".repeat(MCP_RESOURCE_MAX_CHARACTERS)}\n\n… The rest is at ${uri}.\n`);
});

test("only listed pages are read, and a node without pages has none", async () => {
  const asked: string[] = [];
  const agent = await agentOf(async (path) => {
    asked.push(path);
    return path === "/llms.txt" ? INDEX : undefined;
  });
  for (const uri of [
    "http://a.test/docs/nothing.md",
    "http://b.test/docs/quickstart.md",
    "file:///etc/passwd",
    "http://a.test/docs.md",
  ])
    await expect(agent.readResource({ uri })).rejects.toMatchObject({ code: -32_602 });
  expect(new Set(asked)).toEqual(new Set(["/llms.txt", "/docs.md"]));
  expect((await (await agentOf(async () => undefined)).listResources()).resources).toEqual([]);
});

test("pages are found by words of their title, URL and description, the best first", async () => {
  const [search] = DOCS_TOOLS;
  const found = (query: string) => search?.answer(query, async () => INDEX);
  expect(await found("candles")).toBe("- [GET [all]](http://a.test/docs/operations/klines.md): Candles: all of them.");
  expect(await found("the Quickstart, from nothing")).toMatch(/^- \[Quickstart\]/);
  expect(await found("weather")).toMatch(/^No page/);
  const many = Array.from({ length: 120 }, (_, page) => `- [P${page}](http://a.test/docs/p${page}.md): page`).join("\n");
  expect((await search?.answer("page", async () => many))?.split("\n")).toHaveLength(MCP_FOUND_PAGES_MAX_COUNT);
});
