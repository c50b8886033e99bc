import { docsHere } from "#app/docs-here";
import { markdownResponse } from "#app/markdown-response";
import { readerWords } from "#app/reader-address";
import { docsFullText } from "#lib/docs/page-text";

/** The complete docs in one text. */
export async function GET(): Promise<Response> {
  return markdownResponse(await docsFullText(docsHere(), await readerWords()));
}
