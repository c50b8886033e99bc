import {
  ProtocolError,
  ProtocolErrorCode,
  type Resource,
  ResourceNotFoundError,
  type Server,
} from "@modelcontextprotocol/server";
import {
  MCP_FOUND_PAGES_MAX_COUNT,
  MCP_QUERY_MAX_CHARACTERS,
  MCP_RESOURCE_MAX_CHARACTERS,
  MCP_RESOURCES_PER_PAGE_COUNT,
} from "#lib/contract/limits";
import type { OwnTool } from "./tools";

const MARKDOWN = "text/markdown";
const INDEX_PATH = "/llms.txt";
/** A line of the index: title, URL of the Markdown, description. */
const INDEX_LINE =
  /^ *- \[(?<title>(?:\\.|[^\]\\])+)\]\((?<uri>https?:\/\/[^)\s]+\/docs[^)\s]*\.md)\)(?:: (?<description>.+))?$/gm;
const CURSOR = /^\d{1,6}$/;
const WORD = /[\p{L}\p{N}]+/gu;
/** The longest URL that a refusal repeats. */
const SHOWN_URL_CHARACTERS = 200;

/** Reads a shared page of the portal; undefined where there is none. */
export type PageReader = (path: string) => Promise<string | undefined>;

/** The pages of the docs that the index lists, as resources. Their URLs are those that a browser can open. */
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

const list = async (read: PageReader) => resourcesOf((await read(INDEX_PATH)) ?? "");

/** The text of a page that the list names; undefined for any other, which would be rendered for each who asks. */
async function textOf(uri: string, read: PageReader): Promise<string | undefined> {
  const known = (await list(read)).some((resource) => resource.uri === uri);
  const text = known ? await read(new URL(uri).pathname) : undefined;
  return text && shortened(text, uri);
}

/** Offers the pages of the documentation as resources, in Markdown: a list in pages, and the text of each. */
export function offerDocs(server: Server, read: PageReader): void {
  server.setRequestHandler("resources/list", async ({ params: { cursor = "0" } = {} }) => {
    if (!CURSOR.test(cursor)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "The cursor is not one of this service.");
    const resources = await list(read);
    const end = Number(cursor) + MCP_RESOURCES_PER_PAGE_COUNT;
    return { resources: resources.slice(Number(cursor), end), ...(end < resources.length && { nextCursor: String(end) }) };
  });

  server.setRequestHandler("resources/read", async ({ params: { uri } }) => {
    const text = await textOf(uri, read);
    if (text === undefined) throw new ResourceNotFoundError(uri.slice(0, SHOWN_URL_CHARACTERS));
    return { contents: [{ uri, mimeType: MARKDOWN, text }] };
  });
}

const wordsOf = (text: string) => text.toLowerCase().match(WORD) ?? [];

/** The pages whose title, URL and description have most words of a question, best first. */
function found(resources: readonly Resource[], query: string): Resource[] {
  const words = new Set(wordsOf(query));
  return resources
    .map((page) => {
      const text = wordsOf(`${page.title} ${page.name} ${page.description ?? ""}`);
      return { page, score: [...words].filter((word) => text.some((other) => other.startsWith(word))).length };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MCP_FOUND_PAGES_MAX_COUNT)
    .map(({ page }) => page);
}

/** The documentation as tools, for hosts that do not show resources to their model. They need no key. */
export const DOCS_TOOLS: readonly OwnTool<PageReader>[] = [
  {
    name: "searchDocs",
    title: "Search the documentation",
    description: "Finds pages of this service's documentation by words. Read one with `readDocs`.",
    argument: {
      name: "query",
      description: "Words to look for, for example `rate limits`.",
      maxCharacters: MCP_QUERY_MAX_CHARACTERS,
    },
    async answer(query, read) {
      const pages = found(await list(read), query);
      if (pages.length === 0) return "No page has these words. Try fewer, or other ones.";
      return pages.map(({ title, uri, description = "" }) => `- [${title}](${uri}): ${description}`).join("\n");
    },
  },
  {
    name: "readDocs",
    title: "Read the documentation",
    description: "Returns a page of this service's documentation as Markdown.",
    argument: { name: "url", description: "URL of a page, as `searchDocs` returns it.", maxCharacters: MCP_QUERY_MAX_CHARACTERS },
    answer: textOf,
  },
];
