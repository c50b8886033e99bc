import { searchIndex } from "#lib/docs/search-index";

/** Made once, when the pages are built. */
export const dynamic = "force-static";

/** What the search in the browser looks through. */
export const GET = (): Promise<Response> => searchIndex();
