import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  ErrorCode,
  ListResourcesRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type Resource,
} from "@modelcontextprotocol/sdk/types.js";
import { MCP_RESOURCE_MAX_CHARACTERS, MCP_RESOURCES_PER_PAGE_COUNT } from "#lib/contract/limits";

const MARKDOWN = "text/markdown";
const INDEX_PATH = "/llms.txt";
/** A line of the index: title, address of the Markdown, description. */
const INDEX_LINE =
  /^ *- \[(?<title>(?:\\.|[^\]\\])+)\]\((?<uri>https?:\/\/[^)\s]+\/docs[^)\s]*\.md)\)(?:: (?<description>.+))?$/gm;
/** JSON-RPC code of the protocol for a resource that does not exist. */
const RESOURCE_NOT_FOUND = -32_002;
const CURSOR = /^\d{1,6}$/;

/** Reads a shared page of the portal; undefined where there is none. */
export type PageReader = (path: string) => Promise<string | undefined>;

/** The pages of the docs that the index lists, as resources. Their addresses are those that a browser can open. */
export function resourcesOf(index: string): Resource[] {
  return [...index.matchAll(INDEX_LINE)].map(
    ({ groups: { title = "", uri = "", description } = {} as Record<string, string | undefined> }) => ({
      uri,
      name: new URL(uri).pathname.replace(/^\/docs\/?|\.md$/g, "") || "docs",
      title: title.replaceAll(/\\(.)/g, "$1"),
      ...(description !== undefined && { description }),
      mimeType: MARKDOWN,
    }),
  );
}

/** A text that fits into an answer, with where the rest is. */
function shortened(text: string, uri: string): string {
  if (text.length <= MCP_RESOURCE_MAX_CHARACTERS) return text;
  return `${text.slice(0, MCP_RESOURCE_MAX_CHARACTERS)}\n\n… The rest is at ${uri}.\n`;
}

/** Offers the pages of the documentation as resources, in Markdown: a list in pages, and the text of each. */
export function offerDocs(server: Server, read: PageReader): void {
  const list = async () => resourcesOf((await read(INDEX_PATH)) ?? "");

  server.setRequestHandler(ListResourcesRequestSchema, async ({ params: { cursor = "0" } = {} }) => {
    if (!CURSOR.test(cursor)) throw new McpError(ErrorCode.InvalidParams, "The cursor is not one of this service.");
    const resources = await list();
    const end = Number(cursor) + MCP_RESOURCES_PER_PAGE_COUNT;
    return { resources: resources.slice(Number(cursor), end), ...(end < resources.length && { nextCursor: String(end) }) };
  });

  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
    // Only what the list names: any other path would be rendered for each who asks.
    const known = (await list()).some((resource) => resource.uri === uri);
    const text = known ? await read(new URL(uri).pathname) : undefined;
    if (text === undefined) throw new McpError(RESOURCE_NOT_FOUND, `There is no resource ${uri.slice(0, 200)}.`);
    return { contents: [{ uri, mimeType: MARKDOWN, text: shortened(text, uri) }] };
  });
}
