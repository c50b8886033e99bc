import { readFile } from "node:fs/promises";
import path from "node:path";

/** The text, made by the build; relative to the working directory. */
export const LICENCES_FILE = path.join(".next", "spotwire", "licences.txt");
const KEPT_S = 3_600;

/** The licence of the program and those of its packages as plain text; 404 where the pages were never built. */
export async function licences(file = LICENCES_FILE): Promise<Response> {
  // Without the comment, the build takes the whole project for a part of this page.
  const bytes = await readFile(/* turbopackIgnore: true */ file).catch(() => undefined);
  if (bytes === undefined) return new Response("The licences are written by the build.\n", { status: 404 });
  const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": `public, max-age=${KEPT_S}` };
  return new Response(new Uint8Array(bytes), { headers });
}
