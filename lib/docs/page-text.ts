import { llms } from "fumadocs-core/source";
import { SAMPLE_BASE } from "./sample-words";
import { type DocsPage, docs } from "./source";

const OWN_LINK = /\]\((\/[^)]*)\)/g;
/** What the printer of Markdown puts before a mark; programs take a target to the letter. */
const ESCAPE = /\\([!-/:-@[-`{-~])/g;

/** The documents for programs, in the list of pages. */
const DOCUMENTS = [
  ["/openapi.json", "OpenAPI", "The REST operations as OpenAPI 3.1."],
  ["/asyncapi.json", "AsyncAPI", "The stream's messages as AsyncAPI 3."],
  ["/postman.json", "Postman collection", "Every REST call, ready to be sent."],
] as const;

/** Links to pages of this service, with its address: `ending` is put behind each. */
function absolute(text: string, ending = ""): string {
  return text.replace(OWN_LINK, (_, target: string) => `](${SAMPLE_BASE}${target.replace(ESCAPE, "$1")}${ending})`);
}

/** A page as Markdown. `words` puts the address and the key of the reader into its samples and links. */
export async function pageMarkdown({ data, url }: DocsPage, words: (text: string) => string): Promise<string> {
  const body = (await data.getText("processed")).trim();
  const text = `# ${data.title}\n\n> ${data.description}\n\nPage: ${SAMPLE_BASE}${url}\n\n${body}\n`;
  return words(absolute(text));
}

/** What it is, as llmstxt.org wants it at the top. */
const ABOUT =
  "Market data for forex and metals that you host yourself: quotes, snapshots, klines and calendar-aware market status over REST, streams and MCP.";

/** The list of all pages, each with its sentence, for readers that are programs: their links lead to the Markdown. */
export function docsIndex(words: (text: string) => string): string {
  const index = absolute(
    llms(docs)
      .index()
      .replace(/^# .*\n/, ""),
    ".md",
  );
  const documents = DOCUMENTS.map(([path, name, about]) => `- [${name}](${SAMPLE_BASE}${path}): ${about}`).join("\n");
  return words(`# Spotwire\n\n> ${ABOUT}\n${index}\n\n## Documents for programs\n\n${documents}\n`);
}

/** All pages in one text. */
export async function docsFullText(words: (text: string) => string): Promise<string> {
  const texts = await Promise.all(docs.getPages().map((page) => pageMarkdown(page, words)));
  return texts.join("\n---\n\n");
}
