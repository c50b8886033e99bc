import { brandHere } from "#app/brand";
import { docsHere } from "#app/docs-here";
import { brandWords } from "#lib/brand";
import { searchIndex } from "#lib/docs/search-index";

/** Made on the first request: the name of the service is not known when the pages are built. */
let index: Promise<string> | undefined;

/** The search index for the browser; cached for minutes only, because the next version has another one at the same URL. */
export async function GET(): Promise<Response> {
  index ??= searchIndex(docsHere(), brandWords(brandHere())).then((response) => response.text());
  return new Response(await index, { headers: { "content-type": "application/json", "cache-control": "public, max-age=300" } });
}
