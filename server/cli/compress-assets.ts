import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { encodeBody } from "#lib/content-encoding";

const COMPRESSIBLE = /\.(?:js|css|json|svg|txt)$/;
/** Smaller files gain nothing. */
const MIN_BYTES = 1_024;
/** The highest ones: it is done once, by the build. */
const LEVELS = { br: 11, gzip: 9 } as const;

/** Writes a `.br` and a `.gz` beside each file of a folder that compresses well. */
export async function compressAssets(folder: string): Promise<void> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile() && COMPRESSIBLE.test(entry.name));
  await Promise.all(
    files.map(async (entry) => {
      const file = path.join(entry.parentPath, entry.name);
      const bytes = await readFile(file);
      if (bytes.byteLength < MIN_BYTES) return;
      const [small, widely] = await Promise.all([encodeBody("br", bytes, LEVELS), encodeBody("gzip", bytes, LEVELS)]);
      await Promise.all([writeFile(`${file}.br`, small), writeFile(`${file}.gz`, widely)]);
    }),
  );
}
