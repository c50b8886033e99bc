import { readFile } from "node:fs/promises";
import path from "node:path";
import { heldTag, tagOf } from "#lib/content-encoding";
import { CLIENT_FOLDER, CLIENT_PACKAGE } from "#lib/docs/client-names";

/** Names of files of the Python client: nothing that leaves the folder. */
const PYTHON_FILE = /^spotwire_client-\d+\.\d+\.\d+(?:-py3-none-any\.whl|\.tar\.gz)$/;
const TYPES: readonly (readonly [ending: string, type: string])[] = [
  [".whl", "application/zip"],
  ["gz", "application/gzip"],
];

/** The response that a package manager installs a client from; 304 when the reader's copy is current, else 404 without the file. */
async function packageFile(request: Request, file: string, missing: string): Promise<Response> {
  const bytes = await readFile(file).catch(() => undefined);
  if (bytes === undefined) return new Response(missing, { status: 404 });
  const etag = tagOf(bytes);
  // Revalidated each time: the next release of the service has another client at the same address.
  const headers = { etag, "cache-control": "public, no-cache", "access-control-allow-origin": "*" };
  const isHeld = heldTag(etag, request.headers.get("if-none-match"), null) !== undefined;
  if (isHeld) return new Response(null, { status: 304, headers });
  const name = path.basename(file);
  return new Response(new Uint8Array(bytes), {
    headers: {
      ...headers,
      "content-type": TYPES.find(([ending]) => name.endsWith(ending))?.[1] ?? "application/gzip",
      "content-disposition": `attachment; filename="${name}"`,
      "content-length": String(bytes.byteLength),
    },
  });
}

/** The typed client for npm; 404 where the pages were never built, as in development. */
export function clientPackage(request: Request, folder = CLIENT_FOLDER): Promise<Response> {
  return packageFile(request, path.join(folder, CLIENT_PACKAGE), "Run `npm run build` first.\n");
}

/** The Python client as a wheel or its sources; 404 for the files of another release. */
export async function pythonPackage(request: Request, name: string, folder = CLIENT_FOLDER): Promise<Response> {
  const missing = "This service has another version of the Python client; see /docs/python.\n";
  if (!PYTHON_FILE.test(name)) return new Response(missing, { status: 404 });
  return packageFile(request, path.join(folder, name), missing);
}
