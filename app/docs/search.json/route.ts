import { searchIndex } from "#lib/docs/search-index";

/** Made once, when the pages are built. */
export const dynamic = "force-static";

/** What the search in the browser looks through; kept for minutes, since the next version has another under this address. */
export async function GET(): Promise<Response> {
  const { body } = await searchIndex();
  return new Response(body, { headers: { "content-type": "application/json", "cache-control": "public, max-age=300" } });
}
