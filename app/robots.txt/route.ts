import { readerAddress } from "#app/reader-address";
import { otherMethods } from "#server/pages/methods";

/** Pages of signed-in readers, and addresses that only programs call. */
const PRIVATE = ["/connect", "/dashboard", "/admin", "/outbox", "/api/", "/metrics"];

/** What search engines may read, and where the list of pages is. */
export async function GET(): Promise<Response> {
  const rules = [
    "User-agent: *",
    ...PRIVATE.map((path) => `Disallow: ${path}`),
    "",
    `Sitemap: ${await readerAddress()}/sitemap.xml`,
  ];
  return new Response(`${rules.join("\n")}\n`, {
    // It contains the requested host, so shared caches must not keep it.
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "private, no-cache" },
  });
}

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
