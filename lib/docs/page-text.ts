import { llms } from "fumadocs-core/source";
import { SAMPLE_BASE } from "./sample-words";
import { type DocsPage, docs } from "./source";

const OWN_LINK = /\]\((\/[^)]*)\)/g;

/** A page as Markdown. `words` puts the address and the key of the reader into its samples and links. */
export async function pageMarkdown({ data, url }: DocsPage, words: (text: string) => string): Promise<string> {
  const body = (await data.getText("processed")).trim();
  const text = `# ${data.title}\n\n> ${data.description}\n\nPage: ${SAMPLE_BASE}${url}\n\n${body}\n`;
  return words(text.replace(OWN_LINK, `](${SAMPLE_BASE}$1)`));
}

/** The list of all pages, each with its sentence, for readers that are programs: their links lead to the Markdown. */
export function docsIndex(words: (text: string) => string): string {
  return words(`${llms(docs).index().replace(OWN_LINK, `](${SAMPLE_BASE}$1.md)`)}\n`);
}

/** All pages in one text. */
export async function docsFullText(words: (text: string) => string): Promise<string> {
  const texts = await Promise.all(docs.getPages().map((page) => pageMarkdown(page, words)));
  return texts.join("\n---\n\n");
}
