import { readFile } from "node:fs/promises";
import path from "node:path";

/** Pictures of the guides; relative to the working directory. */
const FOLDER = path.join("lib", "docs", "pictures");
/** Nothing that leaves the folder, and nothing else in it. */
const NAME = /^[a-z-]+\.png$/;
/** How long a browser keeps one, in seconds. */
const KEPT_S = 3_600;

/** The response with a picture of a guide; 404 for any other name. */
export async function docsPicture(name: string): Promise<Response> {
  const bytes = NAME.test(name) ? await readFile(path.join(FOLDER, name)).catch(() => undefined) : undefined;
  if (bytes === undefined) return new Response("There is no such picture.\n", { status: 404 });
  return new Response(new Uint8Array(bytes), {
    headers: {
      "content-type": "image/png",
      "cache-control": `public, max-age=${KEPT_S}`,
      "content-length": String(bytes.byteLength),
    },
  });
}
