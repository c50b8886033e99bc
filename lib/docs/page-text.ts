import { NAME_MARK } from "#lib/brand";
import { SAMPLE_BASE } from "./sample-words";
import { CONNECT } from "./skill";
import { type Docs, type DocsPage, indexNode } from "./source";

const OWN_LINK = /\]\((\/[^)]*)\)/g;
/** A whole one, whose words are not in brackets themselves. */
const DOCS_LINK = /\[([^[\]]*)\]\((\/docs\/[^)]*)\)/g;
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
  ["/skill.md", "Skill file", "How an agent uses this service, in one page to keep."],
  ["/.well-known/api-catalog", "API catalog", "The interfaces and their documents as a link set (RFC 9727)."],
  ["/postman.json", "Postman collection", "Every REST call, ready to send."],
] as const;

/** Makes links to pages of this service absolute and appends `ending` to each. */
function absolute(text: string, ending = ""): string {
  return text.replace(OWN_LINK, (_, target: string) => `](${SAMPLE_BASE}${target.replace(ESCAPE, "$1")}${ending})`);
}

/** A page as Markdown. `words` replaces the base URL and demo key in its samples and links. */
export async function pageMarkdown(
  { data, url }: DocsPage,
  { isHidden }: Pick<Docs, "isHidden">,
  words: (text: string) => string,
): Promise<string> {
  const linked = (await data.getText("processed")).trim();
  // Of a link to a page that is not shown, its words stay.
  const body = linked.replace(DOCS_LINK, (link, label: string, target: string) =>
    isHidden(target.replace(ESCAPE, "$1")) ? label : link,
  );
  const text = `# ${data.title}\n\n> ${data.description}\n\nPage: ${SAMPLE_BASE}${url}\n\n${body}\n`;
  return words(absolute(text));
}

/** Summary at the top of llms.txt, as llmstxt.org specifies. */
const ABOUT =
  "Market data for forex and metals: quotes, snapshots, klines and calendar-aware market status over REST, streams and MCP.";

/** A list of all pages with their descriptions, for programs. Links lead to the Markdown version of each page. */
export function docsIndex({ tree }: Pick<Docs, "tree">, words: (text: string) => string): string {
  // A group is a heading of the second level, as the format has it; the package prints it as a list item.
  const lines = tree.children.map((node) => (node.type === "separator" ? `\n## ${node.name}\n` : indexNode(node)));
  const index = absolute(lines.join("\n"), ".md");
  const documents = DOCUMENTS.map(([path, name, about]) => `- [${name}](${SAMPLE_BASE}${path}): ${about}`).join("\n");
  return words(`# ${NAME_MARK}\n\n> ${ABOUT}\n\n${CONNECT}\n${index}\n\n## Machine-readable documents\n\n${documents}\n`);
}

/** All pages as one text. */
export async function docsFullText(docs: Docs, words: (text: string) => string): Promise<string> {
  const texts = await Promise.all(docs.pages.map((page) => pageMarkdown(page, docs, words)));
  return texts.join("\n---\n\n");
}
