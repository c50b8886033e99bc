import type { IncomingMessage, ServerResponse } from "node:http";
import sirv from "sirv";

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

const ASSETS_PATH = "/_next/static";
/** A year: the name of a built file changes with its content. */
const MAX_AGE_S = 31_536_000;

interface AssetOptions {
  /** Where the build put scripts, styles and fonts, with their compressed copies. */
  folder: string;
  /** Answers everything else, and names that the build did not make. */
  pages: Listener;
}

/**
 * Serves the built files of the pages as they are on disk, compressed once by the build. Behind Next each request is compressed
 * again, which costs more than rendering a page.
 */
export function serveAssets({ folder, pages }: AssetOptions): Listener {
  const files = sirv(folder, {
    brotli: true,
    gzip: true,
    etag: true,
    immutable: true,
    maxAge: MAX_AGE_S,
    setHeaders: (response) => response.setHeader("x-content-type-options", "nosniff"),
  });
  return (request, response) => {
    const { method, url = "/" } = request;
    if (!url.startsWith(`${ASSETS_PATH}/`) || (method !== "GET" && method !== "HEAD")) return pages(request, response);
    request.url = url.slice(ASSETS_PATH.length);
    files(request, response, () => {
      request.url = url;
      pages(request, response);
    });
  };
}
