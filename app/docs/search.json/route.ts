import { searchIndex } from "#lib/docs/search-index";

/** Generated once, when the pages are built. */
export const dynamic = "force-static";

/** The search index for the browser; cached for minutes only, because the next version has another one at the same URL. */
export async function GET(): Promise<Response> {
  const { body } = await searchIndex();
  return new Response(body, { headers: { "content-type": "application/json", "cache-control": "public, max-age=300" } });
}
