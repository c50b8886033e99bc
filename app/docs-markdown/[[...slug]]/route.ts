import { docsHere } from "#app/docs-here";
import { markdownResponse } from "#app/markdown-response";
import { readerWords } from "#app/reader-address";
import { pageMarkdown } from "#lib/docs/page-text";

interface Context {
  readonly params: Promise<{ readonly slug?: string[] }>;
}

/** A page of the docs as Markdown, served at `/docs/….md`. */
export async function GET(_request: Request, { params }: Context): Promise<Response> {
  const docs = docsHere();
  const page = docs.page((await params).slug);
  if (page === undefined) return new Response("There is no such page. /llms.txt lists them all.\n", { status: 404 });
  return markdownResponse(await pageMarkdown(page, docs, await readerWords()));
}
