import { docsHere } from "#app/docs-here";
import { markdownResponse } from "#app/markdown-response";
import { readerWords } from "#app/reader-address";
import { docsIndex } from "#lib/docs/page-text";

/** The list of all docs pages, for language models (llmstxt.org). */
export async function GET(): Promise<Response> {
  return markdownResponse(docsIndex(docsHere(), await readerWords()));
}
