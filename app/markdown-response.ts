/** An answer in Markdown. It names the address it was asked under, so it is not for shared caches. */
export function markdownResponse(text: string): Response {
  return new Response(text, {
    headers: { "content-type": "text/markdown; charset=utf-8", "cache-control": "private, no-cache" },
  });
}
