/** A Markdown response. It contains the requested host, so shared caches must not keep it. */
export function markdownResponse(text: string): Response {
  return new Response(text, {
    headers: { "content-type": "text/markdown; charset=utf-8", "cache-control": "private, no-cache" },
  });
}
