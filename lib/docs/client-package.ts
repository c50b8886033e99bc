import { readFile } from "node:fs/promises";
import path from "node:path";
import { heldTag, tagOf } from "#lib/content-encoding";

/** The typed client as a package, made by the build; relative to the working directory. */
export const CLIENT_PACKAGE = path.join(".next", "spotwire", "spotwire-client.tgz");

/**
 * The response that npm installs the typed client from; 304 when the reader's copy is current, 404 where the pages were never
 * built, as in development.
 */
export async function clientPackage(request: Request, file = CLIENT_PACKAGE): Promise<Response> {
  const bytes = await readFile(file).catch(() => undefined);
  if (bytes === undefined) return new Response("Run `npm run build` first.\n", { status: 404 });
  const etag = tagOf(bytes);
  // Revalidated each time: the next release of the service has another client at the same address.
  const headers = { etag, "cache-control": "public, no-cache", "access-control-allow-origin": "*" };
  const isHeld = heldTag(etag, request.headers.get("if-none-match"), null) !== undefined;
  if (isHeld) return new Response(null, { status: 304, headers });
  return new Response(new Uint8Array(bytes), {
    headers: {
      ...headers,
      "content-type": "application/gzip",
      "content-disposition": 'attachment; filename="spotwire-client.tgz"',
      "content-length": String(bytes.byteLength),
    },
  });
}
