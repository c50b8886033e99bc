import { llms } from "fumadocs-core/source";
import { SAMPLE_BASE } from "./sample-words";
import { type DocsPage, docs } from "./source";

const OWN_LINK = /\]\((\/[^)]*)\)/g;
/** A backslash escape of the Markdown printer. Programs take link targets literally, so it is removed. */
const ESCAPE = /\\([!-/:-@[-`{-~])/g;

/** Machine-readable documents, as listed in llms.txt. */
const DOCUMENTS = [
  ["/openapi.json", "OpenAPI", "The REST operations as OpenAPI 3.1."],
  ["/asyncapi.json", "AsyncAPI", "The stream messages as AsyncAPI 3."],
  [
    "/data.json",
    "Coverage",
    "Each instrument of the sandbox with its first and last kline and its missing minutes by year; `?venue=live` where it may be read.",
  ],
  ["/postman.json", "Postman collection", "Every REST call, ready to send."],
] as const;

/** Makes links to pages of this service absolute and appends `ending` to each. */
function absolute(text: string, ending = ""): string {
  return text.replace(OWN_LINK, (_, target: string) => `](${SAMPLE_BASE}${target.replace(ESCAPE, "$1")}${ending})`);
}

/** A page as Markdown. `words` replaces the base URL and demo key in its samples and links. */
export async function pageMarkdown({ data, url }: DocsPage, words: (text: string) => string): Promise<string> {
  const body = (await data.getText("processed")).trim();
  const text = `# ${data.title}\n\n> ${data.description}\n\nPage: ${SAMPLE_BASE}${url}\n\n${body}\n`;
  return words(absolute(text));
}

/** Summary at the top of llms.txt, as llmstxt.org specifies. */
const ABOUT =
  "Self-hosted market data for forex and metals: quotes, snapshots, klines and calendar-aware market status over REST, streams and MCP.";

/** A list of all pages with their descriptions, for programs. Links lead to the Markdown version of each page. */
export function docsIndex(words: (text: string) => string): string {
  const { indexNode } = llms(docs);
  // A group is a heading of the second level, as the format has it; the package prints it as a list item.
  const lines = docs.getPageTree().children.map((node) => (node.type === "separator" ? `\n## ${node.name}\n` : indexNode(node)));
  const index = absolute(lines.join("\n"), ".md");
  const documents = DOCUMENTS.map(([path, name, about]) => `- [${name}](${SAMPLE_BASE}${path}): ${about}`).join("\n");
  return words(`# Spotwire\n\n> ${ABOUT}\n${index}\n\n## Machine-readable documents\n\n${documents}\n`);
}

/** All pages as one text. */
export async function docsFullText(words: (text: string) => string): Promise<string> {
  const texts = await Promise.all(docs.getPages().map((page) => pageMarkdown(page, words)));
  return texts.join("\n---\n\n");
}
